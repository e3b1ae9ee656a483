"""GPU205: an implicit copy of an owning class frees twice."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint_rules._wording import listing, places, quoted


class CopyableOwner(FunctionRule):
    """An implicit copy of an owning class frees twice.

    ## What it does

    Finds classes whose destructor releases a member while the compiler writes their copy
    constructor or copy assignment, and reports the places that really copy such an object: passing
    it by value, `Buffer b = a;`, `b = a;`, storing it in a container by copy. Reports copy and move
    constructors and assignments written by hand, too, that leave the pointer with the other object.

    ## Why is this bad?

    The copy holds the same pointer. Whichever object dies first releases it; the other one works on
    memory that is gone, and releases it again. An assignment also loses what the target owned.

    ## Example

    ```cuda
    struct Volume {
        float* data;
        explicit Volume(size_t n) { cudaMalloc(&data, n * sizeof(float)); }
        ~Volume() { cudaFree(data); }
    };
    void smooth(Volume volume);  // by value
    smooth(scan);
    ```

    ## Use instead

    ```cuda
    struct Volume {
        Volume(const Volume&) = delete;
        Volume& operator=(const Volume&) = delete;
        ...
    };
    void smooth(const Volume& volume);
    ```

    Define move operations where ownership shall travel, or hold the pointer in a
    `std::unique_ptr` with a deleter: then the compiler's versions are right.

    ## Known problems

    A class that could be copied, but is not copied anywhere in the run, is not reported, unless a
    header declares it, whose other users are not known: then it is information of low confidence
    (`--preview`). A class that counts its references by hand and copies its members as they are is
    reported.

    ## References

    - C++ Core Guidelines,
      [C.21: define or delete all copy, move and destructor functions](https://isocpp.github.io/CppCoreGuidelines/CppCoreGuidelines#Rc-five)
    """

    code, name = "GPU205", "copyable-owner"
    preview = True

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the copies of owners."""
        for copy in facts.copies:
            owner = quoted(copy.record.name)
            members = listing(map(quoted, copy.members))
            destructor = f"the destructor of {owner}"
            steps: tuple[Step, ...] = ()
            if copy.destructor:
                destructor += f" ({places([copy.destructor], facts.filename)})"
                site = copy.destructor
                steps = (Step(site.filename, site.span, f"the destructor releases {members}"),)
            what = f"{copy.what} copies only the pointer {members}, which {destructor} then "
            if not copy.what:
                what = f"a copy of {owner}, which nothing forbids, has the same {members}, which "
                what += f"{destructor} then "
            yield self.finding(
                f"{what}releases twice",
                filename=facts.filename if copy.what else copy.record.filename,
                span=copy.span,
                function=facts.function,
                subject=copy.record.name,
                steps=steps,
                severity=None if copy.what else Severity.INFO,
                confidence=None if copy.what else Confidence.LOW,
            )
