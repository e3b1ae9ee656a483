"""Dotted names: of modules, of imports, and of what Python itself brings."""

from __future__ import annotations

import builtins
import functools
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("__"))

SAFE_BUILTINS = _words(
    "print len range isinstance issubclass enumerate zip list tuple dict set frozenset bool repr "
    "str id type callable hasattr map filter reversed object super vars dir locals globals bytes "
    "bytearray slice staticmethod classmethod property any all abs min max sum round sorted hash "
    "format hex bin oct chr ord iter divmod"
)
"""Builtins that do not raise on the arguments that programs give them."""

EXCEPTIONS = frozenset(
    name
    for name in BUILTINS
    if isinstance(kind := getattr(builtins, name), type) and issubclass(kind, BaseException)
)

CONTAINER_METHODS = _words(
    "append add clear copy extend get insert items keys values setdefault update discard reverse "
    "appendleft extendleft format join split strip startswith endswith lower upper replace count"
)
"""Methods of lists, dictionaries, sets and strings that do not raise."""

LOG_METHODS = _words("debug info warning warn error exception critical log")

NORETURN = _words(
    "sys.exit os._exit os.abort builtins.exit builtins.quit pytest.exit pytest.skip pytest.fail "
    "posix._exit"
)

_LIBRARIES = _words(
    "numpy scipy pandas matplotlib torch torchvision torchaudio cupy cupyx numba pycuda cuda rmm "
    "cudf cuml cugraph jax jaxlib flax triton tensorflow tensorrt keras lightning transformers "
    "accelerate datasets pytest nvtx pynvml sklearn PIL cv2 tqdm yaml requests click setuptools "
    "mpi4py dask ray xgboost einops wandb skcuda nvmath"
)
"""Packages that are never the linted project's own, unless they are it (see ``ModuleName``)."""


@dataclass(frozen=True)
class ModuleName:
    """The dotted name of a file's module, and whether it is a package's ``__init__``."""

    name: str
    is_package: bool = False
    folders: str = ""
    """The start of the name that are folders around a file of no package, a dot behind each."""

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    def absolute(self, module: str, level: int) -> str | None:
        """The absolute name of ``from <dots><module> import``: empty for the folder of a script,
        ``None`` beyond the top."""
        if level == 0:
            return module
        parts = self.package.split(".") if self.package else []
        if level - 1 > len(parts):
            return module or None
        parts = parts[: len(parts) - (level - 1)]
        if module:
            parts.append(module)
        return ".".join(parts)

    def is_project(self, dotted: str) -> bool:
        """Whether an absolute name can be one of the linted project's own modules."""
        if self.folders and dotted.startswith(self.folders):
            return True
        top = dotted.partition(".")[0]
        if top == self.name.removeprefix(self.folders).partition(".")[0]:
            return True
        return bool(top) and top not in sys.stdlib_module_names and top not in _LIBRARIES


@functools.lru_cache(maxsize=4096)
def _is_package(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "__init__.py"))  # noqa: PTH113, PTH118 - hot


@functools.lru_cache(maxsize=4096)
def _is_project(folder: str) -> bool:
    names = ("pyproject.toml", "setup.py", ".git")
    return any(os.path.exists(os.path.join(folder, name)) for name in names)  # noqa: PTH110, PTH118


def module_name(filename: str) -> ModuleName:
    """The module of a file: its path below the nearest folder that has no ``__init__.py``; of one
    in no package its path below the working directory."""
    path = Path(filename)
    is_package = path.stem == "__init__"
    # `tool.py` and `tool.ipynb` are two modules; nobody imports the second.
    stem = f"{path.stem}[notebook]" if path.suffix == ".ipynb" else path.stem
    parts = [] if is_package else [stem]
    folder = path.parent.absolute()
    while folder.name and _is_package(str(folder)):
        parts.insert(0, folder.name)
        folder = folder.parent
    if not parts:
        parts = [path.parent.name or "__init__"]
    top = Path.cwd()
    loose = len(parts) == 1 and not is_package and folder.is_relative_to(top)
    folders = "".join(f"{one}." for one in folder.relative_to(top).parts) if loose else ""
    return ModuleName(folders + ".".join(parts), is_package, folders)


def module_file(dotted: str, filename: str) -> str | None:
    """The project's file that an absolute dotted name (of a module, or of something in one) comes
    from; relative below the working directory. ``None`` if there is none beside this file, or
    beside a folder around it."""
    found = _found(dotted, filename)
    if found is None:
        return None
    relative = os.path.relpath(found[0])
    return found[0] if relative.startswith("..") else relative


def own_name(dotted: str, filename: str) -> tuple[str, str] | None:
    """The start of an absolute dotted name that is a module of the project, and the name of that
    module: it is longer where folders around it are no packages."""
    found = _found(dotted, filename)
    if found is None:
        return None
    path, parts = found
    return ".".join(dotted.split(".")[:parts]), module_name(path).name


def _found(dotted: str, filename: str) -> tuple[str, int] | None:
    """The file of a module, and how many parts of a dotted name it takes."""
    names = dotted.split(".")
    for root in _roots(filename):
        for parts in range(len(names), 0, -1):
            base = os.path.join(root, *names[:parts])  # noqa: PTH118 - hot
            for candidate in (f"{base}.py", os.path.join(base, "__init__.py")):  # noqa: PTH118
                if os.path.isfile(candidate):  # noqa: PTH113
                    return candidate, parts
    return None


def _roots(filename: str) -> Iterator[Path]:
    """Where Python may look for the modules that a file imports: beside its package, as it does
    for a script, and in the folders around that up to the project's or the working directory."""
    root, top = Path(filename).absolute().parent, Path.cwd()
    while root.name and _is_package(str(root)):
        root = root.parent
    yield root
    while root != top and root.is_relative_to(top) and not _is_project(str(root)):
        root = root.parent
        yield root
