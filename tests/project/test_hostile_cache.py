"""A cache that somebody else wrote, damaged or filled changes nothing but the time."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cudalint import __version__
from cudalint.cli import main
from cudalint.jobs import AnalysisResult
from cudalint.project import secret as secrets
from cudalint.project.cache import FOLDER_NAME, Cache

CODE = """#include "size.h"
#include <cuda_runtime.h>
bool f(size_t n) {
    float* d_lost;
    if (cudaMalloc(&d_lost, N) != cudaSuccess) return false;
    return true;
}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CUDALINT_CACHE_DIR", secrets.VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.cu").write_text(CODE.replace("f(", f"f{number}("))
    (folder / "size.h").write_text("#define N 4\n")
    monkeypatch.chdir(folder)
    return folder


def lint(*options: str) -> tuple[int, bytes]:
    status = main(["--isolated", "--output", "json=../report.json", *options])
    return status, Path("../report.json").read_bytes()


@pytest.fixture
def expected(project: Path) -> tuple[int, bytes]:
    found = lint("--no-cache")
    assert found[0] == 1 and found[1].count(b"d_lost") >= 4
    assert not Path(FOLDER_NAME).exists()
    return found


def entries() -> list[Path]:
    return sorted(Path(FOLDER_NAME).rglob("*.msgpack"))


def anew(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    capsys.readouterr()
    lint("-v", *options)
    (line,) = [x for x in capsys.readouterr().err.splitlines() if "not in the cache" in x]
    return line


def test_what_a_tree_ships_is_not_taken(
    expected: tuple[int, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Somebody else's cache, with everything right in it but that it hides the findings."""
    nothing = msgspec.msgpack.encode(AnalysisResult([], {}))
    store = Cache.store

    def hide(self: Cache, key: str, payload: bytes, included: Any = ()) -> None:
        try:
            msgspec.msgpack.decode(payload, type=AnalysisResult)
        except msgspec.ValidationError:
            store(self, key, payload, included)
        else:
            store(self, key, nothing, included)

    with monkeypatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "attacker"))
        patch.setattr(Cache, "store", hide)
        lint()
        patch.setattr(Cache, "store", store)
        # The attack is a real one: its author sees no finding.
        assert lint()[1].count(b"d_lost") == 0
    assert lint() == expected
    assert lint() == expected


def test_entries_do_not_stand_for_each_other(expected: tuple[int, bytes]) -> None:
    lint()
    found = entries()
    texts = [path.read_bytes() for path in found]
    for path, text in zip(found, texts[1:] + texts[:1], strict=True):
        path.write_bytes(text)
    assert lint() == expected


@pytest.mark.parametrize("seed", range(4))
def test_damage_costs_time_only(expected: tuple[int, bytes], seed: int) -> None:
    lint()
    chance = random.Random(seed)
    for path in (path for path in Path(FOLDER_NAME).rglob("*") if path.is_file()):
        data = bytearray(path.read_bytes())
        match chance.randrange(4):
            case 0:
                del data[chance.randrange(len(data) + 1) :]
            case 1 if data:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            case 2:
                data[:] = chance.randbytes(len(data))
        path.write_bytes(data)
    assert lint() == expected
    assert lint() == expected


def test_pickles_are_not_loaded(expected: tuple[int, bytes], tmp_path: Path) -> None:
    import pickle

    class Harm:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "harm"),)

    lint()
    for path in entries():
        path.write_bytes(pickle.dumps(Harm()))
    assert lint() == expected and not (tmp_path / "harm").exists()


def test_links_out_of_a_cache_are_not_followed(expected: tuple[int, bytes], tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    (precious / "ab").mkdir(parents=True)
    old = precious / "ab" / "cd.msgpack"
    for path in (old, precious / "a.lock", precious / "b.tmp"):
        path.write_text("precious")
        os.utime(path, (0, 0))
    before = sorted(precious.rglob("*"))
    Path(FOLDER_NAME).symlink_to(precious, target_is_directory=True)
    assert lint() == expected
    Path(FOLDER_NAME).unlink()
    for name in ("headers", __version__, "other"):
        shutil.rmtree(FOLDER_NAME, ignore_errors=True)
        Path(FOLDER_NAME).mkdir()
        Path(FOLDER_NAME, name).symlink_to(precious, target_is_directory=True)
        (Path(FOLDER_NAME) / ".gitignore").symlink_to(tmp_path / "made")
        assert lint() == expected
    assert sorted(precious.rglob("*")) == before and not (tmp_path / "made").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_a_pipe_is_no_entry(expected: tuple[int, bytes]) -> None:
    lint()
    for path in entries():
        path.unlink()
        os.mkfifo(path)
    assert lint() == expected


def test_a_home_that_cannot_be_written(
    expected: tuple[int, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert lint() == expected and not Path(FOLDER_NAME).exists()
    monkeypatch.setenv(secrets.VARIABLE, "a secret of the CI")
    assert lint() == expected and entries()


def test_a_full_disk(expected: tuple[int, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Cache, path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Cache, "_write", full)
        assert lint() == expected
    assert lint() == expected


def test_keys_that_others_can_read_are_not_taken(tmp_path: Path) -> None:
    assert secrets.secret() is not None
    key = tmp_path / "home" / "cudalint" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    kept = key.read_bytes()
    secrets._kept.cache_clear()
    assert secrets.secret() == kept
    key.chmod(0o644)
    secrets._kept.cache_clear()
    assert secrets.secret() not in (None, kept)
    key.unlink()
    key.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_bytes(kept)
    secrets._kept.cache_clear()
    assert secrets.secret() not in (None, kept)


def test_machines_share_a_cache(
    expected: tuple[int, bytes],
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(secrets.VARIABLE, "a secret of the CI")
    lint()
    elsewhere = tmp_path / "another" / "machine" / "checkout"
    shutil.copytree(project, elsewhere)
    shutil.rmtree(elsewhere / FOLDER_NAME / "headers", ignore_errors=True)
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another" / "home"))
    assert "0 files read, 0 files analysed" in anew(capsys)
    assert lint() == expected
    monkeypatch.setenv(secrets.VARIABLE, "another secret")
    assert "4 files read, 4 files analysed" in anew(capsys)


def test_a_change_costs_what_depends_on_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "alone.cu").write_text(CODE.replace('#include "size.h"', "").replace("N", "n"))
    caller = "#include <cuda_runtime.h>\nbool f0(size_t n);\nbool g(){ return f0(3); }\n"
    (project / "caller.cu").write_text(caller)
    assert "6 files read, 6 files analysed" in anew(capsys)
    assert "0 files read, 0 files analysed" in anew(capsys)
    (project / "alone.cu").write_text(CODE.replace('#include "size.h"\n', "").replace("N", "n"))
    assert "1 file read, 1 file analysed" in anew(capsys)
    (project / "caller.cu").write_text(caller + "\n// nothing that means anything\n")
    assert "1 file read, 0 files analysed" in anew(capsys)
    (project / "caller.cu").write_text("\n" + caller)
    assert "1 file read, 2 files analysed" in anew(capsys)  # with the file that it calls
    (project / "size.h").write_text("#define N 8\n")
    assert "4 files read, 5 files analysed" in anew(capsys)


def test_a_header_that_appears_elsewhere_counts(project: Path) -> None:
    for path in project.glob("*.cu"):
        path.unlink()
    (project / "src").mkdir()
    (project / "src" / "a.cu").write_text(CODE.replace("size.h", "deep/size.h"))
    assert lint()[1].count(b"incomplete-parse") == 1
    (project / "other" / "deep").mkdir(parents=True)
    (project / "other" / "deep" / "size.h").write_text("#define N 4\n")
    found = lint()
    assert b"incomplete-parse" not in found[1]
    assert found == lint("--no-cache")


def cut_short(seconds: float) -> None:
    command = [sys.executable, "-m", "cudalint", "--isolated", "-q", "--output", "json=../cut.json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="kills with signals")
@pytest.mark.parametrize("times", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_at_random_moments(expected: tuple[int, bytes], times: int) -> None:
    chance = random.Random(times)
    for number in range(times):
        if number % 5 == 0:
            shutil.rmtree(FOLDER_NAME, ignore_errors=True)
        cut_short(chance.uniform(0.05, 1.6))
        if number % 10 == 3:
            assert lint() == expected
    assert lint() == expected
    assert lint() == expected


def test_runs_at_the_same_time(expected: tuple[int, bytes]) -> None:
    command = [sys.executable, "-m", "cudalint", "--isolated", "-q", "--cache-size", "2000"]
    running = [
        subprocess.Popen([*command, "--output", f"json=../{number}.json"]) for number in range(4)
    ]
    assert [process.wait() for process in running] == [1] * 4
    for number in range(4):
        assert Path(f"../{number}.json").read_bytes() == expected[1]
    assert lint() == expected
