"""Tells the ledger what a script's modules still hold when it ends: that is kept, not lost."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from typing import Any

from _cudalint_kept import addresses


def tell(script: Mapping[str, Any]) -> None:
    """``script`` are the globals of the script."""
    simulated = sys.modules.get("_cudalint_simulated.library")
    if simulated is None:
        return
    for address in addresses(script):
        simulated.ledger.cudalint_keep(ctypes.c_void_p(address))
