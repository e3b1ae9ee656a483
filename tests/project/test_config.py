"""Which configuration is found, how it is checked, and what wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cudalint.commands.config import descriptions
from cudalint.project.config import ConfigurationError, load
from cudalint.project.settings import KEYS, Settings


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file.absolute()


def refusal(**arguments: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(**arguments)
    return str(caught.value)


def test_defaults_without_a_file() -> None:
    configuration = load([Path()])
    assert configuration.settings == Settings()
    assert configuration.file is None
    assert configuration.origin("select") == "default"


@pytest.mark.parametrize("name", ["cudalint.toml", ".cudalint.toml"])
def test_own_files_need_no_prefix(name: str) -> None:
    file = write(name, 'select = ["GPU1"]\nfail-level = "error"\n')
    configuration = load([Path()])
    assert configuration.settings.select == ("GPU1",)
    assert configuration.settings.fail_level == "error"
    assert configuration.origin("select") == str(file)
    assert configuration.root == Path.cwd()


def test_the_nearest_ancestor_wins_and_foreign_pyprojects_do_not_count() -> None:
    write("pyproject.toml", "[tool.cudalint]\npreview = true\n")
    write("a/pyproject.toml", "[tool.other]\n")
    write("a/b/x.cu", "")
    assert load([Path("a/b/x.cu")]).settings.preview
    near = write("a/b/cudalint.toml", "preview = false\n")
    assert load([Path("a/b/x.cu")]).file == near
    assert load([Path("a/b/x.cu"), Path("a")]).settings.preview
    assert load([Path("a/b/x.cu")], isolated=True).settings == Settings()


def test_an_unknown_key_is_refused_with_key_file_and_nearest() -> None:
    file = write("pyproject.toml", "[tool.cudalint]\nfail_levl = 'error'\n")
    message = refusal(paths=[Path()])
    assert message == (
        f"{file}: unknown key `tool.cudalint.fail_levl`; did you mean `tool.cudalint.fail-level`?"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select = 3", "`select`: expected `array`, got `int`"),
        ("jobs = 0", "`jobs`: expected `int` >= 1"),
        ("time-limit = -1", "`time-limit`: expected `float` > 0.0"),
        (
            "fail-level = 'fatal'",
            "`fail-level`: invalid enum value 'fatal'; it is one of error, warning, info",
        ),
        (
            "severity = {GPU101 = 'bad'}",
            "`severity.GPU101`: there is no severity `bad`; it is one of error, warning, info",
        ),
        (
            "severity = {GPU101 = 'Off'}",
            "`severity.GPU101`: there is no severity `Off`; it is one of error, warning, info; "
            "`ignore` turns a rule off",
        ),
        ("preview = 'yes'", "`preview`: expected `bool`, got `str`"),
        ("select = [", "is not valid TOML"),
    ],
)
def test_wrong_values_are_refused(text: str, expected: str) -> None:
    file = write("cudalint.toml", text)
    message = refusal(paths=[Path()])
    assert message.startswith(f"{file}: ") and expected in message


def test_a_file_that_is_not_text_is_refused() -> None:
    Path("cudalint.toml").write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8" in refusal(paths=[Path()])


def test_pairs_and_files_on_the_command_line() -> None:
    file = write("other/my.toml", 'select = ["GPU1"]\nmodels = ["m.toml"]\n')
    write("cudalint.toml", 'select = ["GPU2"]\n')
    configuration = load(
        [Path()],
        config=["other/my.toml", "device-memory=3GiB", 'severity.GPU101="error"', "jobs=2"],
        overrides={"preview": True},
    )
    settings = configuration.settings
    assert settings.select == ("GPU1",)
    assert settings.device_memory == "3GiB"
    assert settings.severity == {"GPU101": "error"}
    assert settings.jobs == 2
    assert settings.preview
    assert settings.models == (str(file.parent / "m.toml"),)
    assert configuration.origin("preview") == "command line"
    assert configuration.origin("jobs") == "--config jobs"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("nowhere.toml", "--config nowhere.toml: no such file, and not KEY=VALUE"),
        ("slect=['GPU1']", "--config: unknown key `slect`; did you mean `select`?"),
        ("a b=1", "--config a b=1: is neither a file nor KEY=VALUE in TOML"),
    ],
)
def test_wrong_entries_on_the_command_line(entry: str, expected: str) -> None:
    assert refusal(config=[entry]) == expected


def test_a_later_select_starts_anew_and_lists_that_extend_are_joined() -> None:
    write("cudalint.toml", 'ignore = ["GPU101"]\nextend-exclude = ["a"]\ndefines = ["A"]\n')
    joined = load([Path()], overrides={"ignore": ["GPU102"], "extend-exclude": ["b"]})
    assert joined.settings.ignore == ("GPU101", "GPU102")
    assert joined.settings.extend_exclude == ("a", "b")
    anew = load([Path()], overrides={"select": ["GPU101"]})
    assert anew.settings.ignore == ()
    assert anew.settings.defines == ("A",)


def test_tables_are_merged() -> None:
    write("cudalint.toml", '[per-file-ignores]\n"tests/**" = "GPU1"\n"a.cu" = ["GPU2"]\n')
    settings = load([Path()], overrides={"per-file-ignores": {"a.cu": ["GPU3"]}}).settings
    assert settings.per_file_ignores == {"tests/**": ("GPU1",), "a.cu": ("GPU3",)}


def test_every_key_has_a_description() -> None:
    assert set(descriptions()) == set(KEYS)
