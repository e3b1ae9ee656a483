"""PyTorch's compiler is left out: it takes seconds to import, and optimizers ask for little."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import torch

from _cudalint_frameworks import recorder

_NAME = "torch._dynamo"


class _Compiler(ModuleType):
    """Stands for ``torch._dynamo`` until somebody asks for more than is here."""

    @staticmethod
    def disable(function: Any = None, recursive: bool = True, **named: Any) -> Any:
        """Nothing is compiled anyway."""
        return (lambda one: one) if function is None else function

    @staticmethod
    def graph_break(*arguments: Any, **named: Any) -> None:
        """There is no graph."""

    @staticmethod
    def is_compiling() -> bool:
        """Never."""
        return False

    def __getattr__(self, name: str) -> Any:
        if name in ("__spec__", "__file__", "__loader__"):
            raise AttributeError(name)
        if sys.modules.get(_NAME) is self:
            del sys.modules[_NAME]
        return getattr(importlib.import_module(_NAME), name)


def install() -> None:
    """Functions run as they are written."""
    if _NAME not in sys.modules:
        sys.modules[_NAME] = torch._dynamo = _Compiler(_NAME)

    def compile_(model: Any = None, **named: Any) -> Any:
        recorder.note("torch.compile is left out: functions run as they are written")
        return (lambda function: function) if model is None else model

    torch.compile = compile_
