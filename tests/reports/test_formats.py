"""Each format: how it looks, what hostile names do to it, and that others read it."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest
from junitparser import JUnitXml
from syrupy.assertion import SnapshotAssertion

from cudalint.cli import main
from cudalint.findings.finding import Severity
from cudalint.project.settings import OutputFormat
from cudalint.reports import formats, github, gitlab, html, junit, markdown, schema
from cudalint.reports import json as json_report
from cudalint.reports.report import Report
from cudalint.reports.style import Style, escaped
from tests.reports.samples import (
    HOSTILE,
    HOSTILE_NAMES,
    IN_CELLS,
    LEAK,
    ORDINARY,
    SAMPLES,
    SUPPRESSED,
    WIDE,
)
from tests.reports.test_sarif import validators


def render(kind: str, report: Report) -> str:
    return formats.render(kind, report, Style())


def test_the_settings_know_every_format() -> None:
    assert tuple(formats.FORMATS) == get_args(OutputFormat)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("kind", [kind for kind in formats.FORMATS if kind != "html"])
def test_how_it_looks(kind: str, sample: str, snapshot: SnapshotAssertion) -> None:
    assert render(kind, SAMPLES[sample]) == snapshot


@pytest.mark.parametrize("kind", formats.FORMATS)
def test_an_empty_report(kind: str) -> None:
    assert isinstance(render(kind, Report()), str)


@pytest.mark.parametrize("kind", ["full", "concise", "github", "junit", "markdown", "html"])
def test_nothing_that_a_terminal_obeys(kind: str) -> None:
    rendered = render(kind, HOSTILE)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202e\u2028]", rendered)


# JSON -------------------------------------------------------------------------------------------


def test_the_published_schema_is_current(pytestconfig: pytest.Config) -> None:
    published = (pytestconfig.rootpath / "docs" / "report.schema.json").read_text("utf-8")
    assert published == schema.schema_text(), (
        "python -m cudalint.reports.schema > docs/report.schema.json"
    )


def validator(name: str = "JsonReport") -> Any:
    published = schema.json_schema()
    jsonschema.Draft202012Validator.check_schema(published)
    return jsonschema.Draft202012Validator({**published, "$ref": f"#/$defs/{name}"})


@pytest.mark.parametrize("sample", SAMPLES)
def test_json_is_what_its_schema_says(sample: str) -> None:
    data = json.loads(render("json", SAMPLES[sample]))
    validator().validate(data)
    assert data["summary"]["listed"] == len(data["findings"])
    assert data["summary"]["listed"] == data["summary"]["findings"] + data["summary"]["suppressed"]
    again = msgspec.json.decode(render("json", SAMPLES[sample]), type=schema.JsonReport)
    assert again == json_report.as_data(SAMPLES[sample])


@pytest.mark.parametrize("key", ["findings", "summary", "schema_version"])
def test_the_schema_misses_what_is_missing(key: str) -> None:
    data = json.loads(render("json", ORDINARY))
    del data[key]
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(data)


@pytest.mark.parametrize("sample", SAMPLES)
def test_json_lines(sample: str) -> None:
    report = SAMPLES[sample]
    lines = [json.loads(line) for line in render("json-lines", report).split("\n")[:-1]]
    names = {"finding": "FindingLine", "error": "ErrorLine", "summary": "SummaryLine"}
    for line in lines:
        validator(names[line["type"]]).validate(line)
    kinds = [line.pop("type") for line in lines]
    count = len(report.findings), len(report.errors)
    assert kinds == ["finding"] * count[0] + ["error"] * count[1] + ["summary"]
    whole = json.loads(render("json", report))
    assert [*whole["findings"], *whole["errors"], whole["summary"]] == lines


# GitHub -----------------------------------------------------------------------------------------

COMMAND = re.compile(r"::(?P<name>\w+)(?: (?P<properties>[^:]*))?::(?P<message>.*)")


def commands(rendered: str) -> list[tuple[str, dict[str, str], str]]:
    """As GitHub's runner reads them."""

    def text(escaped: str) -> str:
        for code in ("%0D", "%0A", "%3A", "%2C", "%25"):
            escaped = escaped.replace(code, chr(int(code[1:], 16)))
        return escaped

    found = []
    for line in rendered.splitlines():
        if match := COMMAND.match(line.lstrip()):
            pairs = (pair.split("=", 1) for pair in (match["properties"] or "").split(",") if pair)
            properties = {key: text(value) for key, value in pairs}
            found.append((match["name"], properties, text(match["message"])))
        else:
            assert "##[" not in line
    return found


def test_github_annotates_the_lines() -> None:
    (error, double, leak, wide) = commands(github.render(ORDINARY))
    assert error == (
        "error", {"file": "sub/src/bad.cu"}, "cannot lint: is binary (it contains NUL bytes)",
    )  # fmt: skip
    assert double[0] == "error" and double[2] == "`d_in` is released twice [confirmed]"
    assert leak[:2] == (
        "warning",
        {
            "title": "GPU990 example-leak", "file": "sub/src/blur.cu", "line": "5", "endLine": "5",
            "col": "6", "endColumn": "42",
        },
    )  # fmt: skip
    assert wide[0] == "notice"


def test_github_is_told_no_more_than_it_shows() -> None:
    certain = [
        dataclasses.replace(LEAK, fingerprint=str(number), defect=None) for number in range(12)
    ]
    uncertain = [dataclasses.replace(WIDE, severity=Severity.WARNING) for _ in range(3)]
    infos = [WIDE] * 20
    rendered = github.render(Report((*uncertain, *infos, *certain), sources=ORDINARY.sources))
    told = commands(rendered)
    names = [name for name, _, _ in told]
    assert (names.count("error"), names.count("warning"), names.count("notice")) == (0, 10, 10)
    assert all("GPU990" in properties["title"] for _, properties, _ in told[:10])
    assert told[-1][2] == "16 further findings in the log: GPU992 14, GPU990 2"
    assert sum(line.startswith("- ") for line in rendered.splitlines()) == 16


def test_github_is_not_commanded_by_names() -> None:
    told = commands(github.render(HOSTILE))
    assert [properties["file"] for name, properties, _ in told if name == "warning"] == [
        f"sub/{escaped(name)}" for name in HOSTILE_NAMES[:10]
    ]
    assert {name for name, _, _ in told} == {"error", "warning", "notice"}


# GitLab -----------------------------------------------------------------------------------------


def test_gitlab_has_what_its_widget_needs() -> None:
    entries = json.loads(gitlab.render(ORDINARY))
    assert [one["check_name"] for one in entries] == ["cannot-lint", "GPU990", "GPU992", "GPU991"]
    assert [one["severity"] for one in entries] == ["blocker", "major", "info", "critical"]
    for one in entries:
        assert one["description"] and one["location"]["path"].startswith("sub/src/")
        assert one["location"]["lines"]["begin"] >= 1
    twice = Report((LEAK, dataclasses.replace(LEAK, confidence=LEAK.confidence.LOW)))
    prints = [one["fingerprint"] for one in json.loads(gitlab.render(twice))]
    assert len(set(prints)) == 2 and prints[0] == LEAK.fingerprint


# JUnit ------------------------------------------------------------------------------------------


def shown(text: str) -> str:
    return escaped(text).replace("\ufffe", "\ufffd")


@pytest.mark.parametrize("sample", SAMPLES)
def test_junit_read_back(sample: str) -> None:
    report = SAMPLES[sample]
    rendered = junit.render(report)
    suites = JUnitXml.fromstring(rendered.encode())
    (suite,) = suites
    cases = list(suite)
    assert suites.tests == suite.tests == len(cases) == len(report.findings) + len(report.errors)
    assert suite.errors == len(report.errors)
    for case, error in zip(cases, report.errors, strict=False):
        assert case.classname == shown(error.filename) and case.result[0].type == "cannot-lint"
    fails = [one for one in report.active if one.severity is not Severity.INFO]
    assert suite.failures == len(fails)
    assert suite.skipped == report.suppressed
    found = cases[len(report.errors) :]
    for case, finding in zip(found, report.findings, strict=True):
        source = report.sources.get(finding.filename)
        row = source.place(finding.span.row)[1] if source else finding.span.row
        assert case.classname == shown(finding.filename)
        assert case.name.startswith(f"{finding.code} {finding.name} at ")
        assert case.name.endswith(f"{row}:{finding.span.column}")
        kinds = [(type(one).__name__, one.type) for one in case.result]
        if finding.suppressed:
            assert kinds == [("Skipped", None)]
        elif finding.severity is Severity.INFO:
            assert kinds == [] and shown(finding.message) in case.system_out
        else:
            assert kinds == [("Failure", finding.severity.value)]
            assert shown(finding.message) in case.result[0].text


def test_junit_of_a_clean_run_is_a_test_that_passed() -> None:
    root = ElementTree.fromstring(junit.render(Report(files=3)))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_junit_fails_what_fails_the_run() -> None:
    strict = dataclasses.replace(ORDINARY, fail_level=Severity.INFO)
    lax = dataclasses.replace(ORDINARY, fail_level=Severity.ERROR)
    assert [
        ElementTree.fromstring(junit.render(report)).get("failures") for report in (strict, lax)
    ] == ["3", "1"]


# Markdown ---------------------------------------------------------------------------------------


def test_a_markdown_table_has_a_row_for_each_finding() -> None:
    for report in SAMPLES.values():
        rows = [line for line in markdown.render(report).splitlines() if line.startswith("| ")]
        assert len(rows) == 2 + len(report.active)
        for row in rows:
            assert len(re.findall(r"(?<!\\)\|", row)) == 5
    many = markdown.render(Report((WIDE,) * 5000))
    assert "And 4000 further findings." in many and len(many.encode()) < 2**20


def test_files_in_part_are_summed_up_on_hosts() -> None:
    lacking = tuple(
        dataclasses.replace(WIDE, code="GPU002", filename=f"{number}.cu", missing=("a|b.h",))
        for number in range(12)
    )
    report = Report((LEAK, *lacking), sources=ORDINARY.sources)
    for rendered in (github.render(report), markdown.render(report)):
        assert "12 files were read only in part" in rendered and "7.cu" not in rendered
        assert rendered.count("GPU990") == 1


# HTML: the browser's view is in test_html_browser.py --------------------------------------------


def data_of(page: str) -> Any:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(text)


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_the_page_is_drawn_from(sample: str, snapshot: SnapshotAssertion) -> None:
    assert data_of(html.render(SAMPLES[sample])) == snapshot


def test_the_page_runs_nothing_but_its_own_script() -> None:
    page = html.render(HOSTILE)
    assert page.count("<script") == page.count("</script>") == 2
    assert "<!--" not in page and "unsafe-eval" not in page
    own = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert not re.search(r"<(link|iframe|img|object|embed|base)\b|@import|\bsrc\s*=|url\(", own)
    assert "default-src 'none'" in own


def test_the_page_links_to_the_web_only() -> None:
    evil = dataclasses.replace(ORDINARY, documentation="javascript:alert(1)//")
    assert "url" not in data_of(html.render(evil))["rules"]["GPU990"]
    assert data_of(html.render(ORDINARY))["rules"]["GPU990"]["url"].endswith("/rules/GPU990/")


def test_long_lines_of_the_page_are_cut_around_the_mark() -> None:
    from cudalint.source import Source
    from tests.reports.samples import at

    source = Source("long.cu", "x" * 100_000 + "HERE" + "y" * 100_000)
    finding = dataclasses.replace(WIDE, filename="long.cu", span=at(source, 1, "HERE"))
    data = data_of(html.render(Report((finding,), sources={"long.cu": source})))
    line = data["sources"][0]["lines"]["1"]
    start = data["findings"][0]["notes"][0]["column"] - 1 - line["first"]
    assert line["text"][start : start + 4] == "HERE" and len(line["text"]) <= 400


def test_suppressed_ones_are_marked() -> None:
    data = data_of(html.render(ORDINARY))
    assert [one.get("suppressed") for one in data["findings"]] == [
        one.suppressed for one in ORDINARY.findings
    ]
    assert SUPPRESSED.suppressed in [one.get("suppressed") for one in data["findings"]]
    assert data_of(html.render(IN_CELLS))["findings"][0]["place"] == "train.ipynb:cell 3:1:9"


# Real output ------------------------------------------------------------------------------------


def test_real_output_is_what_the_schemas_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.chdir(pytestconfig.rootpath / "fixtures")
    sources = [
        "GPU102-early-exit-leak/bad_plain_ifs.cu",
        "GPU102-early-exit-leak/bad_notebook_magics.ipynb",
        "GPU103-exception-leak/bad_helper_between.py",
    ]
    kinds = ("json", "json-lines", "sarif")
    outputs = [f"--output={kind}={tmp_path / kind}" for kind in kinds]
    main(["--isolated", "--no-cache", "--footprint", "--quiet", *outputs, *sources])
    data = json.loads((tmp_path / "json").read_text("utf-8"))
    validator().validate(data)
    assert data["summary"]["listed"] == len(data["findings"]) >= 2
    assert data["footprint"]
    lines = (tmp_path / "json-lines").read_text("utf-8").splitlines()
    assert len(lines) == len(data["findings"]) + 1
    log = json.loads((tmp_path / "sarif").read_text("utf-8"))
    for one in validators():
        one.validate(log)
    places = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in log["runs"][0]["results"]
    ]
    assert places == [f"fixtures/{finding['filename']}" for finding in data["findings"]]
