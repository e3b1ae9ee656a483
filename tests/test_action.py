"""The GitHub action: its form, and its shell steps as a runner runs them; the examples for CI."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
EXAMPLES = re.findall(
    r"```yaml\n# (\S+)\n(.*?)```",
    "".join((ROOT / "docs" / name).read_text() for name in ("ci.md", "gpu-runners.md")),
    re.DOTALL,
)
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
LEAK = """#include <cuda_runtime.h>
bool f(void **out, size_t n) {
    void *p = nullptr;
    if (cudaMalloc(&p, n) != cudaSuccess) return false;
    return true;
}
"""


def checked(schema: str, path: Path) -> None:
    """That a file is as its host's schema wants it."""
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_form() -> None:
    checked("vendor.github-actions", ROOT / "action.yml")


def test_no_input_is_a_part_of_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert "uses" in step or step["shell"] == "bash"


def test_the_table_of_inputs_is_complete() -> None:
    text = (ROOT / "docs" / "ci.md").read_text()
    assert set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)) == set(ACTION["inputs"])


@pytest.mark.parametrize(
    ("name", "text"),
    EXAMPLES,
    ids=[f"{number}-{name}" for number, (name, _) in enumerate(EXAMPLES)],
)
def test_examples_are_valid(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / Path(name).name
    path.write_text(text, encoding="utf-8")
    if name == ".pre-commit-config.yaml":
        command = [sys.executable, "-m", "pre_commit", "validate-config", str(path)]
        subprocess.run(command, check=True)
        known = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
        (used,) = yaml.safe_load(text)["repos"]
        assert {hook["id"] for hook in used["hooks"]} <= {hook["id"] for hook in known}
    else:
        kind = "gitlab-ci" if name == ".gitlab-ci.yml" else "github-workflows"
        checked(f"vendor.{kind}", path)


class Runner:
    """Runs a composite action's shell steps; other actions are named, not run."""

    def __init__(self, folder: Path, inputs: dict[str, str]) -> None:
        self.workspace, self.temp = folder / "workspace", folder / "temp"
        for one in (self.workspace, self.temp):
            one.mkdir()
        defaults = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
        self.known: dict[str, str] = {
            **{f"inputs.{name}": value for name, value in {**defaults, **inputs}.items()},
            "github.action_path": str(ROOT),
            "runner.temp": str(self.temp),
        }
        self.outputs: dict[str, dict[str, str]] = {}
        self.said = ""

    def run(self, *, without: str = "") -> int:
        """The status of the first step that fails, else 0."""
        for step in ACTION["runs"]["steps"]:
            if "run" in step and step.get("name") != without:
                status = self.step(step)
                if status:
                    return status
        return 0

    def step(self, step: dict[str, Any]) -> int:
        script = self.temp / "script.sh"
        script.write_text(step["run"])
        output = self.temp / "output"
        output.write_text("")
        environment = {key: self.filled(str(one)) for key, one in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace,
            env={**os.environ, "RUNNER_TEMP": str(self.temp), "GITHUB_OUTPUT": str(output),
                 "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                 **environment},
            capture_output=True,
            text=True,
        )  # fmt: skip
        self.said += done.stdout + done.stderr
        pairs = (line.partition("=") for line in output.read_text().splitlines())
        self.outputs[step.get("id", "")] = {name: value for name, _, value in pairs}
        return done.returncode

    def filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda match: self.known[match[1]], text)


@pytest.fixture
def writes_several_reports() -> None:
    command = [sys.executable, "-m", "cudalint", "check", "--help"]
    help_text = subprocess.run(command, capture_output=True, text=True).stdout
    if "--output KIND" not in help_text:
        pytest.skip("cudalint has no --output yet")


def installed(runner: Runner) -> Runner:
    """With the environment of these tests in place of one that is installed anew."""
    (runner.temp / "cudalint").mkdir()
    (runner.temp / "cudalint" / "bin").symlink_to(Path(sys.executable).parent)
    return runner


@pytest.mark.usefixtures("writes_several_reports")
def test_findings_are_annotations_and_fail_the_step(tmp_path: Path) -> None:
    runner = installed(Runner(tmp_path, {"args": "--isolated --no-cache --fail-level info"}))
    (runner.workspace / "leak.cu").write_text(LEAK)
    assert runner.run(without="Install cudalint") == 1, runner.said
    assert re.search(r"^::(warning|error) .*file=leak\.cu,line=4", runner.said, re.MULTILINE)
    assert runner.outputs["lint"]["status"] == "1"
    assert '"GPU101"' in Path(runner.outputs["lint"]["sarif-file"]).read_text(encoding="utf-8")


@pytest.mark.usefixtures("writes_several_reports")
def test_clean_code_and_hostile_inputs(tmp_path: Path) -> None:
    hostile = 'src "$(touch smuggled)" ; touch smuggled'
    runner = installed(Runner(tmp_path, {"paths": "src", "args": "--isolated --no-cache"}))
    (runner.workspace / "src").mkdir()
    (runner.workspace / "src" / "clean.cu").write_text("int main() { return 0; }\n")
    (runner.workspace / "leak.cu").write_text(LEAK)
    assert runner.run(without="Install cudalint") == 0, runner.said
    assert runner.outputs["lint"]["status"] == "0"
    runner.known["inputs.paths"] = hostile
    assert runner.run(without="Install cudalint") == 2
    assert not (runner.workspace / "smuggled").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("writes_several_reports")
@pytest.mark.skipif(
    not os.environ.get("CUDALINT_TEST_INSTALL"),
    reason="installs cudalint into an environment of its own; set CUDALINT_TEST_INSTALL=1",
)
def test_the_whole_action(tmp_path: Path) -> None:
    runner = Runner(tmp_path, {})
    (runner.workspace / "leak.cu").write_text(LEAK)
    assert runner.run() == 1, runner.said
    assert "leak.cu" in runner.said
