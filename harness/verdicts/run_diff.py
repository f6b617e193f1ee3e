"""One run on two sides: findings of one side only, the first call that differs, the numbers.

A side is A or B.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeVar

import msgspec

from harness.comparison import Change, differences
from harness.core.history.history import History
from harness.core.values.messages import canonical
from harness.core.values.verdict import Finding, NotApplicable, Verdict
from harness.verdicts.event_lines import event_lines
from harness.verdicts.result import Result, finding_key, of_history

RunT = TypeVar("RunT")
Lack = Literal["missing", "not_applicable", "unusable"]


class Played(msgspec.Struct, frozen=True):
    """A run as one side played it, judged by the present checks."""

    history: History
    verdict: Verdict
    path: str

    @property
    def summary(self) -> Result:
        """The summary for a report."""
        return of_history(self.history, self.verdict, self.path)


class OneSide(msgspec.Struct, frozen=True):
    """A run on one side: its result and its numbers.

    `call` names its first call that differs. `event` and `line` are the event and the text of that
    call, empty if the side has none.
    """

    result: Result
    figures: Figures
    call: str = ""
    event: int = 0
    line: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict of the side."""
        return self.result.verdict

    @property
    def words(self) -> str:
        """The verdict and the outcome, in words."""
        return f"{self.verdict.verdict}, {self.verdict.outcome}"


class RunDiff(msgspec.Struct, frozen=True):
    """A run of both sides.

    `new` are the findings of B only, `gone` those of A only. `change` is the first call that
    differs. `beside` are other differences of requests and settings.
    """

    name: str
    a: OneSide
    b: OneSide
    new: tuple[Finding, ...] = ()
    gone: tuple[Finding, ...] = ()
    change: Change | None = None
    beside: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The new findings that fail the run."""
        return msgspec.structs.replace(self.b.verdict, findings=self.new).failing

    @property
    def notes(self) -> Iterator[str]:
        """What differs beside the findings, a line each."""
        yield f"A {self.a.words}; B {self.b.words}"
        if self.change:
            yield f"first call that differs: {self.change.what}"
            for name, side in (("A", self.a), ("B", self.b)):
                said = f"{side.call} #{side.event}  {side.line}".strip() if side.event else ""
                yield f"  {name} {said or 'no call'}"
        yield from (f"sent with requests: {what}" for what in self.beside)

    @property
    def result(self) -> Result:
        """Side B for a report of any medium: it fails by what is new."""
        word = "unknown" if self.b.verdict.verdict == "unknown" else "pass"
        verdict = msgspec.structs.replace(
            self.b.verdict, verdict="fail" if self.failing else word, findings=self.new
        )
        gone = [f"gone in B: {finding.code}" for finding in self.gone]
        notes = (*self.notes, *gone) if self.differs else ()
        return msgspec.structs.replace(self.b.result, name=self.name, verdict=verdict, notes=notes)

    @property
    def differs(self) -> bool:
        """Whether the sides differ; tokens and times alone are not differences."""
        words = self.a.words != self.b.words
        return bool(self.new or self.gone or self.change or self.beside or words)


class NotCompared(msgspec.Struct, frozen=True):
    """A run that cannot be compared, with the reason.

    It is missing or not applicable on a side, or a history cannot be used."""

    name: str
    kind: Lack
    reason: str

    @property
    def result(self) -> Result:
        """The run for a report of any medium: unknown where a history cannot be used."""
        lack = NotApplicable("run", self.reason)
        verdict = (Verdict("unknown", doubts=(self.reason,)) if self.kind == "unusable"
                   else Verdict("not_applicable", not_applicable=(lack,)))  # fmt: skip
        return Result(name=self.name, scenario=self.name.partition("/")[0].partition("@")[0],
                      title="", target="", world="", seed=0, verdict=verdict)  # fmt: skip


def run_diff(name: str, a: Played, b: Played) -> RunDiff:
    """Return the differences between a run of side A and the same run of side B."""
    found = differences(a.history, b.history)
    new, gone = _only_in(b, a), _only_in(a, b)
    if b.verdict.verdict == "unknown":  # an unknown run does not show that a finding is gone
        gone = ()
    change = found.first
    return RunDiff(
        name=name,
        a=_side(a, change.before_key if change else "", change.before_n if change else 0),
        b=_side(b, change.after_key if change else "", change.after_n if change else 0),
        new=new,
        gone=gone,
        change=change,
        beside=(*found.frames, *_settings(a.history, b.history)),
    )


def _only_in(one: Played, other: Played) -> tuple[Finding, ...]:
    """Return the findings of one side that the other lacks, each cause once."""
    summary, its = one.summary, other.summary
    known = {finding_key(its, finding) for finding in (*its.verdict.findings, *its.verdict.known)}
    keys = {
        finding_key(summary, finding): finding for finding in reversed(summary.verdict.findings)
    }
    kept = [finding for key, finding in keys.items() if key not in known]
    return tuple(reversed(kept))


def _side(side: Played, call: str, event: int) -> OneSide:
    line = event_lines(side.history, [event]).get(event, "") if event else ""
    return OneSide(side.summary, figures(side.history), call, event, line)


SETTINGS = ("expect", "limits", "tools", "window_tokens")
"""The settings of the scenario that a history keeps."""


def _settings(a: History, b: History) -> Iterator[str]:
    """Yield the settings that differ, because the file or the profile was another one."""
    one, other = a.trace.settings, b.trace.settings
    named = [name for name in SETTINGS if canonical(one.get(name)) != canonical(other.get(name))]
    if named:
        yield f"scenario: {', '.join(named)}"


class Diff(msgspec.Struct, frozen=True):
    """Two sides as the user named them: the runs of both, and those that cannot be compared."""

    a: str
    b: str
    runs: tuple[RunDiff, ...]
    left: tuple[NotCompared, ...] = ()

    @property
    def sides(self) -> tuple[str, str]:
        """The name of each side, with its target if that adds information."""
        return (_words(self.a, (run.a.result.target for run in self.runs)),
                _words(self.b, (run.b.result.target for run in self.runs)))  # fmt: skip

    @property
    def unlike(self) -> list[RunDiff]:
        """The runs that differ."""
        return [run for run in self.runs if run.differs]

    @property
    def has_new(self) -> bool:
        """Whether a new finding fails a run."""
        return any(run.failing for run in self.runs)

    @property
    def has_any(self) -> bool:
        """Whether a run differs, or is missing on one side."""
        one_sided = any(left.kind == "missing" for left in self.left)
        return bool(self.unlike) or one_sided


def _words(named: str, targets: Iterable[str]) -> str:
    others = [target for target in dict.fromkeys(targets) if target not in ("", named)]
    return f"{named}  (target {', '.join(others)})" if others else named


def by_words(runs: Iterable[tuple[str, RunT]]) -> list[tuple[str, list[RunT]]]:
    """Group runs by their text, the most frequent first."""
    found: dict[str, list[RunT]] = {}
    for words, run in runs:
        found.setdefault(words, []).append(run)
    return sorted(found.items(), key=lambda item: -len(item[1]))


class Figures(msgspec.Struct, frozen=True):
    """The numbers of one or several runs.

    `answers` are the finals and errors that the user got. `prompt_tokens` is the size of all
    prompts. `virtual_s` is the time on the virtual clock, where only waits take time; `real_s` is
    the time on the machine's clock.
    """

    model_calls: int = 0
    tool_calls: int = 0
    answers: int = 0
    prompt_tokens: int = 0
    virtual_s: float = 0.0
    real_s: float = 0.0


def figures(history: History) -> Figures:
    """The numbers of one run."""
    trace = history.trace
    last_s = history.events[-1].at_ms / 1000 if len(history.events) else 0.0
    is_virtual = trace.world == "simulate"
    beside_s = trace.ended.real_wait_ms / 1000 if trace.ended else 0.0
    return Figures(
        model_calls=len(trace.exchanges),
        tool_calls=len(trace.executions),
        answers=sum(sending.ends_turn for sending in trace.sendings),
        prompt_tokens=sum(exchange.called.tokens for exchange in trace.exchanges),
        virtual_s=last_s if is_virtual else 0.0,
        real_s=beside_s if is_virtual else last_s,
    )


def total(found: Iterable[Figures]) -> Figures:
    """The sum of the numbers of several runs."""
    rows = [msgspec.structs.astuple(one) for one in found]
    return Figures(*map(sum, zip(*rows, strict=True))) if rows else Figures()
