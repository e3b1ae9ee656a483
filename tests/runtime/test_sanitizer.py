"""Reading what compute-sanitizer saves, and asking it for a second opinion."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.verdict import Evidence
from cudalint.runtime.devices import Gpu, Simulated
from cudalint.runtime.faults import Fault
from cudalint.runtime.processes import ProcessLimits
from cudalint.runtime.question import Question
from cudalint.runtime.sanitizer import Record, SanitizerError, find_sanitizer, parse, run_sanitizer
from cudalint.runtime.second_witness import SecondWitness, agrees
from cudalint.runtime.sweep import Prepared
from cudalint.source import Span

LEAK = """
  <record>
    <kind>Leak</kind>
    <what><text>Leaked 640 bytes</text><address>0x7f0000000200</address><size>640</size></what>
    <hostStack>
      <saveLocation>allocation time</saveLocation>
      <frame><func>cuMemAlloc_v2</func><pc>0x32</pc><module>/lib/libcuda.so.1</module></frame>
      <frame><func>load&lt;float&gt;</func><path>FILE</path><line>12</line><pc>0x10</pc></frame>
      <frame><func>main</func><path>FILE</path><line>30</line></frame>
    </hostStack>
  </record>"""
ACCESS = """
  <record>
    <kind>Precise</kind><level>Error</level>
    <who><threadIdx><x>1</x><y>0</y><z>0</z></threadIdx></who>
    <what><text>Invalid __global__ read of size 8 bytes</text><size>8</size></what>
    <where><func>blur</func><path>FILE</path><line>5</line><pc>0x80</pc></where>
    <hostStack><frame><func>main</func><path>FILE</path><line>31</line></frame></hostStack>
  </record>"""
REFUSED = """
  <record>
    <kind>Api</kind>
    <what><text>Program hit an error on CUDA API call to cudaFree.</text><api>cudaFree</api></what>
    <hostStack><frame><func>main</func><path>FILE</path><line>33</line></frame></hostStack>
  </record>"""


def report(*records: str, file: str = "/src/image.cu") -> bytes:
    body = "".join(records).replace("FILE", file)
    head = '<?xml version="1.0" encoding="utf-8"?>\n'
    return f"{head}<ComputeSanitizerOutput>{body}\n</ComputeSanitizerOutput>".encode()


def test_a_leak_has_bytes_and_lines() -> None:
    (leak,) = parse(report(LEAK))
    assert (leak.kind, leak.message, leak.bytes) == ("Leak", "Leaked 640 bytes", 640)
    assert [(f.function, f.line) for f in leak.stack if f.line] == [
        ("load<float>", 12),
        ("main", 30),
    ]
    assert leak.stack[0].module == "/lib/libcuda.so.1"
    assert leak.device is None


def test_an_access_has_its_place_in_the_kernel_and_the_launch() -> None:
    access, refused = parse(report(ACCESS, REFUSED))
    assert access.device is not None
    assert (access.device.function, access.device.line) == ("blur", 5)
    assert access.stack[0].line == 31
    assert (refused.api, refused.bytes) == ("cudaFree", None)


def test_nothing_is_found_in_a_clean_report() -> None:
    assert parse(report()) == ()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no XML"),
        (b"========= ERROR SUMMARY: 0 errors", "no XML"),
        (report(LEAK)[:-40], "no XML"),
        (report(LEAK).replace(b"</record>", b"</other>"), "no XML"),
        (b"\xff\xfe<", "no XML"),
        (b"<html></html>", "begins with <html>"),
        (
            b'<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><ComputeSanitizerOutput/>',
            "declares a document type",
        ),
        (
            b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><ComputeSanitizerOutput/>',
            "declares a document type",
        ),
        (b"<ComputeSanitizerOutput>" + b"<a>" * 5000, "nested too deeply"),
    ],
)
def test_what_is_broken_or_hostile_is_a_clear_error(data: bytes, why: str) -> None:
    with pytest.raises(SanitizerError, match=why):
        parse(data)


def test_numbers_that_are_none_are_left_out() -> None:
    odd = LEAK.replace("<size>640</size>", "<size>-1</size>").replace(">12<", ">twelve<")
    (leak,) = parse(report(odd))
    assert leak.bytes is None
    assert [frame.line for frame in leak.stack] == [0, 0, 30]


def test_ten_thousand_records_are_enough() -> None:
    assert len(parse(report("<record><kind>Leak</kind></record>" * 10_050))) == 10_000


# The witness ------------------------------------------------------------------------------------


def question(code: str, file: Path, row: int) -> Question:
    span = Span(row, 1, row, 9)
    return Question.of(
        Finding(code, "x", Severity.ERROR, Confidence.HIGH, "m", str(file), span, "f", "p")
    )


def tool(folder: Path, *lines: str) -> Path:
    """A compute-sanitizer of our own: it saves what a file says."""
    script = folder / "compute-sanitizer"
    body = "\n".join(lines)
    script.write_text(f"#!{sys.executable}\nimport os, sys, time\nargs = sys.argv[1:]\n{body}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


SAVE = "open(args[args.index('--save') + 1], 'wb').write(open(os.environ['REPORT'], 'rb').read())"


def witness(folder: Path, text: bytes, *lines: str) -> SecondWitness:
    (folder / "report").write_bytes(text)
    gpu = Gpu("a GPU", "sm_90", 1 << 30, sanitizer=tool(folder, *(lines or (SAVE,))))
    ready = Prepared(("./program",), {"REPORT": str(folder / "report")}, seconds=5)
    return SecondWitness(ready, gpu)


def test_it_confirms_the_leak_on_the_same_line(tmp_path: Path) -> None:
    source = tmp_path / "image.cu"
    source.write_text("\n" * 40)
    asked = witness(tmp_path, report(LEAK, file=str(source)))
    first = Evidence("640 bytes not released", "x fails", "x")
    (second,) = asked.evidence(question("GPU102", source, 12), first, None)
    assert second.witness == "compute-sanitizer"
    assert (second.bytes, second.run, second.fault) == (640, "x fails", "x")
    assert second.stack[0].endswith("image.cu:12 (load<float>)")
    assert asked.evidence(question("GPU102", source, 14), first, None) == []
    assert asked.evidence(question("GPU407", source, 12), first, None) == []


def test_it_is_told_which_call_fails(tmp_path: Path) -> None:
    asked = witness(tmp_path, report(LEAK), "assert 'call=7' in os.environ['CUDALINT_FAULT']", SAVE)
    assert len(asked.records(Fault(call=7))) == 1
    with pytest.raises(SanitizerError, match="saved no report"):
        asked.records(None)


def test_without_the_tool_or_a_gpu_there_is_no_second_witness(tmp_path: Path) -> None:
    first = Evidence("lost")
    for device in (Gpu("a GPU", "sm_90", 1 << 30), Simulated()):
        asked = SecondWitness(Prepared(("./program",)), device)
        assert asked.evidence(question("GPU101", tmp_path / "a.cu", 1), first, None) == []


def test_a_leak_is_no_witness_of_a_double_free(tmp_path: Path) -> None:
    source = tmp_path / "image.cu"
    source.write_text("\n" * 40)
    leak, access, refused = parse(report(LEAK, ACCESS, REFUSED, file=str(source)))
    assert not agrees(question("GPU201", source, 12), leak)
    assert agrees(question("GPU201", source, 33), refused)
    assert agrees(question("GPU202", source, 31), access)
    assert agrees(question("GPU305", source, 5), access)
    assert not agrees(question("GPU101", source, 33), refused)
    assert agrees(question("GPU205", source, 1), refused)
    assert not agrees(question("GPU205", source, 1), Record("Api", "", api="cudaMemcpy"))


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("print('Error: Device not supported')",), "Error: Device not supported"),
        (("sys.exit(3)",), "it said: nothing"),
        (("time.sleep(60)",), "time limit"),
        (("open(args[args.index('--save') + 1], 'w').write('<a')",), "no XML"),
    ],
)
def test_a_tool_that_fails_says_why(tmp_path: Path, lines: tuple[str, ...], why: str) -> None:
    with pytest.raises(SanitizerError, match=why):
        run_sanitizer(
            tool(tmp_path, *lines),
            ["./program"],
            environment=dict(os.environ),
            limits=ProcessLimits(seconds=1.5),
        )


def test_another_tool_does_not_stand_in_its_place(tmp_path: Path) -> None:
    script = tool(tmp_path, "assert 'CUDA_INJECTION64_PATH' not in os.environ", SAVE)
    (tmp_path / "report").write_bytes(report())
    environment = {
        **os.environ,
        "CUDA_INJECTION64_PATH": "/x.so",
        "REPORT": str(tmp_path / "report"),
    }
    found = run_sanitizer(script, ["a"], environment=environment, limits=ProcessLimits(seconds=20))
    assert found == ()


def test_it_is_found_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tool(tmp_path, SAVE)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert find_sanitizer() == script
