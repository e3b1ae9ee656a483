"""The shipped API models, their loader, and the languages inside them."""

from __future__ import annotations

import contextlib
import importlib
import re
import subprocess
import sys
from importlib.metadata import files as distribution_files
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cudalint.apis
from cudalint.apis.loader import (
    LIBRARIES,
    RESERVED,
    ApiModels,
    Language,
    decode,
    load,
    read_model_file,
)
from cudalint.apis.model import ApiFunction, Family
from cudalint.apis.paths import (
    Apply,
    Arithmetic,
    CopyDirection,
    ElementType,
    Number,
    parse_amount,
    parse_direction,
    parse_dtype,
    parse_path,
    parse_shape,
)
from cudalint.apis.paths import Path as ModelPath
from cudalint.apis.validation import ModelError

FOLDER = Path(cudalint.apis.__file__).parent
MODEL_FILES = sorted(path for path in FOLDER.glob("*.toml") if path.name != "devices.toml")


def families() -> dict[str, Family]:
    return dict(decode("families.toml", (FOLDER / "families.toml").read_text()).families)


@pytest.mark.parametrize("path", MODEL_FILES, ids=lambda path: path.name)
def test_shipped_file_says_nothing_impossible(path: Path) -> None:
    file = read_model_file(str(path), families())
    tables = (file.functions, file.families, file.tensors, file.lifetimes, file.kernels, file.tests)
    assert any(tables)


def test_every_shipped_file_is_listed_under_its_language() -> None:
    listed = {
        library.filename: language for language in LIBRARIES for library in LIBRARIES[language]
    }
    assert set(listed) == {path.name for path in MODEL_FILES} - {"families.toml", "tests.toml"}
    for path in MODEL_FILES:
        language = decode(path.name, path.read_text()).language
        assert language == listed.get(path.name, "both")


@pytest.mark.parametrize("language", ["cuda", "python"])
def test_every_name_is_found_where_the_loader_looks_for_it(language: Language) -> None:
    every = load(language).names()
    for library in LIBRARIES[language]:
        text = (FOLDER / library.filename).read_text()
        for name in decode(library.filename, text).functions:
            if not name.startswith((".", "*.")):
                example = name.replace("*", "X")
                assert re.match(library.pattern, example), f"{name} in {library.filename}"
                assert name in every
                assert load(language).lookup(example) is not None


def test_releases_of_a_family_fit_it() -> None:
    for language in ("cuda", "python"):
        models = load(language)
        for name in models.names():
            function = models.lookup(name)
            for release in function.releases if function else ():
                for family in release.families:
                    assert models.families[family].releases or models.families[family].managed


# Names against NVIDIA's headers and bindings

REMOVED = re.compile(
    r"cuda(Thread|Bind|Unbind|GL|VDPAU|EGL|WGL|Graphics(GL|EGL|VDPAU|D3D|Resource)|Profiler)\w*"
    r"|cudaSetDoubleFor\w+|cudaGetTexture\w+|cudaGetSurfaceReference|cudaConfigureCall"
    r"|cudaSetupArgument|cudaLaunch|cudaLaunchCooperativeKernelMultiDevice"
    r"|cuda(Func|Device)[SG]etSharedMemConfig|cudaEventCreateFromEGLSync"
    r"|cu(GL|Graphics(GL|EGL|VDPAU|D3D|Resource)|Profiler)\w*|cuEventCreateFromEGLSync"
    r"|cuGraphInstantiateWithFlags"
)
"""In older toolkits, or in headers of other APIs that the runtime's wheel does not bring."""

OWNERSHIP = re.compile(
    r"(Create|Alloc|Destroy|Free|Open|Import|Load|Unload|Register|Unregister|Retain|Release"
    r"|Clone|Reserve)"
)
NOT_OWNERSHIP = {
    # callbacks and notifications, registered for the life of the process
    "cudaDeviceRegisterAsyncNotification", "cudaDeviceUnregisterAsyncNotification",
    "cudaLogsRegisterCallback", "cudaLogsUnregisterCallback",
    "cuDeviceRegisterAsyncNotification", "cuDeviceUnregisterAsyncNotification",
    "cuLogsRegisterCallback", "cuLogsUnregisterCallback",
    "cuCoredumpRegisterStartCallback", "cuCoredumpRegisterCompleteCallback",
    "cuCoredumpDeregisterStartCallback", "cuCoredumpDeregisterCompleteCallback",
    # parts of a graph, which owns them; its memory nodes allocate when it runs
    "cudaGraphAddMemAllocNode", "cudaGraphConditionalHandleCreate",
    "cudaGraphConditionalHandleCreate_v2", "cudaGraphDestroyNode", "cudaGraphNodeFindInClone",
    "cudaGraphMemAllocNodeGetParams", "cudaGraphMemFreeNodeGetParams",
    "cuGraphAddMemAllocNode", "cuGraphConditionalHandleCreate", "cuGraphDestroyNode",
    "cuGraphNodeFindInClone", "cuGraphMemAllocNodeGetParams", "cuGraphMemFreeNodeGetParams",
    # counts of references that nothing static can follow
    "cudaUserObjectRetain", "cudaGraphReleaseUserObject", "cuUserObjectRetain",
    "cuGraphReleaseUserObject", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease",
    # multi-node fabric endpoints, addressed by number
    "cuLogicalEndpointCreate", "cuLogicalEndpointDestroy", "cuLogicalEndpointIdReserve",
    "cuLogicalEndpointIdRelease", "cuLogicalEndpointImport",
    # no ownership at all
    "cudaGraphUpload", "cuGraphUpload", "cuFuncIsLoaded", "cuFuncLoad", "cuModuleGetLoadingMode",
    "cuMemGetAllocationGranularity", "cuMemGetAllocationPropertiesFromHandle",
    "cuTensorMapSetAllocationClass", "cudaMemGetAllocationGranularity",
}  # fmt: skip


def header_text() -> str:
    found = []
    for file in distribution_files("nvidia-cuda-runtime") or []:
        if file.name in ("cuda_runtime_api.h", "cuda_runtime.h", "cuda.h"):
            text = Path(str(file.locate())).read_text(errors="replace")
            found.append(re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S))
    return "\n".join(found)


@pytest.fixture(scope="module")
def declared() -> set[str]:
    names = set(
        re.findall(
            r"\b(?:cudaError_t|CUresult|char\s*\*)\s+(?:CUDARTAPI(?:_CDECL)?|CUDAAPI)?\s*"
            r"(cu(?:da)?[A-Z]\w+)\s*\(",
            header_text(),
        )
    )
    if not names:
        pytest.skip("NVIDIA ships no headers for this platform")
    return names


def modelled(filename: str) -> dict[str, ApiFunction]:
    return decode(filename, (FOLDER / filename).read_text()).functions


def without_version(name: str) -> str:
    return re.sub(r"(_v\d+)?(_ptds|_ptsz)?$", "", name)


@pytest.mark.parametrize("filename", ["cuda_runtime.toml", "cuda_driver.toml"])
def test_every_modelled_function_is_declared_in_the_headers(
    filename: str, declared: set[str]
) -> None:
    unversioned = {without_version(name) for name in declared}
    unknown = {
        name
        for name in modelled(filename)
        if name not in declared | unversioned and not REMOVED.fullmatch(name)
    }
    assert unknown == set()


def test_every_declared_function_that_owns_something_is_modelled(declared: set[str]) -> None:
    models = load("cuda")
    silent = {
        name
        for name in declared
        if OWNERSHIP.search(name)
        and name not in NOT_OWNERSHIP
        and not (
            (model := models.lookup(name))
            and (model.acquires or model.releases or model.takes or model.resets)
        )
    }
    assert silent == set(), f"neither modelled nor known to own nothing: {sorted(silent)}"


def test_every_declared_function_has_a_model_at_all(declared: set[str]) -> None:
    missing = {name for name in declared if load("cuda").lookup(name) is None}
    # Helpers of the C++ header that are templates over the C functions.
    assert missing <= {"cudaMallocHost"}, sorted(missing)


def test_arguments_exist_in_the_declarations(declared: set[str]) -> None:
    """Every ``argN`` of the models of the C API is a parameter of the declared function."""
    text = re.sub(r"__dv\([^)]*\)", "", header_text())
    counts: dict[str, int] = {}
    for name, arguments in re.findall(r"\b(cu(?:da)?[A-Z]\w+)\s*\(([^;{}()]*)\)\s*[;{]", text):
        count = 0 if arguments.strip() in ("", "void") else arguments.count(",") + 1
        counts[name] = max(count, counts.get(name, 0))
    checked = 0
    for filename in ("cuda_runtime.toml", "cuda_driver.toml"):
        for name, function in modelled(filename).items():
            used = [int(number) for number in re.findall(r"\barg(\d+)", repr(function))]
            if used and name in counts:
                checked += 1
                assert max(used) < counts[name], f"{name} has {counts[name]} parameters"
    assert checked > 150


def test_fixes_write_only_releases_that_take_the_handle_alone() -> None:
    text = re.sub(r"__dv\([^)]*\)", "", header_text())
    counts: dict[str, int] = {}
    for name, arguments in re.findall(r"\b(cu(?:da)?[A-Z]\w+)\s*\(([^;{}()]*)\)\s*[;{]", text):
        counts[name] = max(arguments.count(",") + 1, counts.get(name, 0))
    models = load("cuda")
    checked = 0
    for name, family in models.families.items():
        for release in family.releases if not family.managed else ():
            model = models.lookup(release)
            if release.endswith("Async") or model is None or not re.match(r"(cu|nv|nccl)", release):
                continue
            handles = {one.handle for one in model.releases if name in one.families}
            checked += 1
            assert family.indirect or (handles == {"arg0"} and counts.get(release, 1) == 1), release
    assert checked > 60


def test_python_bindings_do_what_the_c_functions_do() -> None:
    for python, c in (
        ("python_cuda_runtime.toml", "cuda_runtime.toml"),
        ("python_cuda_driver.toml", "cuda_driver.toml"),
    ):
        functions = modelled(c)
        for name, function in modelled(python).items():
            original = functions[name.rpartition(".")[2]]
            assert function.status == "return[0]"
            assert [item.family for item in function.acquires] == [
                item.family for item in original.acquires
            ]
            assert [item.families for item in function.releases] == [
                item.families for item in original.releases
            ]
            assert (function.copies is None) == (original.copies is None)
            assert (function.sets is None) == (original.sets is None)
            for acquired in function.acquires:
                assert acquired.handle.startswith("return[1]") or acquired.family in (
                    "host-registered",
                )


MODELLED_BINDINGS = (13, 4)
"""The version of cuda-bindings whose functions are modelled: an older one lacks some."""


@pytest.mark.parametrize("module", ["runtime", "driver"])
def test_python_bindings_exist_with_these_parameters(module: str) -> None:
    """Against cuda-python itself, where it is installed with a driver to bind to."""
    try:
        bindings = importlib.import_module(f"cuda.bindings.{module}")
    except (ImportError, RuntimeError) as error:
        pytest.skip(str(error))
    installed = version("cuda-bindings")
    if tuple(map(int, installed.split(".")[:2])) < MODELLED_BINDINGS:
        pytest.skip(f"cuda-bindings {installed} is older than what is modelled")
    for name, function in modelled(f"python_cuda_{module}.toml").items():
        bound = getattr(bindings, name.rpartition(".")[2], None)
        assert bound is not None, name
        signature = (bound.__doc__ or "").partition("\n")[0]
        for parameter in function.parameters:
            assert re.search(rf"\b{parameter}\b", signature), f"{name}: {signature}"


# Lookup


def known(models: ApiModels, name: str) -> ApiFunction:
    """The model of a name that has one."""
    found = models.lookup(name)
    assert found is not None, name
    return found


def method(models: ApiModels, name: str, receiver: str | None) -> ApiFunction:
    """The model of a method that has one."""
    found = models.lookup_method(name, receiver)
    assert found is not None, name
    return found


@pytest.mark.parametrize(
    ("language", "name", "same_as"),
    [
        ("cuda", "cuMemAlloc_v2", "cuMemAlloc"),
        ("cuda", "cudaMemcpyAsync_ptsz", "cudaMemcpyAsync"),
        ("cuda", "cublasCreate_v2", "cublasCreate"),
        ("cuda", "::cudaFree", "cudaFree"),
        ("cuda", "cudaMalloc<float>", "cudaMalloc"),
        ("cuda", "cudaMalloc<std::pair<int, float>>", "cudaMalloc"),
        ("cuda", "std::__1::swap<float *>", "std::swap"),
        ("cuda", "thrust::THRUST_300_SM_800_NS::raw_pointer_cast<float>", "std::move"),
        ("cuda", "std::deque<float *>::push_back", "std::vector::push_back"),
        ("cuda", "hipMalloc", "cudaMalloc"),
        ("cuda", "hipMemcpyHtoD", "cuMemcpyHtoD"),
        ("python", "cuda.cudart.cudaMalloc", "cuda.bindings.runtime.cudaMalloc"),
        ("python", "cuda.cuda.cuMemFree_v2", "cuda.bindings.driver.cuMemFree"),
        ("python", "cupy_backends.cuda.api.runtime.free", "cupy.cuda.runtime.free"),
        ("python", "cuda.core.experimental.Device", "cuda.core.Device"),
        ("python", "builtins.print", "print"),
        ("python", "some.project.checkCudaErrors", "*.checkCudaErrors"),
    ],
)
def test_spellings_of_one_function(language: Language, name: str, same_as: str) -> None:
    models = load(language)
    found = models.lookup(name)
    assert found is not None
    expected = models.lookup(same_as) or models._functions[same_as]
    assert msgspec.structs.replace(found, guess=False) == expected


def test_a_version_with_its_own_model_is_not_the_unversioned_one() -> None:
    assert known(load("cuda"), "cudaLaunchHostFunc_v2").takes == ("arg2",)


def test_unknown_names_have_no_model() -> None:
    for name in ("myKernelLauncher", "Pool::grow", "cudaFrobnicate", "", ".nothing", "std::nope"):
        assert load("cuda").lookup(name) is None
    for name in ("mine.helper", "cuda.bindings.cufile.nothing", "torch.nn.Linear"):
        assert load("python").lookup(name) is None


def test_the_longest_beginning_wins() -> None:
    python = load("python")
    returned = known(python, "cupy.tensordot").returns
    assert returned is not None and returned.space == "device"
    assert known(python, "cupy.cuda.Stream").returns is None
    assert known(load("cuda"), "nppiMalloc_8u_C1").acquires[0].null_on_failure


def test_names_of_which_only_a_part_is_known_are_guesses() -> None:
    cuda, python = load("cuda"), load("python")
    assert known(cuda, "cublasSgemm").guess
    assert known(cuda, "CUDA_CHECK").guess
    assert not known(cuda, "cublasCreate_v2").guess
    assert known(python, "helpers.checkCudaErrors").guess
    assert known(python, "math.sqrt").guess  # a project may define its own `math`
    assert not known(python, "print").guess


def test_status_of_a_call_and_of_what_it_acquires_are_one() -> None:
    models = load("cuda")
    assert known(models, "cudaMalloc").acquires[0].status == "return"
    assert known(models, "cudaMalloc").status == "return"
    assert known(models, "malloc").acquires[0].status is None
    assert known(models, "posix_memalign").status == "return"
    assert known(models, "cudaGetErrorString").status is None


def test_methods_depend_on_their_receiver() -> None:
    python = load("python")
    assert method(python, ".allocate", "rmm-resource").acquires[0].family == "rmm"
    assert method(python, ".allocate", "core-device").acquires[0].family == "core-buffer"
    assert python.lookup_method(".allocate", None) is None
    copied = method(python, ".get", "device").copies
    assert copied is not None and copied.to == "return"
    assert method(python, ".get", None).copies is None
    assert method(python, ".data_ptr", "device").dangles == "this"
    assert known(python, ".data_ptr").dangles == "this"


@pytest.mark.parametrize(
    ("api", "family", "release"),
    [
        ("cudaMalloc", "device", "cudaFree"),
        ("hipMalloc", "device", "hipFree"),
        ("cuMemAlloc_v2", "device", "cuMemFree"),
        ("cuda.bindings.driver.cuMemAlloc", "device", "cuMemFree"),
        ("cupy.cuda.runtime.malloc", "device", "cupy.cuda.runtime.free"),
        ("cudaHostAlloc", "pinned", "cudaFreeHost"),
        ("cudnnCreateFilterDescriptor", "cudnn-descriptor", "cudnnDestroyFilterDescriptor"),
        ("cupy.cuda.cusparse.createDnMat", "cusparse-descriptor", "cusparseDestroyDnMat"),
        ("cudaMallocAsync", "device", "cudaFreeAsync"),
        ("hipHostMalloc", "pinned", "hipHostFree"),
        ("malloc", "host", "free"),
        ("operator new", "host", "operator delete"),
        ("operator new[]", "host", "operator delete[]"),
    ],
)
def test_release_named_in_messages(api: str, family: str, release: str) -> None:
    assert load("cuda").family_of(api, family).releases[0] == release


def test_loading_is_cached() -> None:
    assert load("cuda") is load("cuda")
    assert load("cuda") is not load("python")


def test_only_the_needed_libraries_are_read() -> None:
    code = (
        "from cudalint.apis import loader; models = loader.load('cuda');"
        " models.lookup('cudaMalloc'); print(sorted(item.filename for item in models._pending))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert "cuda_runtime.toml" not in output
    for library in ("cuda_driver.toml", "cuda_math.toml", "cuda_libraries.toml", "hip.toml"):
        assert library in output


# The user's files

WRAPPER = """
language = "cuda"

[families.arena]
kind = "memory"
noun = "arena memory"
space = "device"
releases = ["arena_give"]

[arena_take]
parameters = ["arena", "bytes"]
acquires = { family = "arena", handle = "return", bytes = "bytes", null_on_failure = true }

[arena_give]
releases = { families = ["arena"], handle = "arg1" }

[cudaMalloc]
acquires = { family = "arena", handle = "*arg0", status = "return" }
"""


def test_users_models_stand_beside_and_over_the_shipped_ones(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text(WRAPPER)
    models = load("cuda", (str(file),))
    assert known(models, "arena_take").acquires[0].bytes == "bytes"
    assert models.families["arena"].noun == "arena memory"
    assert known(models, "cudaMalloc").acquires[0].family == "arena"
    assert known(models, "cudaMallocHost").acquires[0].family == "pinned"
    assert models.family_of("arena_take", "arena").releases == ("arena_give",)
    assert load("python", (str(file),)).lookup("arena_take") is None
    assert known(load("cuda"), "cudaMalloc").acquires[0].family == "device"


@pytest.mark.parametrize(
    ("text", "table", "message"),
    [
        ("[f]\nacquire = { family = 'device', handle = 'return' }", "f", "mean `acquires`?"),
        ("[f]\nacquires = { family = 'devise', handle = 'return' }", "f", "mean `device`?"),
        ("[f]\nacquires = { family = 'device', handel = 'return' }", "f", "mean `handle`?"),
        ("[f]\nacquires = { family = 'device' }", "f", "missing required field `handle`"),
        ("[f]\nreleases = { handle = 'argument0' }", "f", "`argument0` is none of"),
        ("[f]\ncopies = { to = '*arg0', from = 'arg1' }", "f", "copies.to: `*arg0`: it is what"),
        ("[f]\nsets = { to = '*arg0', value = 'arg1' }", "f", "sets.to: `*arg0`: it is what"),
        ("[f]\nparameters = ['size']\nreleases = { handle = 'sise' }", "f", "size, argN"),
        (
            "[f]\nacquires = { family = 'device', handle = 'return', bytes = 'arg0 *' }",
            "f",
            "expected a path, found `the end`",
        ),
        (
            "[f]\nacquires = { family = 'device', handle = 'return', bytes = 'prod(arg0)' }",
            "f",
            "no function `prod`",
        ),
        ("[f]\ncopies = { to = 'arg0', from = 'arg1', direction = 'up|down' }", "f", "`down`"),
        ("[f]\nreturns = { space = 'moon' }", "f", "Invalid enum value 'moon'"),
        ("[f]\nreturns = { dtype = 'arg0|float31' }", "f", "`float31` is no element type"),
        ("[f]\nswaps = ['arg0']", "f", "two paths, not 1"),
        ("[f]\nmay_throw = 'no'", "f", "Expected `bool | null`"),
        ("['.close@strem']\nmay_throw = false", ".close@strem", "mean `stream`?"),
        ("[defaults]\nstats = 'return'", "defaults", "mean `status`?"),
        ("language = 'fortran'", "", "not cuda, python or both"),
        ("prefixes = 'a.'", "", "neither a table nor a reserved key; did you mean `prefix`?"),
        ("[families.x]\nkind = 'memory'", "families.x", "missing required field `noun`"),
        ("[f\n", "", "line 1"),
        ("[f]\nembeds = { source = ['arg0'], kernal = 'arg1' }", "f", "mean `kernel`?"),
        ("[f]\nembeds = { source = ['sorce'] }", "f", "`sorce` is none of argN, return, this"),
        ("[f]\norder = { stream = 'arg0', record = 'arg1' }", "f", "mean `records`?"),
        ("[f]\norder = { stream = 'argument1' }", "f", "order.stream: `argument1`"),
        ("[f]\nfinds_kernel = { handle = 'return', name = 'nam' }", "f", "finds_kernel.name"),
        ("[f]\nhandle = 'return'", "f", "it belongs into `acquires`"),
        ("[[alike]]\nname = ['f', 'g']\nmay_throw = false", "alike", "no `names`"),
        ("[[alike]]\nnames = ['f', 'g']\nacquire = {}", "f", "mean `acquires`?"),
        ("[tensors.x]\nnames = ['a.b']\ngradients = 'follows'", "tensors.x", "mean `gradient`?"),
        ("[tensors.x]\nnames = ['a.b']\ngradient = 'lost'", "tensors.x", "Invalid enum value"),
        ("[tensors.x]\nnames = ['a b']", "tensors.x", "`a b` is no dotted name"),
        ("[tensors.x]\nnames = []", "tensors.x", "`names` is empty"),
        ("[tensors.x]\nnames = ['.back']\nbackward = 'ths'", "tensors.x", "mean `this`?"),
        ("[tensors.x]\nnames = ['.back']\nretain = 'a b'", "tensors.x", "name of a parameter"),
        ("[hooks.x]\nbases = ['own.*']\nonce_each = ['start']", "hooks.x", "; "),
        ("[kernels.x]\nnames = ['own.jit']\nmake = 'decorated'", "kernels.x", "mean `makes`?"),
        ("[kernels.x]\nnames = ['own jit']", "kernels.x", "`own jit` is no dotted name"),
        ("[hooks.x]\nbases = []", "hooks.x", "`bases` is empty"),
        ("[hooks.x]\nbases = ['own.*']\nonce = ['on start']", "hooks.x", "no name of a method"),
        ("[lifetimes.x]\nnames = ['own.nap']\nwait = 'arg0'", "lifetimes.x", "mean `waits`?"),
        ("[lifetimes.x]\nnames = ['own.nap']\nwaits = 'for ever'", "lifetimes.x", "`forever`?"),
        ("[lifetimes.x]\nnames = ['own.read']\nloads = 'where'", "lifetimes.x", "loads: `where`"),
    ],
)
def test_mistakes_are_named_with_the_nearest_name(
    tmp_path: Path, text: str, table: str, message: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(ModelError) as caught:
        load("cuda", (str(file),))
    assert caught.value.path == str(file)
    assert caught.value.table == table
    assert message in str(caught.value)
    assert str(file) in str(caught.value)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.toml"):
        load("cuda", (str(tmp_path / "nowhere.toml"),))
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    with pytest.raises(ModelError, match="not UTF-8 at byte 2"):
        load("cuda", (str(tmp_path / "latin.toml"),))


def test_several_entries_of_a_method_may_be_an_array_of_tables(tmp_path: Path) -> None:
    file = tmp_path / "methods.toml"
    file.write_text(
        "[['.shut']]\nreceiver = 'stream'\nreleases = { families = ['stream'], handle = 'this' }\n"
        "[['.shut']]\nmay_throw = false\n"
    )
    models = load("python", (str(file),))
    assert method(models, ".shut", "stream").releases[0].families == ("stream",)
    assert method(models, ".shut", "event").releases == ()
    assert known(models, ".shut").may_throw is False


def test_reserved_keys_are_the_documented_ones() -> None:
    from cudalint.apis import loader

    assert set(re.findall(r"^- ``(\w+)``", loader.__doc__, re.M)) == RESERVED


# The languages inside models


def test_paths() -> None:
    assert parse_path("*arg0") == ModelPath("argument", 0, dereference=True)
    assert parse_path("*arg0.ptr") == ModelPath("argument", 0, dereference=True, steps=("ptr",))
    assert parse_path("return[1]") == ModelPath("return", steps=(1,))
    assert parse_path("this.handle[0]") == ModelPath("this", steps=("handle", 0))
    assert parse_path("size", ("dtype", "size")) == ModelPath("argument", 1, "size")
    assert parse_path("arg1", ("dtype", "size")) == ModelPath("argument", 1, "size")
    assert parse_path("dtype", ("*size", "dtype")) == ModelPath("argument", None, "dtype")
    assert parse_path("size", ("*size", "dtype")) == ModelPath("argument", 0, "size")
    assert parse_path("this", ("this",)) == ModelPath("argument", 0, "this")


@pytest.mark.parametrize(
    "text", ["", "arg", "arg0.", "arg0[x]", "arg0 arg1", "**arg0", "&arg0", "template_bytes"]
)
def test_paths_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="`"):
        parse_path(text)


def test_amounts() -> None:
    first, second = ModelPath("argument", 0), ModelPath("argument", 1)
    assert parse_amount("arg0 * arg1 + 2") == Arithmetic(
        "+", Arithmetic("*", first, second), Number(2)
    )
    assert parse_amount("arg0 * (arg1 + 2)") == Arithmetic(
        "*", first, Arithmetic("+", second, Number(2))
    )
    assert parse_amount("arg0 * *arg1") == Arithmetic(
        "*", first, ModelPath("argument", 1, dereference=True)
    )
    assert parse_amount("count(arg0)") == Apply("count", first)
    assert parse_amount("arg0 // 2 - 1") == Arithmetic(
        "-", Arithmetic("//", first, Number(2)), Number(1)
    )
    assert parse_amount("template_bytes") == ModelPath("template_bytes")


@pytest.mark.parametrize(
    "text",
    ["arg0 +", "(arg0", "arg0)", "nbytes()", "count(arg0, 1)", "exec(arg0)", "arg0 % 2", "2 3"],
)
def test_amounts_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="`"):
        parse_amount(text)


def test_shapes_types_and_directions() -> None:
    assert parse_shape("args").kind == "arguments"
    assert parse_shape("like a", ("a",)).like == ModelPath("argument", 0, "a")
    assert len(parse_shape("range(arg0, arg1, arg2)").dimensions) == 3
    square = parse_shape("N, M|N", ("N", "M")).dimensions
    assert [item.default for item in square] == [None, ModelPath("argument", 0, "N")]
    assert parse_dtype("float64") == ElementType(default="float64")
    assert parse_dtype("dtype|float32", ("dtype",)) == ElementType(
        ModelPath("argument", 0, "dtype"), default="float32"
    )
    assert parse_dtype("like this").like
    assert parse_direction("host-to-device") == CopyDirection(default="host-to-device")
    assert parse_direction("arg3") == CopyDirection(ModelPath("argument", 3))
    assert parse_direction("arg4|device-to-device").default == "device-to-device"


@given(st.text(alphabet="arg01.*+-/()[], |xthisreturn", max_size=20))
def test_parsers_refuse_or_parse_and_nothing_else(text: str) -> None:
    for parse in (parse_path, parse_amount, parse_shape, parse_dtype, parse_direction):
        with contextlib.suppress(ValueError):
            parse(text, ("size", "*rest", "dtype"))
