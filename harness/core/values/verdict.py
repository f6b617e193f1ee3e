"""The verdict: fail > unknown > pass, the worst wins.

A finding is one broken rule with its events. One without a class is book-keeping and always fails a
run; the others do from the class `fail_on` on. A check is not applicable when its seam is missing;
it is listed, not counted. A run is unknown when no check applied or a check crashed, because a
broken harness is never green.
"""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

VerdictWord = Literal["pass", "unknown", "fail", "not_applicable"]
OutcomeWord = Literal["completed", "failed_truthfully", "limit", "cancelled", "none"]
FindingClass = Literal["defect", "weakness", "advice"]

CLASSES: tuple[FindingClass, ...] = get_args(FindingClass)
"""The classes of findings, the worst one first."""

FAIL_ON: FindingClass = "weakness"
"""The class from which on findings fail a run, where nobody says another one."""


class CrashPlace(msgspec.Struct, frozen=True):
    """Where a target crashed: the innermost line of the user's code, and the error's name."""

    file: str
    line: int
    function: str
    error: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """A broken rule: `code` is `check.rule`, `events` number the events that prove it.

    `class_` is set by the judge; the finding of a plug-in may say its own. Book-keeping has none.
    `follows` is the code of the finding that it follows from, which the judge sets too.
    `place` is that of a crash in the user's code.
    """

    code: str
    message: str
    events: tuple[int, ...] = ()
    class_: FindingClass | Literal[""] = msgspec.field(default="", name="class")
    follows: str = ""
    place: CrashPlace | None = None

    @property
    def check(self) -> str:
        """The check that found it."""
        return self.code.rpartition(".")[0] or self.code

    def fails(self, fail_on: FindingClass) -> bool:
        """Whether it fails a run where findings from this class on do."""
        return not self.class_ or CLASSES.index(self.class_) <= CLASSES.index(fail_on)


LackKind = Literal["", "declared", "unused", "wire", "package"]
"""What a run lacks: a capability that the profile declares absent, or that no run used; a wire on
which no run called the model; a package that is not installed."""


class NotApplicable(msgspec.Struct, frozen=True, omit_defaults=True):
    """A check that could not be asked, and why; of a whole run `check` is `run`.

    `missing` names what a run lacks, and `kind` says what that is.
    """

    check: str
    reason: str
    missing: str = ""
    kind: LackKind = ""


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the checks say of one history.

    `findings` stand from the worst one on; those of a class below `fail_on` do not fail the run.
    `known` are findings that the scenario declares as known defects: reported, not failing.
    `doubts` are the reasons for `unknown`.
    """

    verdict: VerdictWord
    outcome: OutcomeWord = "none"
    findings: tuple[Finding, ...] = ()
    known: tuple[Finding, ...] = ()
    doubts: tuple[str, ...] = ()
    not_applicable: tuple[NotApplicable, ...] = ()
    passed: tuple[str, ...] = ()
    fail_on: FindingClass = FAIL_ON

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings that make it fail."""
        return tuple(finding for finding in self.findings if finding.fails(self.fail_on))

    @property
    def below(self) -> tuple[Finding, ...]:
        """The findings that are reported and do not make it fail."""
        return tuple(finding for finding in self.findings if not finding.fails(self.fail_on))


def worst(*words: VerdictWord) -> VerdictWord:
    """The worst of some verdicts; `unknown` of none."""
    order: tuple[VerdictWord, ...] = ("fail", "unknown", "pass")
    return next((word for word in order if word in words), "unknown")


EXIT_STATUS: dict[VerdictWord, int] = {"pass": 0, "fail": 1, "unknown": 3}
