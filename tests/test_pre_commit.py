"""The pre-commit hook, installed into a scratch repository: a leak is refused, its fix accepted."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "ci.md"
LEAK = """#include <cuda_runtime.h>

bool clear(float* host, int n) {
    float* device = nullptr;
    if (cudaMalloc(&device, n * sizeof(float)) != cudaSuccess) return false;
    bool done = cudaMemcpy(host, device, n * 4, cudaMemcpyDeviceToHost) == cudaSuccess;
    return done;
}
"""
FIXED = LEAK.replace("    return done;", "    cudaFree(device);\n    return done;")

MISMATCHED = """#include <cuda_runtime.h>

bool fill(int n) {
    float* staging = nullptr;
    if (cudaMallocHost(&staging, n * sizeof(float)) != cudaSuccess) return false;
    staging[0] = 1.0f;
    cudaFree(staging);
    return true;
}
"""

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


class Repository:
    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PRE_COMMIT_HOME": str(home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        folder.mkdir()
        self.run("git", "init", "--quiet")
        self.run("git", "config", "user.name", "Ada")
        self.run("git", "config", "user.email", "ada@example.org")

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def commit(self, **files: str) -> subprocess.CompletedProcess[str]:
        for name, content in files.items():
            (self.folder / name.replace("_", ".")).write_text(content)
        self.run("git", "add", ".")
        return self.run("git", "commit", "--message", "change", check=False)


def holds_leaks_back(repository: Repository) -> None:
    refused = repository.commit(upload_cu=LEAK, notes_txt="cudaMalloc")
    assert refused.returncode != 0
    assert "upload.cu:5:9: warning: " in refused.stdout + refused.stderr
    accepted = repository.commit(upload_cu=FIXED)
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr
    assert repository.run("git", "log", "--oneline").stdout.count("\n") == 1


def with_hook(identifier: str, folder: Path) -> Repository:
    """A repository with a hook as it is published, but run from this environment."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (hook,) = [hook for hook in hooks if hook["id"] == identifier]
    assert hook["require_serial"] is True
    repository = Repository(folder / "scratch", folder / "home")
    local = {"repo": "local", "hooks": [{**hook, "language": "system"}]}
    config = yaml.safe_dump({"repos": [local]})
    (repository.folder / ".pre-commit-config.yaml").write_text(config)
    repository.run(sys.executable, "-m", "pre_commit", "install")
    return repository


def test_the_hook_in_a_scratch_repository(tmp_path: Path) -> None:
    holds_leaks_back(with_hook("cudalint", tmp_path))


def test_the_hook_that_fixes(tmp_path: Path) -> None:
    """It mends the file and stops the commit, so that somebody looks; the next one passes."""
    command = [sys.executable, "-m", "cudalint", "check", "--help"]
    if "--fix " not in subprocess.run(command, capture_output=True, text=True).stdout:
        pytest.skip("cudalint has no --fix yet")
    repository = with_hook("cudalint-fix", tmp_path)
    assert repository.commit(staging_cu=MISMATCHED).returncode != 0
    mended = (repository.folder / "staging.cu").read_text()
    assert mended == MISMATCHED.replace("cudaFree(staging)", "cudaFreeHost(staging)")
    accepted = repository.commit(staging_cu=mended)
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr


def test_the_configuration_of_the_guide_takes_the_newest_commit(tmp_path: Path) -> None:
    """Without a network: pre-commit asks a clone for its newest commit, and for its hooks."""
    (config,) = re.findall(
        r"```yaml\n# \.pre-commit-config\.yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL
    )
    (source,) = yaml.safe_load(config)["repos"]
    clone = tmp_path / "cudalint"
    made = subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], capture_output=True)
    if made.returncode:
        pytest.skip("this is no clone")
    repository = Repository(tmp_path / "scratch", tmp_path / "home")
    where = repository.folder / ".pre-commit-config.yaml"
    where.write_text(config.replace(source["repo"], clone.as_uri()))
    repository.run(sys.executable, "-m", "pre_commit", "autoupdate", "--bleeding-edge")
    newest = repository.run("git", "-C", str(clone), "rev-parse", "HEAD").stdout.strip()
    assert where.read_text() == config.replace(source["repo"], clone.as_uri()).replace(
        source["rev"], newest
    )


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("CUDALINT_TEST_INSTALL"),
    reason="installs cudalint into an environment of its own; set CUDALINT_TEST_INSTALL=1",
)
def test_the_hook_as_its_users_install_it(tmp_path: Path) -> None:
    """From a clone, into an environment that pre-commit makes: needs the package index."""
    clone = tmp_path / "cudalint"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    repository = Repository(tmp_path / "scratch", tmp_path / "home")
    revision = repository.run("git", "-C", str(clone), "rev-parse", "HEAD").stdout.strip()
    source = {"repo": clone.as_uri(), "rev": revision, "hooks": [{"id": "cudalint"}]}
    config = yaml.safe_dump({"repos": [source]})
    (repository.folder / ".pre-commit-config.yaml").write_text(config)
    repository.run(sys.executable, "-m", "pre_commit", "install")
    holds_leaks_back(repository)
