"""GPU105: a class acquires into a member that its destructor does not release."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import ClassFacts, MemberAcquisition, memory_of, part_of
from cudalint.analysis.rules import ClassRule
from cudalint.findings.finding import Confidence, Defect, Finding, Severity, Step
from cudalint_rules._members import (
    dies_with_context,
    evidence,
    excuse_of,
    release_of,
    shown,
    siblings,
)
from cudalint_rules._wording import quoted, steps_at


class MemberLeak(ClassRule):
    """A class acquires into a member that its destructor does not release.

    ## What it does

    Looks at a class as a whole, across the files of a run: which members its methods acquire, and
    which of them the destructor (in Python `close`, `__exit__` or `__del__`), or anything that it
    calls, releases. A C struct that one function fills and another one empties counts as a class.

    It reports a member that nothing releases, be it because the others are released and this one
    was forgotten, or because the class has no clean-up at all. It is `info` where the program
    acquires it once: no more is ever lost than that.

    ## Why is this bad?

    Every object takes the memory with it when it dies. The constructor, `resize` and the destructor
    tend to stand in different files, and a member that is added later is easily left out of one.

    ## Example

    ```cuda
    Layer::Layer(size_t n) {
        cudaMalloc(&weights_, n * sizeof(float));
        cudaMalloc(&bias_, n * sizeof(float));
    }
    Layer::~Layer() { cudaFree(weights_); }
    ```

    ```python
    class Renderer:
        def __init__(self, size):
            err, self.frame = cudart.cudaMalloc(size)
            err, self.stream = cudart.cudaStreamCreate()

        def close(self):
            cudart.cudaFree(self.frame)
    ```

    ## Use instead

    ```cuda
    Layer::~Layer() {
        cudaFree(bias_);
        cudaFree(weights_);
    }
    ```

    ```python
    def close(self):
        cudart.cudaStreamDestroy(self.stream)
        cudart.cudaFree(self.frame)
    ```

    ## Fix

    - Unsafe: the release is added behind that of a sibling in the same file, written as that one
      is, or in C++ at the end of the destructor. An object that is copied frees twice from then on.
      There is none where a constructor throws with what it has acquired: no destructor runs then.

    ## Known problems

    A class with a release method that its destructor does not call leaves the moment of release to
    its user; it is not reported, whether or not the user ever calls that method. Neither is a class
    whose destructor is declared but not part of the run. One without a destructor that a function
    is, or may be, given whose body is not part of it is told of with low confidence (`--preview`):
    lint all files of a C library to judge its structs. Nothing is said of a template's ninth
    instance, of a handle whose place is deleted, or where too many paths may release (`GPU002`).

    ## References

    - CUDA C++ Programming Guide,
      [Device Memory](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#device-memory)
    - C++ Core Guidelines,
      [C.31: a class's destructor releases what the class acquired](https://isocpp.github.io/CppCoreGuidelines/CppCoreGuidelines#Rc-dtor-release)
    """

    code, name = "GPU105", "member-leak"

    def check(self, facts: ClassFacts) -> Iterator[Finding]:
        """Yield one finding for each member that is never released."""
        members: dict[str, list[MemberAcquisition]] = {}
        for acquired in facts.unreleased():
            members.setdefault(part_of(acquired.member), []).append(acquired)
        for member, acquisitions in members.items():
            if not dies_with_context(acquisitions, facts):
                yield self._finding(member, acquisitions, facts)

    def _finding(
        self, member: str, acquisitions: list[MemberAcquisition], facts: ClassFacts
    ) -> Finding:
        first, *others = acquisitions
        resource = first.resource
        others_released = siblings(member, facts)
        by_function, is_last = first.method_kind == "function", member in facts.replaced
        held = memory_of(member)
        kept = "" if held in resource.name.replace("->", ".") else f", kept in {quoted(held)},"
        destructor = (facts.destructor,) if facts.destructor else ()
        excuse = excuse_of(acquisitions, facts)
        why = f"; {excuse}" if excuse else ""
        how = "not always" if member in facts.sometimes else "never"
        owner = quoted(facts.record.name)
        return self.finding(
            f"{'the last ' if is_last else ''}{resource}{kept} is {how} released by {owner}"
            f"{evidence(member, others_released, facts, resource.filename, by_function)}{why}",
            filename=resource.filename,
            span=resource.span,
            function=first.method,
            subject=f"{facts.record.name}.{member}",
            steps=(
                *(
                    Step(a.resource.filename, a.resource.span, f"acquired in {a.method} too")
                    for a in others
                ),
                *steps_at(destructor, "{text} does not release it"),
                *steps_at(
                    shown(others_released, facts), "{text} releases a sibling here", aside=True
                ),
            ),
            severity=None if excuse is None else Severity.INFO,
            confidence=_confidence(facts, by_function and not others_released),
            defect=Defect(f"{facts.record.name}: {how}", facts.record.span, held, is_last),
            repair=release_of(member, acquisitions, others_released, facts),
        )


def _confidence(facts: ClassFacts, by_caller: bool) -> Confidence | None:
    """A struct that no function of the run empties may be emptied by a caller outside it."""
    if facts.taken:
        return Confidence.LOW
    return Confidence.MEDIUM if by_caller else None
