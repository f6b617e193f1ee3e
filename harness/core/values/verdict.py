"""The verdict: fail > unknown > pass; the worst one counts.

A finding is one broken rule with its events. A finding without a class is book-keeping and always
fails a run. A finding with a class fails a run if the class is `fail_on` or worse. A check is not
applicable if its seam is missing; it is listed, not counted. A run is unknown if no check applied
or a check crashed, because a broken harness must not give a pass.

Two findings are the same one if their keys are equal, everywhere.

A key is the code, the place and the cause. The place has no number of an event, so a change of the
agent elsewhere keeps it; the cause holds values that the check gives, never a text. A screen folds
findings by code and cause alone.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import msgspec


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """What tells two findings of one code apart.

    `tool` is the tool that it is about, and `fault` the kind of the fault that the agent met.
    `error` is the name of an exception, and `source` the file and function that raised it.
    `subject` is what else the rule names: a key of `expect`, an address, a part of a request, where
    a message is missing.
    """

    tool: str = ""
    fault: str = ""
    error: str = ""
    source: str = ""
    subject: str = ""

    def __reduce__(self) -> str | tuple[Any, ...]:
        # JSON leaves the default out by identity, so a worker must give back the same object.
        return "NO_CAUSE" if self is NO_CAUSE else super().__reduce__()


NO_CAUSE = Cause()


class Place(NamedTuple):
    """Where a finding stands: the scenario, its variant (`baseline`, `VARIANT@WIRE+stream`), the
    session, and the seam of the call that proves it."""

    scenario: str
    variant: str
    session: str
    seam: str


class FindingKey(NamedTuple):
    """The identity of a finding."""

    code: str
    place: Place
    cause: Cause


VerdictWord = Literal["pass", "unknown", "fail", "not_applicable"]
OutcomeWord = Literal["completed", "failed_truthfully", "limit", "cancelled", "none"]
FindingClass = Literal["defect", "weakness", "advice"]

CLASSES: tuple[FindingClass, ...] = get_args(FindingClass)
"""The classes of findings, the worst one first."""

FAIL_ON: FindingClass = "weakness"
"""The default class from which findings fail a run."""

BOOK_KEEPING = frozenset({"target", "run", "limit", "script", "cassette", "expect"})
"""The checks of the run itself and of its expectations: their findings have no class."""


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

    The judge sets `class_`; the finding of a plug-in may bring its own. Book-keeping has no class.
    `follows` is the code of the finding that caused it; the judge sets it too. `place` is the
    location of a crash in the user's code. `cause` tells findings of one code apart: the check
    names what only it knows, and the judge reads the rest from the events. `session` and `seam` say
    where the proof stands; the judge reads them there too.
    """

    code: str
    message: str
    events: tuple[int, ...] = ()
    class_: FindingClass | Literal[""] = msgspec.field(default="", name="class")
    follows: str = ""
    place: CrashPlace | None = None
    cause: Cause = NO_CAUSE
    session: str = ""
    seam: str = ""

    def __str__(self) -> str:
        """One line: the code and the sentence."""
        return f"{self.code}: {self.message}"

    @property
    def check(self) -> str:
        """The name of its check."""
        return self.code.rpartition(".")[0] or self.code

    @property
    def group(self) -> tuple[str, Cause]:
        """Code and cause: equal for findings that are the same wherever they stand."""
        return self.code, self.cause

    def key(self, scenario: str = "", variant: str = "") -> FindingKey:
        """The identity of the finding in a run of a scenario; without one, within the run."""
        return FindingKey(self.code, Place(scenario, variant, self.session, self.seam), self.cause)

    def fails(self, fail_on: FindingClass) -> bool:
        """Whether it fails a run in which findings of this class and worse fail."""
        return not self.class_ or CLASSES.index(self.class_) <= CLASSES.index(fail_on)


LackKind = Literal[
    "",
    "declared",
    "unused",
    "tools",
    "wire",
    "mixed",
    "package",
    "unasked",
    "time",
    "target",
    "profile",
    "refused",
]
"""The kind of a missing part: a capability that the profile declares absent, or that no run used;
the tools, which no request offers; a wire without a model call; runs that are apart from each
other; a package that is not installed;
the event that puts a question; virtual time; what this target cannot do; what the profile does not
allow; what of a recording cannot be read."""


class NotApplicable(msgspec.Struct, frozen=True, omit_defaults=True):
    """A check or a rule that does not apply, and the reason; for a whole run `check` is `run`.

    `missing` names the missing part, and `kind` is its kind. `detail` is the part of the reason
    that differs from run to run, such as the fault that needs virtual time.
    """

    check: str
    reason: str
    missing: str = ""
    kind: LackKind = ""
    detail: str = ""

    @property
    def group(self) -> tuple[str, ...]:
        """Equal for reasons that a report counts as one."""
        return (self.kind, self.missing) if self.detail else (self.reason,)


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of the checks for one history.

    `findings` begin with the worst; findings of a class below `fail_on` do not fail the run.
    `known` are findings that the scenario declares as known defects: reported, not failing.
    `doubts` are the reasons for `unknown`. `passed` names the checks that were asked and
    found nothing.
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
    def not_asked(self) -> dict[str, tuple[str, ...]]:
        """The checks and rules whose question was never put, by the reason."""
        found: dict[str, list[str]] = {}
        for each in self.not_applicable:
            if each.kind == "unasked":
                found.setdefault(each.reason, []).append(each.check)
        return {reason: tuple(codes) for reason, codes in found.items()}

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings that make it fail."""
        return tuple(finding for finding in self.findings if finding.fails(self.fail_on))

    @property
    def below(self) -> tuple[Finding, ...]:
        """The findings that are reported but do not make it fail."""
        return tuple(finding for finding in self.findings if not finding.fails(self.fail_on))


def worst(*words: VerdictWord) -> VerdictWord:
    """The worst of several verdicts; `unknown` without any."""
    order: tuple[VerdictWord, ...] = ("fail", "unknown", "pass")
    return next((word for word in order if word in words), "unknown")


EXIT_STATUS: dict[VerdictWord, int] = {"pass": 0, "fail": 1, "unknown": 3}
