"""This machine: what is missing, what NVML and a child process tell, and how it reads."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from cudalint.cli import main
from cudalint.doctor.causes import causes
from cudalint.doctor.grants import unusable
from cudalint.doctor.host import container_of, process, read_host
from cudalint.doctor.measure import STEP, largest_block
from cudalint.doctor.missing import of_failure, of_nvml
from cudalint.doctor.nvml import NvmlError, matched
from cudalint.doctor.record import (
    Case,
    Gpu,
    Grant,
    Health,
    Holder,
    Host,
    Machine,
    Measured,
    RecordError,
    Slice,
    decode,
    encode,
)
from cudalint.runtime.devices import Simulated
from cudalint.runtime.python_programs import script_environment

RECORDINGS = Path(__file__).parent / "recordings"
STAND_IN = Path(__file__).parent / "stand_in"
GIB = 1 << 30
CARD = Gpu(0, "GPU-aa", "Card", 80 * GIB, GIB, 79 * GIB, compute_mode="default")
OTHER = Gpu(1, "GPU-ab", "Card", 80 * GIB, 0, 80 * GIB, compute_mode="default")


def names(machine: Machine) -> list[str]:
    return [one.name for one in causes(Case(machine=machine))]


# What is seen -----------------------------------------------------------------------------------


@pytest.fixture
def stand_in(compiler: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a machine with one simulated device of 16 GiB, and an NVML of it."""
    known = {**script_environment(), **Simulated(capacity=16 * GIB).environment()}
    known["PYTHONPATH"] = f"{STAND_IN}{os.pathsep}{known['PYTHONPATH']}"
    known["CUDALINT_TRACE"] = str(tmp_path / "trace")
    memory = {"total": 17179869184, "used": 6 << 30, "free": 10 << 30, "reserved": 600 << 20}
    known["STAND_IN_NVML"] = json.dumps({"memory": memory, "holders": [[os.getpid(), 6 << 30]]})
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("CUDA", "PYTORCH"))}
    return {**inherited, **known}


def doctor(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cudalint", "doctor", "--isolated", *arguments],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_machine_with_a_device(stand_in: dict[str, str], tmp_path: Path) -> None:
    record = tmp_path / "machine.json"
    done = doctor(stand_in, "--output-format=json", "--record", str(record))
    report = json.loads(done.stdout)
    (gpu,), (measured,) = report["machine"]["gpus"], report["machine"]["measured"]
    assert not report["machine"]["missing"]
    assert (gpu["total"], gpu["reserved"]) == (16 * GIB, 600 << 20)
    assert measured["largest"] == measured["free"] == 16 * GIB
    # Who started the command holds memory: pytest.
    assert [holder["pid"] for holder in gpu["holders"]] == [os.getpid()]
    assert gpu["holders"][0]["user"]
    assert report["causes"][0]["name"] == "another-process"
    assert done.returncode == 1
    assert decode(record.read_bytes()).machine == msgspec.convert(report["machine"], Machine)
    again = doctor(stand_in, "--output-format=json", "--machine", str(record))
    assert json.loads(again.stdout)["causes"] == report["causes"]


def test_users_can_be_left_out(stand_in: dict[str, str], tmp_path: Path) -> None:
    record = tmp_path / "machine.json"
    doctor(stand_in, "--without-users", "--record", str(record))
    machine = decode(record.read_bytes()).machine
    assert machine is not None
    assert [(one.user, one.name) for one in machine.gpus[0].holders] == [("", "")]


def test_a_driver_without_its_module(stand_in: dict[str, str]) -> None:
    done = doctor(stand_in | {"STAND_IN_NVML": '{"error": 18}'}, "--output-format=json")
    missing = json.loads(done.stdout)["machine"]["missing"]
    assert done.returncode == 2
    assert "different versions" in missing[0]["why"]


def test_the_bindings_are_not_shadowed_by_a_folder(
    stand_in: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "__init__.py").write_text("raise SystemExit('shadowed')")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "cudalint", "doctor", "--isolated", "--output-format=json"],
        env=stand_in, capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert json.loads(done.stdout)["machine"]["measured"]


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_largest_block_is_found_without_asking_for_more_than_is_free(
    free: int, fits: int
) -> None:
    asked: list[int] = []

    def had(size: int) -> bool:
        asked.append(size)
        return size <= fits * STEP

    assert largest_block(free * STEP + 17, had) == min(free, fits) * STEP
    assert all(0 < size <= free * STEP for size in asked)
    assert len(asked) <= 10


# What is missing --------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("dev", "proc", "sys/bus/pci/devices/0000:01:00.0"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def test_no_card(root: Path) -> None:
    found = of_failure("cuInit: libcuda.so.1 not found", "", {}, root, False)
    assert found is not None
    assert "no NVIDIA GPU" in found.why
    assert "libcuda.so.1 not found" in found.why


def test_a_card_without_a_driver(root: Path) -> None:
    card = root / "sys/bus/pci/devices/0000:01:00.0"
    (card / "vendor").write_text("0x10de\n")
    (card / "class").write_text("0x030200\n")
    found = of_failure("cuInit: not found", "", {}, root, False)
    assert found is not None
    assert "modprobe" in found.next


def test_a_container_without_devices(root: Path) -> None:
    found = of_nvml(NvmlError("NVML Shared Library Not Found", 12), "docker", root)
    assert "--gpus all" in found.next


@pytest.mark.parametrize(("bridge", "says"), [(True, "/usr/lib/wsl/lib"), (False, "wsl.exe")])
def test_wsl(root: Path, bridge: bool, says: str) -> None:
    if bridge:
        (root / "dev/dxg").touch()
    assert says in of_nvml(NvmlError("not found", 12), "WSL", root).next


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_no_right_to_the_device(root: Path) -> None:
    (root / "dev/nvidia0").touch(mode=0)
    assert of_nvml(NvmlError("not found", 12), "", root).what == "rights"


@pytest.mark.parametrize(
    ("failed", "says"),
    [
        ("import: ModuleNotFoundError: No module named 'cuda'", "not installed"),
        ("import: ImportError: cannot import name 'driver'", "cannot be imported"),
        ("cuInit: CUDA_ERROR_INSUFFICIENT_DRIVER", "older"),
        ("cuInit: CUDA_ERROR_SYSTEM_NOT_READY", "fabric manager"),
        ("cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "different versions"),
        ("cuInit: CUDA_ERROR_STUB_LIBRARY", "stub"),
        ("cuInit: CUDA_ERROR_UNKNOWN", "suspend"),
    ],
)
def test_why_cuda_cannot_be_asked(root: Path, failed: str, says: str) -> None:
    found = of_failure(failed, "", {}, root, False)
    assert found is not None
    assert says in found.why


def test_a_hidden_device_is_not_missing(root: Path) -> None:
    failed = "cuInit: CUDA_ERROR_NO_DEVICE"
    assert of_failure(failed, "", {"CUDA_VISIBLE_DEVICES": ""}, root, True) is None


def test_without_a_gpu_it_says_so_and_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent() -> Iterator[object]:
        raise NvmlError("NVML Shared Library Not Found", 12)

    monkeypatch.setattr("cudalint.doctor.gather.opened", absent)
    monkeypatch.setattr("cudalint.doctor.gather.measure", lambda _: ((), "cuInit: not found"))
    assert main(["doctor", "--isolated"]) == 2
    shown = capsys.readouterr().out
    assert "Missing" in shown
    assert "Host" in shown  # What can be said all the same.


# The host ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "container"),
    [
        ("0::/system.slice/docker-3f2a9c01d7be0123456789ab.scope", "docker 3f2a9c01d7be"),
        ("12:memory:/docker/3f2a9c01d7be0123456789ab", "docker 3f2a9c01d7be"),
        ("0::/kubepods.slice/kubepods-pod12345678_1234_1234_1234_123456789abc.slice/cri-x",
         "kubernetes pod 12345678_1234_1234_1234_123456789abc"),
        ("0::/user.slice/libpod-3f2a9c01d7be0123.scope/container", "podman 3f2a9c01d7be"),
        ("0::/user.slice/user-1000.slice", ""),
    ],
)  # fmt: skip
def test_containers(groups: str, container: str) -> None:
    assert container_of(groups) == container


def test_a_process_of_slurm(root: Path) -> None:
    folder = root / "proc/4242"
    folder.mkdir()
    (folder / "cmdline").write_bytes(b"/usr/bin/python3\0train.py\0--token=s3cret\0")
    (folder / "cgroup").write_text("0::/slurm/uid_1000/job_81734/step_0\n")
    (folder / "status").write_text("Name:\tpython3\nState:\tS (sleeping)\n")
    found = process(4242, GIB, root)
    assert (found.name, found.job, found.alive) == ("python3 train.py", "81734", True)
    (folder / "environ").write_bytes(b"HOME=/\0SLURM_JOB_ID=99\0")
    assert process(4242, GIB, root).job == "99"
    (folder / "status").write_text("State:\tZ (zombie)\n")
    assert process(4242, GIB, root).alive is False


def test_a_process_that_is_gone_or_elsewhere(root: Path) -> None:
    assert process(7, GIB, root).alive is None
    (root / "proc/2").mkdir()
    (root / "proc/2/comm").write_text("kthreadd\n")
    assert process(7, GIB, root).alive is False


def test_limits_of_cgroups(root: Path) -> None:
    job = root / "sys/fs/cgroup/slurm/job_1"
    (job / "step").mkdir(parents=True)
    (root / "proc/self").mkdir()
    (root / "proc/self/cgroup").write_text("0::/slurm/job_1/step\n")
    (job / "memory.max").write_text("1073741824\n")
    (job / "memory.current").write_text("1000\n")
    (job / "step" / "memory.max").write_text("max\n")
    found = read_host(root)
    assert (found.cgroup_limit, found.cgroup_used) == (GIB, 1000)


def test_a_process_known_by_the_number_of_another_namespace() -> None:
    foreign, local = Holder(999, bytes=GIB, alive=None), Holder(12, "python", alive=True)
    assert matched((foreign,), (local,), GIB) == (Holder(12, "python", bytes=GIB, alive=True),)
    assert matched((), (local,), 4 * GIB) == (local,)
    assert matched((), (local,), 0) == ()


# What is granted --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("visible", "wrong", "hidden"),
    [
        (None, (), ()),
        ("", (), ("GPU 0", "GPU 1")),
        ("0,1", (), ()),
        ("1", (), ("GPU 0",)),
        ("0,7,1", ("7",), ("GPU 1",)),
        ("GPU-ab", (), ("GPU 0",)),
        ("GPU-a", ("GPU-a",), ("GPU 0", "GPU 1")),
        ("MIG-77", (), ("GPU 1",)),
        ("MIG-78", ("MIG-78",), ("GPU 0", "GPU 1")),
        ("MIG-GPU-aa/1/0", (), ("GPU 1",)),
        ("-1", ("-1",), ("GPU 0", "GPU 1")),
        ("zero", ("zero",), ("GPU 0", "GPU 1")),
    ],
)
def test_visible_devices(
    visible: str | None, wrong: tuple[str, ...], hidden: tuple[str, ...]
) -> None:
    sliced = msgspec.structs.replace(CARD, slices=(Slice("MIG-77aa"),))
    assert unusable(visible, (sliced, OTHER)) == (wrong, hidden)


# The causes of a machine ------------------------------------------------------------------------


def test_nothing_is_wrong() -> None:
    fresh = Measured(0, "GPU-aa", total=80 * GIB, free=79 * GIB, largest=79 * GIB)
    assert names(Machine(gpus=(CARD,), measured=(fresh,))) == []


HOLDER = Holder(7, "python train.py", "ada", 60 * GIB, True)
FULL = msgspec.structs.replace(CARD, used=60 * GIB, free=20 * GIB, holders=(HOLDER,))


@pytest.mark.parametrize(
    ("machine", "name"),
    [
        (Machine(gpus=(FULL,)), "another-process"),
        (Machine(gpus=(msgspec.structs.replace(FULL, holders=(
            msgspec.structs.replace(HOLDER, alive=False),)),)), "dead-process"),
        (Machine(gpus=(msgspec.structs.replace(FULL, holders=()),)), "unseen-process"),
        (Machine(gpus=(CARD,), grant=Grant(visible="3", wrong=("3",))), "visible-devices"),
        (Machine(gpus=(CARD,), grant=Grant(visible="", hidden=("GPU 0",))), "visible-devices"),
        (Machine(gpus=(CARD,), grant=Grant(job="17")), "slurm-grant"),
        (Machine(gpus=(CARD,), grant=Grant(denied=("/dev/nvidia0",))), "denied-devices"),
        (Machine(gpus=(msgspec.structs.replace(CARD, compute_mode="prohibited"),)), "compute-mode"),
        (Machine(gpus=(msgspec.structs.replace(FULL, compute_mode="exclusive"),)), "compute-mode"),
        (Machine(gpus=(msgspec.structs.replace(CARD, mig=True),)), "mig"),
        (Machine(measured=(Measured(0, free=60 * GIB, largest=20 * GIB),)), "fragmentation"),
        (Machine(measured=(Measured(0, error="cuCtx: CUDA_ERROR_OUT_OF_MEMORY"),)), "no-context"),
        (Machine(gpus=(msgspec.structs.replace(CARD, health=Health(failed=True)),)),
         "memory-errors"),
        (Machine(host=Host(address_space=GIB)), "address-space"),
        (Machine(host=Host(cgroup_limit=100, cgroup_used=95)), "host-memory"),
        (Machine(host=Host(shared=64 << 20, shared_used=0)), "shared-memory"),
    ],
)  # fmt: skip
def test_causes_of_a_machine(machine: Machine, name: str) -> None:
    assert names(machine)[0] == name
    for cause in causes(Case(machine=machine)):
        assert cause.evidence
        assert cause.next


def test_another_device_is_proposed() -> None:
    (cause,) = causes(Case(machine=Machine(gpus=(FULL, OTHER))))
    assert any("CUDA_VISIBLE_DEVICES=1" in step for step in cause.next)


# Records ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["busy_machine", "another_process", "cached_pool", "kept_graph"])
def test_how_a_recording_reads(
    name: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    path = RECORDINGS / f"{name}.json"
    assert main(["doctor", "--isolated", "--machine", str(path)]) == 1
    assert capsys.readouterr().out == snapshot
    assert encode(decode(path.read_bytes())) == path.read_bytes()


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"version": 99}', b'{"machine": {"gpus": 3}}']
)
def test_what_is_no_record(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(data)
    with pytest.raises(RecordError):
        decode(data)
    assert main(["doctor", "--isolated", "--machine", str(path)]) == 2
    assert "record" in capsys.readouterr().err


def test_causes_are_ranked_and_frozen() -> None:
    found = causes(decode((RECORDINGS / "busy_machine.json").read_bytes()))
    weights = [one.weight for one in found]
    assert weights == sorted(weights, reverse=True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found[0].weight = 1  # type: ignore[misc]


def test_a_kept_graph_as_a_gpu_shows_it() -> None:
    """Recorded on an H100: the model's line takes blocks of each pass back and keeps others; 66 MiB
    lie in PyTorch's cache."""
    found = causes(decode((RECORDINGS / "kept_graph_measured.json").read_bytes()))
    assert found[0].name == "kept-graph"
    assert found[0].title.startswith("autograd's graphs of about 52 passes live on")
    assert "cache-fragmentation" in [cause.name for cause in found]


@pytest.mark.parametrize("model", ["forward", "sequence"])
def test_the_activations_of_one_pass_are_no_kept_graph(model: str) -> None:
    """Recorded on an H200: the first pass of a deep model in blocks, and of one in a single line,
    fills the device."""
    found = causes(decode((RECORDINGS / f"full_of_activations_{model}.json").read_bytes()))
    assert found[0].name == "working-set"
    assert not {"kept-graph", "growing-collection"} & {cause.name for cause in found}
