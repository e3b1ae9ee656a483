"""Loads API models: the shipped ones, and the user's files over them.

Reserved top-level keys of a model file; every other key is a function:

- ``language``: ``cuda``, ``python`` or ``both`` (the default).
- ``prefix``: what stands before every function's name (``cupy.``); methods excepted.
- ``defaults``: ``status``, ``success`` and ``may_throw`` of every function of the file.
- ``alike``: tables with a key ``names``: functions that share everything else.
- ``plain``: names of functions that have the defaults and nothing else.
- ``aliases``: names that do what another does: of a function, or of a module or namespace (both
  sides end in ``.`` or ``::``).
- ``calm``: how the names of functions and classes begin that wait for no device and no thread.
- ``waits``: names that, in one of those, say that it does wait.
- ``pageable``: class templates whose memory is on the host, and not page-locked.
- ``exceptions``: classes of exceptions, with what each derives from (Python).
- ``raises``: what functions raise whose names begin so, besides what bad arguments raise (Python).
- ``families``: kinds of resources.
- ``constants``: what enumerators are worth (``cudaSuccess``), by the last part of their names.
- ``borrows``: functions that only borrow what they are given by value, whatever else they do; a
  name that ends in ``*``, ``.`` or ``::`` stands for all that begin so.
- ``attributes``: attributes of arrays (Python).
- ``tensors``: what functions do to tensors and gradients, by behaviour (Python).
- ``hooks``: methods that frameworks call (Python).
- ``tests``: how the functions of test frameworks are recognised.
- ``lifetimes``: what functions do that decides how long device memory is held.
- ``kernels``: how kernels are made, launched and their limits raised (Python).

Functions are named as ``Call.name`` is. ``".close"`` is a method of any receiver,
``".close@stream"`` of one that holds a ``stream``. When nothing else fits, ``"cublas*"`` is any
function whose name begins so, and ``"*.check_status"`` any whose last name is that; these are
guesses (``ApiFunction.guess``), except within a library's own module (``math.*``).
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Container, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from cudalint.apis.model import (
    HOOK_KINDS,
    ApiFunction,
    AttributeModel,
    Family,
    HookModel,
    KernelModel,
    LifetimeEffect,
    ModelFile,
    TensorEffect,
    TestModel,
)
from cudalint.apis.validation import (
    RECEIVERS,
    ModelError,
    nearest,
    nearest_key,
    problems,
    table_problems,
)

Language = Literal["cuda", "python"]
Decoded = TypeVar("Decoded")


class Library(NamedTuple):
    """A shipped file, and how the names in it begin: it is read when one is looked up."""

    filename: str
    pattern: str = ""


LIBRARIES: dict[Language, tuple[Library, ...]] = {
    "cuda": (
        Library("cuda_runtime.toml", r"cuda[A-Z]"),
        Library("cuda_driver.toml", r"cu[A-Z]"),
        Library("cuda_math.toml", r"cu(blas|fft|rand|solver|sparse|tensor)[A-Z]"),
        Library(
            "cuda_libraries.toml", r"cudnn[A-Z]|nccl[A-Z]|nv[a-zA-Z]|npp[is][A-Z]|rmm[A-Z]|RMM_"
        ),
        Library("hip.toml", r"hip|roc(blas|fft|rand|sparse)_|miopen[A-Z]"),
        Library("cpp.toml"),
        Library("lifetimes.toml"),
    ),
    "python": (
        Library("python_stdlib.toml"),
        Library("python_arrays.toml"),
        Library("python_array_methods.toml"),
        Library("python_lifetimes.toml"),
        Library("python_kernels.toml"),
        Library("python_cuda_runtime.toml", r"cuda\.(bindings\.(cy)?runtime|c?cudart)\."),
        Library("python_cuda_driver.toml", r"cuda\.(bindings\.(cy)?driver|c?cuda)\."),
        Library(
            "python_cuda_compilers.toml",
            r"cuda\.(bindings\.(cy)?nv(rtc|jitlink|vm|fatbin)|c?nvrtc)\.|nvmath\.|skcuda\.|nvcc4",
        ),
        Library("python_cuda_core.toml", r"cuda\.core\."),
        Library("python_cupy.toml", r"cupyx?(_backends)?\."),
        Library("python_cupy_math.toml", r"cupyx?(_backends)?\."),
        Library("python_numpy.toml", r"numpy\."),
        Library("python_numba.toml", r"numba(_cuda)?\."),
        Library("python_pycuda.toml", r"pycuda\."),
        Library("python_torch.toml", r"torch\."),
        Library("python_torch_math.toml", r"torch\."),
        Library("python_rapids.toml", r"rmm\.|cudf\.|pandas\."),
        Library("python_jax.toml", r"jax\."),
    ),
}

_UNKNOWN = re.compile(r"unknown field `(\w+)`(?: - at `\$((?:\.\w+|\[\.*\d*\])*)`)?")
RESERVED = frozenset(
    {
        "language",
        "prefix",
        "defaults",
        "plain",
        "aliases",
        "families",
        "constants",
        "borrows",
        "calm",
        "waits",
        "pageable",
        "exceptions",
        "raises",
        "attributes",
        "alike",
        "tensors",
        "hooks",
        "tests",
        "lifetimes",
        "kernels",
    }
)
_DEFAULTS = frozenset({"status", "success", "may_throw"})
_INLINE_NAMESPACE = re.compile(r"\b(?:__\w+|_V\d+|(?:THRUST|CUB|_CCCL)_\w+|_ABI_\w+)::")
_VERSION = re.compile(r"(?:_v\d+(?:_ptds|_ptsz)?|_ptds|_ptsz|_spt|_64)$")
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+|\[\]")


class ApiModels:
    """What is known of every API function of one language."""

    def __init__(
        self,
        language: Language,
        libraries: tuple[Library, ...],
        user_files: tuple[ModelFile, ...] = (),
    ) -> None:
        self.language = language
        self.families: dict[str, Family] = dict(_shipped("families.toml").families)
        self.constants: dict[str, int] = dict(_shipped("families.toml").constants)
        self._borrowers: set[str] = set()
        self._borrowing: tuple[str, ...] = ()
        """How the names of functions begin that only borrow."""
        self._calm: tuple[str, ...] = ()
        self._waits: tuple[str, ...] = ()
        self.pageable: set[str] = set()
        self._exceptions: dict[str, str] = {}
        self._raises: dict[str, str] = {}
        self.attributes: dict[str, AttributeModel] = {}
        self._tensors: dict[str, TensorEffect] = {}
        self._tensor_beginnings: dict[str, TensorEffect] = {}
        self._hooks: dict[str, HookModel] = {}
        self._tests = dict(_shipped("tests.toml").tests)
        self._kernels: dict[str, KernelModel] = {}
        self._lifetimes: dict[str, LifetimeEffect] = {}
        self._tensor_effects: dict[str, TensorEffect | None] = {}
        self._functions: dict[str, ApiFunction] = {}
        self._aliases: dict[str, str] = {}
        self._methods: dict[str, dict[str | None, ApiFunction]] = {}
        self._beginnings: set[str] = set()
        self._pending = list(libraries)
        self._user: dict[str, ApiFunction] = {}
        self._found: dict[str, ApiFunction | None] = {"": None}
        self._read("")
        for file in user_files:
            self._add(file)
            self._user.update(file.functions)
        self._user_files = user_files

    def lookup(self, name: str) -> ApiFunction | None:
        """The model of a function, by the name that ``Call.name`` holds. A ``.method`` is looked up
        as one of a receiver of unknown kind; an empty name means nothing that is known."""
        try:
            return self._found[name]
        except KeyError:
            found = self._found[name] = self._search(name)
            return found

    def lookup_method(self, name: str, receiver: str | None) -> ApiFunction | None:
        """The model of ``.name`` for a receiver that holds a resource of a family, or an array in a
        memory space."""
        candidates = self._methods.get(name)
        if candidates is None:
            return None
        if receiver in candidates:
            return candidates[receiver]
        if receiver in RECEIVERS and "array" in candidates:
            return candidates["array"]
        return candidates.get(None)

    def raises(self, name: str) -> tuple[str, ...]:
        """The class of the exceptions that a function raises, if it is known."""
        self._read(name)
        plain = self.named(name)
        beginning = max(filter(plain.startswith, self._raises), key=len, default="")
        return (self._raises[beginning],) if beginning else ()

    def exception_base(self, name: str) -> str | None:
        """What a library's class of exceptions derives from."""
        self._read(name)
        return self._exceptions.get(name)

    def tensor_effect(self, name: str) -> TensorEffect | None:
        """What a function, method or attribute (``.data``) does to tensors and gradients."""
        if not name:
            return None
        if name not in self._tensor_effects:
            if not self._tensor_effects:
                # Methods are named by no library: all that speak of tensors are read.
                for library in ("torch.", "cupy.", "jax.", "numpy."):
                    self._read(library)
            self._read(name)
            found = self._tensors.get(name)
            if found is None:
                beginning = max(
                    filter(name.startswith, self._tensor_beginnings), key=len, default=""
                )
                found = self._tensor_beginnings.get(beginning)
            self._tensor_effects[name] = found
        return self._tensor_effects[name]

    def lifetime_effect(self, name: str) -> LifetimeEffect | None:
        """What a function, method, decorator or class has to do with how long memory is held, by
        its name or, as ``json.*``, that of its package."""
        package, dot, _ = name.partition(".")
        return self._lifetimes.get(name) or self._lifetimes.get(f"{package}{dot}*")

    def only_borrows(self, name: str) -> bool:
        """Whether a function without a model of its own neither keeps nor releases what it is
        given by value."""
        return any(
            spelled in self._borrowers or spelled.startswith(self._borrowing)
            for spelled in _spellings(name)
        )

    def asks_device(self, name: str) -> bool:
        """Whether a function tells which device there is, or whether there is one."""
        model = self.lookup(name)
        return model is not None and model.asks_device

    def is_device(self, name: str) -> bool:
        """Whether a function or class makes devices, or an attribute (``.device``) is one."""
        effect = self._lifetimes.get(name)
        return effect is not None and effect.devices

    def never_waits(self, name: str) -> bool:
        """Whether a function or class without a model is one that neither waits itself nor runs
        what might."""
        return name.startswith(self._calm) and not any(waits in name for waits in self._waits)

    def ends_object(self, name: str) -> bool:
        """Whether the language, or a protocol of its library, ends objects by a method of this
        name."""
        effect = self._lifetimes.get("." + name.rpartition(".")[2])
        return effect is not None and effect.ends_object

    def evicts(self, name: str) -> bool:
        """Whether a method takes elements out of its receiver, of whatever class that is."""
        short = "." + name.rpartition("::")[2].rpartition(".")[2]
        effect = self._lifetimes.get(short)
        return effect is not None and effect.evicts

    def kernel_model(self, name: str) -> KernelModel | None:
        """What a function, decorator, method or attribute does with kernels."""
        self._read("")
        return self._kernels.get(name)

    def _all_hooks(self) -> tuple[HookModel, ...]:
        self._read("torch.")
        return tuple(self._hooks.values())

    def hook_kinds(self, bases: Iterable[str], method: str) -> frozenset[str]:
        """How frameworks call a method of a class that derives from some: the lists of
        ``HookModel`` that it stands in."""
        above = tuple(bases)
        return frozenset(
            kind
            for hook in self._all_hooks()
            for kind in HOOK_KINDS
            if method in getattr(hook, kind)
            and any(
                base.startswith(known[:-1]) if known.endswith("*") else base == known
                for known in hook.bases
                for base in above
            )
        )

    def is_test(self, function: str, filename: str, bases: Container[str]) -> bool:
        """Whether a test framework calls a function: by its name, its file's, and the classes that
        its own class derives from."""
        name = function.replace("::", ".").rpartition(".")[2]
        file = filename.rpartition("/")[2]
        return any(
            any(fnmatchcase(name, known) for known in framework.names)
            and framework.language in (None, self.language)
            and (bases or not framework.method)
            and (not framework.bases or any(base in bases for base in framework.bases))
            and (not framework.files or any(fnmatchcase(file, like) for like in framework.files))
            for framework in self._tests.values()
        )

    def names(self) -> frozenset[str]:
        """All names with a model, aliases and methods (``.close@stream``) included. Reads every
        file."""
        self._read(None)
        methods = {
            name if receiver is None else f"{name}@{receiver}"
            for name, receivers in self._methods.items()
            for receiver in receivers
        }
        return frozenset({*self._functions, *self._aliases, *methods})

    def family_of(self, api: str, family: str) -> Family:
        """The family of what ``api`` acquires. Of the functions that release it, those come first
        that look most like it (``hipHostFree`` for ``hipHostMalloc``)."""
        known = self.families[family]
        alike = sorted(known.releases, key=lambda one: _likeness(api, one), reverse=True)
        return msgspec.structs.replace(known, releases=tuple(alike))

    def _search(self, name: str) -> ApiFunction | None:
        if name.startswith("."):
            return self.lookup_method(name, None)
        for candidate in _spellings(name):
            self._read(candidate)
            found = self._functions.get(candidate) or self._through_alias(candidate)
            if found is not None:
                return found
        plain = list(_spellings(name))[-1]
        beginning = max(filter(plain.startswith, self._beginnings), key=len, default=None)
        if beginning is not None:
            found = self._functions[beginning + "*"]
            return _as_guess(found)
        found = self._functions.get("*." + re.split(r"\.|::", plain)[-1])
        return _as_guess(found) if found is not None else None

    def named(self, name: str) -> str:
        """A function or class by the name that models know it by, where it has several."""
        if name in self._aliases:
            return self._aliases[name]
        for prefix, replacement in self._aliases.items():
            if prefix.endswith((".", "::")) and name.startswith(prefix):
                return replacement + name.removeprefix(prefix)
        return name

    def _through_alias(self, name: str) -> ApiFunction | None:
        target = self.named(name)
        return self.lookup(target) if target != name else None

    def _read(self, name: str | None) -> None:
        """Read the shipped files that may hold a name; all of them for ``None``."""
        wanted = [
            library
            for library in self._pending
            if name is None or re.match(library.pattern, name) is not None
        ]
        for library in wanted:
            self._pending.remove(library)
            self._add(_shipped(library.filename))
        if wanted and self._user:
            for file in self._user_files:
                self._add(file)

    def _add(self, file: ModelFile) -> None:
        if file.language not in (self.language, "both"):
            return
        self.families.update(file.families)
        self.constants.update(file.constants)
        self._calm = (*self._calm, *(name.removesuffix("*") for name in file.calm))
        self._waits = (*self._waits, *file.waits)
        self.pageable.update(file.pageable)
        self._exceptions.update(file.exceptions)
        self._raises.update(file.raises)
        for name in file.borrows:
            if name.endswith(("*", ".", "::")):
                self._borrowing = (*self._borrowing, name.removesuffix("*"))
            else:
                self._borrowers.add(name)
        self.attributes.update(file.attributes)
        self._hooks.update(file.hooks)
        self._tests.update(file.tests)
        for way in file.kernels.values():
            self._kernels.update(dict.fromkeys(way.names, way))
        for lasting in file.lifetimes.values():
            self._lifetimes.update(dict.fromkeys(lasting.names, lasting))
        for effect in file.tensors.values():
            for name in effect.names:
                if name.endswith("*"):
                    self._tensor_beginnings[name[:-1]] = effect
                else:
                    self._tensors[name] = effect
        if file.tensors:
            self._tensor_effects.clear()
        self._aliases.update(file.aliases)
        for name, function in file.functions.items():
            if name.startswith("."):
                method = name.partition("@")[0]
                self._methods.setdefault(method, {})[function.receiver] = function
            else:
                self._functions[name] = function
                if name.endswith("*"):
                    self._beginnings.add(name[:-1])


def load(language: Language, user_files: tuple[str, ...] = ()) -> ApiModels:
    """The shipped models of a language with the user's files over them; the same object for the
    same arguments. ``ModelError`` tells what is wrong with a user's file."""
    return _load(language, tuple(str(path) for path in user_files))


@functools.cache
def _load(language: Language, user_files: tuple[str, ...]) -> ApiModels:
    families = dict(_shipped("families.toml").families)
    files = []
    for path in user_files:
        files.append(read_model_file(path, families))
        families.update(files[-1].families)
    return ApiModels(language, LIBRARIES[language], tuple(files))


def read_model_file(path: str, families: dict[str, Family] | None = None) -> ModelFile:
    """Read and check one model file. ``families`` are those known besides its own; by default the
    shipped ones."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(path, "", error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise ModelError(path, "", f"not UTF-8 at byte {error.start}") from None
    file = decode(path, text)
    shipped = _shipped("families.toml").families if families is None else families
    known = {**shipped, **file.families}
    for name, function in file.functions.items():
        for problem in problems(function, known):
            raise ModelError(path, name, problem)
    for table, problem in table_problems(file):
        raise ModelError(path, table, problem)
    return file


@functools.cache
def _shipped(filename: str) -> ModelFile:
    # Tests check the shipped files; here they are only decoded, for speed.
    return decode(filename, Path(__file__).with_name(filename).read_text(encoding="utf-8"))


def decode(path: str, text: str) -> ModelFile:
    """Decode a model file's text; ``ModelError`` names the table and the key at fault."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelError(path, "", str(error)) from None
    language = content.pop("language", "both")
    if language not in ("cuda", "python", "both"):
        raise ModelError(path, "", f"language is `{language}`, not cuda, python or both")
    prefix = _convert(path, "prefix", content.pop("prefix", ""), str)
    defaults = _convert(path, "defaults", content.pop("defaults", {}), dict[str, Any])
    for key in sorted(defaults.keys() - _DEFAULTS):
        raise ModelError(path, "defaults", f"unknown key `{key}`{nearest(key, _DEFAULTS)}")
    plain = _convert(path, "plain", content.pop("plain", []), tuple[str, ...])
    aliases = _convert(path, "aliases", content.pop("aliases", {}), dict[str, str])
    families = _tables(path, "families", content.pop("families", {}), Family)
    attributes = _tables(path, "attributes", content.pop("attributes", {}), AttributeModel)
    tensors = _tables(path, "tensors", content.pop("tensors", {}), TensorEffect)
    hooks = _tables(path, "hooks", content.pop("hooks", {}), HookModel)
    tests = _tables(path, "tests", content.pop("tests", {}), TestModel)
    lifetimes = _tables(path, "lifetimes", content.pop("lifetimes", {}), LifetimeEffect)
    kernels = _tables(path, "kernels", content.pop("kernels", {}), KernelModel)
    constants = _convert(path, "constants", content.pop("constants", {}), dict[str, int])
    borrows = _convert(path, "borrows", content.pop("borrows", []), tuple[str, ...])
    calm = _convert(path, "calm", content.pop("calm", []), tuple[str, ...])
    waits = _convert(path, "waits", content.pop("waits", []), tuple[str, ...])
    pageable = _convert(path, "pageable", content.pop("pageable", []), tuple[str, ...])
    exceptions = _convert(path, "exceptions", content.pop("exceptions", {}), dict[str, str])
    raises = _convert(path, "raises", content.pop("raises", {}), dict[str, str])
    functions: dict[str, ApiFunction] = {}
    if plain:
        function = _convert(path, "defaults", defaults, ApiFunction)
        functions.update((_full_name(prefix, name), function) for name in plain)
    for table in _convert(path, "alike", content.pop("alike", []), list[dict[str, Any]]):
        names = _convert(path, "alike", table.pop("names", []), tuple[str, ...])
        if not names:
            raise ModelError(path, "alike", "it has no `names`: nothing is said of any function")
        for name in names:
            functions[_full_name(prefix, name)] = _function(path, name, table, defaults)
    for name, table in content.items():
        for entry in table if isinstance(table, list) else [table]:
            function = _function(path, name, entry, defaults)
            key = _full_name(prefix, name)
            if key.startswith(".") and function.receiver is not None and "@" not in key:
                key = f"{key}@{function.receiver}"
            functions[key] = function
    return ModelFile(
        path, language, families, functions, aliases, attributes, tensors, hooks, lifetimes,
        kernels, constants, borrows, calm, exceptions, raises, waits, pageable, tests,
    )  # fmt: skip


def _full_name(prefix: str, name: str) -> str:
    return name if name.startswith((".", "*.")) else prefix + name


def _function(path: str, name: str, table: Any, defaults: dict[str, Any]) -> ApiFunction:
    if not isinstance(table, dict):
        hint = nearest(name, RESERVED)
        raise ModelError(path, "", f"`{name}` is neither a table nor a reserved key{hint}")
    # An empty default says that there is none: this one returns no status.
    merged = {key: value for key, value in {**defaults, **table}.items() if value != ""}
    if name.startswith(".") and "@" in name:
        merged.setdefault("receiver", name.partition("@")[2])
    for several in ("acquires", "releases"):
        if isinstance(merged.get(several), dict):
            merged[several] = [merged[several]]
    function = _convert(path, name, merged, ApiFunction)
    acquires = function.acquires
    # The status of the call and that of what it acquires are one.
    status = function.status or next((item.status for item in acquires if item.status), None)
    if status is not None:
        acquires = tuple(
            item
            if item.status is not None or item.null_on_failure
            else msgspec.structs.replace(item, status=status)
            for item in acquires
        )
    return msgspec.structs.replace(function, acquires=acquires, status=status)


def _tables(path: str, group: str, value: Any, kind: type[Decoded]) -> dict[str, Decoded]:
    tables = _convert(path, group, value, dict[str, Any])
    return {name: _convert(path, f"{group}.{name}", table, kind) for name, table in tables.items()}


def _convert(path: str, table: str, value: Any, kind: type[Decoded]) -> Decoded:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message = str(error).replace(" - at `$`", "").replace("`$.", "`")
        unknown = re.search(
            r"unknown field `(\w+)`(?: - at `\$((?:\.\w+|\[\.*\d*\])*)`)?", str(error)
        )
        hint = nearest_key(unknown[1], kind, unknown[2] or "") if unknown else ""
        raise ModelError(path, table, message + hint) from None


def _as_guess(function: ApiFunction) -> ApiFunction:
    return msgspec.structs.replace(function, guess=True)


def _spellings(name: str) -> Iterator[str]:
    """A name as models may spell it, nearest first."""
    yield name
    plain = _INLINE_NAMESPACE.sub("", _without_templates(name)).removeprefix("::")
    if plain != name:
        yield plain
    unversioned = _VERSION.sub("", plain)
    if unversioned != plain:
        yield unversioned


@functools.cache
def _without_templates(name: str) -> str:
    """``thrust::copy<int*, float*>`` without its arguments; operators keep their signs."""
    if "<" not in name or "operator" in name:
        return name
    kept, depth = [], 0
    for character in name:
        depth += character == "<"
        if depth == 0:
            kept.append(character)
        depth -= character == ">" and depth > 0
    return "".join(kept)


def _likeness(api: str, release: str) -> tuple[int, int, int]:
    """How alike two names are: the modules they share, then the letters they begin with, then the
    words they end in."""
    if "." not in release:
        api = api.rpartition(".")[2]
    start = _shared(api, release)
    words = (_WORD.findall(name)[::-1] for name in (api, release))
    return api.count(".", 0, start), start, _shared(*words)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How much two sequences have in common at the beginning."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
