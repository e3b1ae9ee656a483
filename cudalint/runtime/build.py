"""Builds a target: a CUDA or C++ source, or a folder of them, into an executable that is linked
against the ledger in place of the CUDA runtime. The same executable serves the simulated device
and a real one: the environment decides what the ledger is."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cudalint.frontends.cuda.flags import meant_standard
from cudalint.project.compile_commands import CompileFlags
from cudalint.runtime import libraries
from cudalint.runtime.compiling import Built, Recipe, compile_apart
from cudalint.runtime.device_linking import (
    RELOCATABLE,
    asks_for_linking,
    calls_other_files,
    without_linking,
)
from cudalint.runtime.ledger import build_ledger
from cudalint.runtime.processes import ProcessLimits
from cudalint.runtime.toolkit import Nvcc, ToolkitError, cuda_include, find_compiler, find_nvcc

SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c++", ".c")
_DEVICE_CODE = re.compile(rb"<<<|\b__global__\b|\b__device__\b|\b__constant__\b|\b__managed__\b")
_LIMITS = ProcessLimits(seconds=300.0)


class BuildError(RuntimeError):
    """A target that cannot be built: the reason in one line, and what the compiler printed."""

    def __init__(self, reason: str, output: str = "", broken: Sequence[Path] = ()) -> None:
        """``broken``: the sources that the compiler did not take; none where it is the linker."""
        super().__init__(reason)
        self.reason = reason
        self.output = output
        self.broken = tuple(broken)


@dataclass(frozen=True)
class Executable:
    """A target that was built."""

    path: Path
    sources: tuple[Path, ...]
    command: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class BuildOptions:
    """How to build."""

    target: str = "sm_90"
    """The compute capability of the device that will run it."""
    flags: CompileFlags = field(default_factory=CompileFlags)
    """What a compile database says of it."""
    arguments: tuple[str, ...] = ()
    """For the compiler, as they are: ``-lm``."""
    machine_code: bool = False
    """Also compile kernels for the target, as a real build does: slower, and the compiler refuses
    what the device cannot hold. PTX alone is enough for the simulated device."""
    optimize: bool = False
    """Without it, lines are exact and building is quicker."""
    limits: ProcessLimits = _LIMITS
    incomplete: bool = False
    """Link it although functions are missing: whoever calls one of these crashes."""
    nvcc: bool = False
    """Build with nvcc although no source has device code: a header may hold some. Else nvcc is the
    second choice for such sources: the host's compiler takes a third of its time."""

    relocatable: bool = False
    """Link device code, as ``-rdc=true`` does. It is linked as well where the flags or the
    arguments say so, and where kernels call functions of other files."""

    older_members: bool = False
    """Give ``cudaDeviceProp`` what CUDA 13 removed from it."""


def links_anyway(command: Sequence[str]) -> bool:
    """Whether a command links what functions are missing in."""
    return _LINK_ANYWAY[1] in command


def sources_of(target: Path) -> tuple[Path, ...]:
    """The sources of a target: itself, or those in a folder."""
    if target.is_dir():
        return tuple(sorted(p for p in target.iterdir() if p.suffix.lower() in SOURCES))
    return (target,)


def build(
    target: Path | Sequence[Path],
    folder: Path,
    options: BuildOptions | None = None,
    objects: Path | None = None,
) -> Executable:
    """Build into ``folder``. ``BuildError`` says why it is not possible. ``objects``: a folder that
    keeps object files for the builds that follow, as long as no header changes; then the sources
    that come after a broken one are compiled too."""
    options = options or BuildOptions()
    sources = sources_of(target) if isinstance(target, Path) else tuple(target)
    if not sources:
        raise BuildError(f"{target}: no source in it")
    sources = tuple(source.absolute() for source in sources)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        nvcc = find_nvcc()
        library = build_ledger(cuda_include(nvcc))
    except ToolkitError as error:
        raise BuildError(str(error)) from error
    asked = options.flags.relocatable or asks_for_linking(options.arguments)
    options = dataclasses.replace(
        options,
        relocatable=options.relocatable or asked,
        arguments=without_linking(options.arguments),
    )
    try:
        whole = _built(sources, folder, library, nvcc, options, objects)
    except BuildError as error:
        # What the simulated device is to show, CUDA's assembler and linker may refuse.
        if options.relocatable and any(tool in error.output for tool in ("ptxas", "nvlink")):
            with contextlib.suppress(BuildError):
                options = dataclasses.replace(options, relocatable=False)
                return _built(sources, folder, library, nvcc, options, objects)
        raise
    if RELOCATABLE in whole.command or not _is_cuda(sources) or not calls_other_files(whole.path):
        return whole
    with contextlib.suppress(BuildError):  # no source defines what is called
        options = dataclasses.replace(options, relocatable=True)
        linked = folder / "linked"
        linked.mkdir(exist_ok=True)
        return _built(sources, linked, library, nvcc, options, objects)
    return whole


def _built(
    sources: tuple[Path, ...],
    folder: Path,
    library: Path,
    nvcc: Nvcc | None,
    options: BuildOptions,
    objects: Path | None,
) -> Executable:
    executable = folder / "target"
    start = time.monotonic()
    done = Built("")
    for _ in range(_ATTEMPTS):
        try:
            recipe = _recipe(sources, library, nvcc, options)
        except ToolkitError as error:
            raise BuildError(str(error)) from error
        try:
            done = compile_apart(
                recipe, executable, objects or folder / "objects", options.limits,
                every=objects is not None,
            )  # fmt: skip
        except OSError as error:
            raise BuildError(f"{recipe.compiler[0]}: {error.strerror or error}") from error
        if done.timed_out:
            reason = f"the compiler took more than {options.limits.seconds:.0f} s"
            raise BuildError(reason, done.output, done.broken)
        if executable.is_file():
            command = (*recipe.command, "-o", str(executable))
            return Executable(executable, sources, command, time.monotonic() - start)
        changed = _mended(options, done.output, sources, folder)
        if changed is None and nvcc is not None and not options.nvcc and _is_cuda(sources):
            changed = dataclasses.replace(options, nvcc=True)
        if changed is None:
            break
        options = changed
    raise BuildError(_first_error(done.output), done.output, done.broken)


_ATTEMPTS = 6
_OF_COMPILERS = frozenset({"_OPENACC", "_OPENMP"})
"""What compilers say of themselves: code that counts on it needs such a one, not the word alone."""
_MISSING = "undefined reference to"
_NOT_LINKED = (
    "requires separate compilation mode", "Unresolved extern function",
    "error: calling a __host__ function(",  # what is for both only where device code is linked
)  # fmt: skip
_NO_MEMBER = re.compile(r"\bcudaDeviceProp\W has no member")
_LINK_ANYWAY = (
    "-Xlinker", "--unresolved-symbols=ignore-all",
    "-Xlinker", "-z", "-Xlinker", "now",  # else the loader wants to know where the missing ones are
)  # fmt: skip
_SEEN = "--device-entity-has-hidden-visibility=false"
"""For nvcc 13 and later: a linker that ignores missing functions still wants hidden ones, and
kernels are."""


def _mended(
    options: BuildOptions, output: str, sources: tuple[Path, ...], folder: Path
) -> BuildOptions | None:
    """The options that give the linker what it asked for; ``None`` where nothing can be done."""
    arguments = list(options.arguments)
    names = libraries.undefined_functions(output)
    if names:
        if options.machine_code:
            arguments += libraries.link_arguments(names)
        else:
            stand_in = folder / "libraries.cpp"
            texts = [source.read_text("utf-8", "replace") for source in sources]
            earlier = libraries.generated_functions(
                stand_in.read_text("utf-8") if stand_in.exists() else ""
            )
            if str(stand_in) not in arguments:
                arguments.append(str(stand_in))
                earlier = []
            stand_in.write_text(libraries.generate({*names, *earlier}, texts))
            if not names - set(earlier):
                return None
            return dataclasses.replace(options, arguments=tuple(arguments))
    if "undefined reference to `omp_" in output or "undefined reference to `GOMP_" in output:
        arguments += ["-lgomp"]
    if "requires --extended-lambda" in output:  # costs a third more: for those who need it
        arguments.append("--extended-lambda")
    if any(text in output for text in _NOT_LINKED) and not options.relocatable:
        return dataclasses.replace(options, relocatable=True)
    if _NO_MEMBER.search(output) and not options.older_members:
        return dataclasses.replace(options, older_members=True)
    included = options.flags.forced_includes
    headers = [one for one in libraries.undeclared_headers(output) if one not in included]
    if headers:
        flags = dataclasses.replace(options.flags, forced_includes=(*included, *headers))
        return dataclasses.replace(options, flags=flags)
    if tuple(arguments) == options.arguments and options.incomplete and _MISSING in output:
        arguments += [_SEEN] if _LINK_ANYWAY[1] in arguments else _LINK_ANYWAY
    if tuple(arguments) == options.arguments or len(set(arguments)) == len(set(options.arguments)):
        return None
    return dataclasses.replace(options, arguments=tuple(arguments))


def _recipe(
    sources: tuple[Path, ...], library: Path, nvcc: Nvcc | None, options: BuildOptions
) -> Recipe:
    flags = options.flags
    common = ["-g", "-O1" if options.optimize else "-O0"]
    common += [f"-D{one}" for one in flags.defines if one.partition("=")[0] not in _OF_COMPILERS]
    common += [f"-U{define}" for define in flags.undefines]
    common += [f"-I{include}" for include in flags.include_folders]
    for system in flags.system_folders:
        common += ["-isystem", system]
    for forced in flags.forced_includes:
        common += ["-include", forced]
    device_code = [source for source in sources if _has_device_code(source)]
    if nvcc is not None and (device_code or options.nvcc):
        architecture = nvcc.architecture_for(options.target)
        code = f"compute_{architecture}"
        # Device code that is linked needs machine code, and nvcc links none without a runtime; the
        # ledger comes first, so that nothing of that one is needed.
        runtime = ["none"]
        linked = [str(library)]
        relocatable: list[str] = []
        if options.relocatable:
            runtime = ["shared", "-Xlinker", "--as-needed"]
            relocatable = [RELOCATABLE]
            linked = ["-lcudadevrt", str(library)]
        if options.machine_code or options.relocatable:
            code = f"[{code},sm_{architecture}]"
        standard = f"-std={_standard(sources, flags).replace('gnu', 'c')}"
        older: list[str] = []
        if options.older_members:  # before the runtime's header, which nvcc puts before all others
            older = ["-Xcompiler", f"-include,{libraries.OLDER_MEMBERS}"]
        compiler = [
            str(nvcc.path), *common, standard, "-cudart", *runtime, "-w",
            "--expt-relaxed-constexpr",
            # PTX alone: it says what each kernel takes and uses, and ptxas has nothing to do.
            "-gencode", f"arch=compute_{architecture},code={code}", "-no-compress",
            "-Xcompiler", "-fno-omit-frame-pointer", "-Xlinker", f"-rpath={library.parent}",
            "-Xcompiler", f"-idirafter,{libraries.HEADERS}",
            *older, *relocatable,
        ]  # fmt: skip
        return Recipe(tuple(compiler), sources, options.arguments, tuple(linked), languages=False)
    if device_code:
        raise BuildError(
            f"{device_code[0].name} has device code, and there is no nvcc: put one on PATH, set"
            " CUDA_HOME, or pip install 'cudalint[runtime]'"
        )
    include = cuda_include(nvcc)
    if options.older_members:
        common += ["-include", str(libraries.OLDER_MEMBERS)]
    if _is_cuda(sources):
        common += ["-include", "cuda_runtime.h"]  # as nvcc does
    compiler = [
        str(find_compiler()), *common, f"-std={_standard(sources, flags)}", "-w",
        "-fno-omit-frame-pointer", "-isystem", str(include), "-isystem", str(include / "cccl"),
        "-idirafter", str(libraries.HEADERS), "-pthread",
    ]  # fmt: skip
    ledger = (f"-Wl,-rpath,{library.parent}", str(library))
    return Recipe(tuple(compiler), sources, options.arguments, ledger, languages=True)


def _standard(sources: Sequence[Path], flags: CompileFlags) -> str:
    """The project's, else the least that its sources can do with."""
    if flags.standard is not None:
        return flags.standard
    texts = (source.read_text("utf-8", "replace") for source in sources)
    return next(filter(None, map(meant_standard, texts)), "c++17")


def _is_cuda(sources: Sequence[Path]) -> bool:
    return any(source.suffix == ".cu" for source in sources)


def _has_device_code(source: Path) -> bool:
    try:
        return _DEVICE_CODE.search(source.read_bytes()) is not None
    except OSError as error:
        raise BuildError(f"{source}: {error.strerror or error}") from error


def _first_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in lines:
        if re.search(r"\b(fatal )?error\b|undefined reference|cannot find", line):
            return line
    return lines[-1] if lines else "the compiler failed and said nothing"
