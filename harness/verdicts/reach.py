"""What runs reached: the questions that were put, the faults that struck, the moments that came.

A campaign without a finding says little of what it never met. The reach of a run is read from its
history and its verdict alone, and reaches add up in any order. So a worker counts its own runs, and
a command adds what its workers send.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Self

import msgspec

from harness.checks.evidence.seen_marks import met_marks, owed_marks
from harness.checks.judge import checks, rules
from harness.checks.judge.questions import EVENTS
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.core.values.verdict import BOOK_KEEPING, Verdict
from harness.faults import faults
from harness.parts.loading import unknown_name


def _falls_back(trace: Trace) -> bool:
    """Whether a session asks another model or provider after a failed request."""
    failed: dict[str, set[tuple[str, str]]] = {}
    for exchange in trace.exchanges:
        called = exchange.called
        before = failed.setdefault(called.session, set())
        asked = called.provider, exchange.request.model
        if any(other != asked for other in before):
            return True
        if not exchange.succeeded:
            before.add(asked)
    return False


STATES: Mapping[str, Callable[[Trace], bool]] = {
    "compacted": EVENTS["compaction"],
    "resumed": EVENTS["loaded_session"],
    "queued": EVENTS["message_in_turn"],
    "parked": lambda trace: bool(trace.questions),
    "fallback": _falls_back,
    "two_sessions": EVENTS["second_session"],
}
"""The states of an agent that most runs never come to; the other moments are events."""

_APART = (*STATES.values(), EVENTS["run"], EVENTS["recording"])
_OTHERS: Mapping[str, Callable[[Trace], bool]] = {
    name: comes for name, comes in EVENTS.items() if comes not in _APART
}
MOMENTS: Mapping[str, Callable[[Trace], bool]] = {**STATES, **_OTHERS}
"""The moments of a run: its states, and the other events that put the question of a rule."""

MARK = "mark:"
"""How the name of a mark in the agent's own code begins where a user requires it."""

Counts = Mapping[str, int]
"""Names, each with the number of runs that reached it."""


class Layer(msgspec.Struct, frozen=True):
    """A layer in which a fault struck: how many of its faults did."""

    name: str
    struck: int
    known: int


class Reach(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What runs reached.

    `applied` are the checks whose seams were there; `asked` are those of them that met an event
    which they judge, so that they could have failed, and their rules by code. `struck` are faults
    that changed an answer, `silent` those that a scenario owes and that did not. `moments` are
    names of `MOMENTS`. `marks` are the marks of the agent's own code that came true, and `owed`
    all that some run has to meet.
    """

    runs: int = 0
    applied: Counts = {}
    asked: Counts = {}
    struck: Counts = {}
    silent: Counts = {}
    moments: Counts = {}
    marks: Counts = {}
    owed: Counts = {}

    @classmethod
    def of(cls, history: History, verdict: Verdict) -> Self:
        """Return the reach of a run."""
        trace = history.trace
        asked, applied = _asked(verdict)
        return cls(
            runs=int(bool(history.events)),
            applied=_once(applied),
            asked=_once(asked),
            struck=_once(fault for answer in trace.answers for fault in answer.faults),
            silent=_once(trace.ended.silent_faults if trace.ended else ()),
            moments=_once(name for name, comes in MOMENTS.items() if comes(trace)),
            marks=_once(met_marks(trace)),
            owed=_once(owed_marks(trace)),
        )

    @classmethod
    def of_verdict(cls, verdict: Verdict) -> Self:
        """Return what a verdict tells of the reach of its run."""
        asked, applied = _asked(verdict)
        return cls(runs=1, applied=_once(applied), asked=_once(asked))

    def __add__(self, other: Reach) -> Reach:
        """Return the reach of the runs of both."""
        joined = {
            name: _joined(getattr(self, name), getattr(other, name))
            for name in self.__struct_fields__
            if name != "runs"
        }
        return Reach(runs=self.runs + other.runs, **joined)

    @property
    def has_history(self) -> bool:
        """Whether it was read from histories, and not from verdicts alone."""
        return bool(self.moments)

    @property
    def own_checks(self) -> list[str]:
        """All checks of agents."""
        return [name for name in checks() if name not in BOOK_KEEPING]

    @property
    def never_asked(self) -> list[str]:
        """The checks of agents that no run asked."""
        return [name for name in self.own_checks if name not in self.asked]

    @property
    def rules_never_asked(self) -> list[str]:
        """The rules that no run asked, of checks that were asked."""
        return [
            code
            for code, rule in rules().items()
            if code not in self.asked and rule.check in self.asked
        ]

    @property
    def layers(self) -> list[Layer]:
        """The layers in which a fault struck, the largest share first; no other has a share."""
        known = Counter(map(_layer, faults()))
        struck = Counter(map(_layer, self.struck))
        found = [Layer(name, number, max(known[name], number)) for name, number in struck.items()]
        return sorted(found, key=lambda one: (-one.struck / one.known, one.name))

    @property
    def layers_not_exercised(self) -> list[str]:
        """The layers in which no fault struck."""
        return sorted(set(map(_layer, faults())).difference(map(_layer, self.struck)))

    @property
    def never_came(self) -> list[str]:
        """The moments that no run came to; the states stand first."""
        return [name for name in MOMENTS if name not in self.moments]

    @property
    def marks_never_true(self) -> list[str]:
        """The marks that no run came to; an `unreachable` is none of them."""
        return sorted(set(self.owed).difference(self.marks))

    def missing(self, patterns: Iterable[str]) -> list[str]:
        """Return the patterns that match no name which a run reached."""
        marks = (f"{MARK}{name}" for name in self.marks)
        reached = {*self.asked, *self.struck, *self.moments, *marks}
        return [one for one in patterns if not any(fnmatchcase(name, one) for name in reached)]

    def as_json(self) -> Json:
        """Return it as an object: what was reached with its runs, and what never was."""
        shares: Json = {one.name: {"struck": one.struck, "known": one.known} for one in self.layers}
        unstruck = sorted(set(faults()).difference(self.struck))
        return {
            "runs": self.runs,
            "asked": _sorted(self.asked),
            "not_met": sorted(set(self.applied) - set(self.asked)),
            "never_asked": {"checks": self.never_asked, "rules": self.rules_never_asked},
            "struck": _sorted(self.struck),
            "silent": _sorted(self.silent),
            "never_struck": unstruck,
            "layers": shares,
            "layers_not_exercised": self.layers_not_exercised,
            "moments": _sorted(self.moments),
            "never_came": self.never_came,
            "marks": _sorted(self.marks),
            "marks_never_true": self.marks_never_true,
        }


def check_names(patterns: Iterable[str]) -> None:
    """Raise InputError for a pattern that no check, rule, fault or moment has.

    The name of a mark stands in the agent's code, which nothing has read yet.
    """
    known = (*checks(), *rules(), *faults(), *MOMENTS)
    for pattern in patterns:
        if not pattern.startswith(MARK) and not any(fnmatchcase(n, pattern) for n in known):
            what = f"no check, rule, fault or moment has this name; {unknown_name(pattern, known)}"
            raise InputError(what, f"--require-reached {pattern}")


NOTHING = Reach()
"""The reach of no run."""


def total(reaches: Iterable[Reach]) -> Reach:
    """Return the reach of all runs."""
    return sum(reaches, NOTHING)


def _asked(verdict: Verdict) -> tuple[set[str], set[str]]:
    """The checks and rules that a run asked, and the checks that applied to it."""
    found = (*verdict.findings, *verdict.known)
    names = {*verdict.passed, *(finding.check for finding in found)}
    unasked = {lack.check for lack in verdict.not_applicable}
    asked = {code for code, rule in rules().items() if rule.check in names and code not in unasked}
    asked |= names | {finding.code for finding in found}
    waiting = {n.check for n in verdict.not_applicable if n.kind == "unasked"}
    return asked - BOOK_KEEPING, {*names, *(waiting & set(checks()))} - BOOK_KEEPING


def _layer(fault: str) -> str:
    known = faults().get(fault)
    return known.layer if known else fault.partition(".")[0]


def _once(names: Iterable[str]) -> Counts:
    # Sorted, because two sweeps of one agent write the same bytes, and a set has another order in
    # each process.
    return dict.fromkeys(sorted(names), 1)


def _joined(some: Counts, others: Counts) -> Counts:
    if not (some and others):
        return some or others
    joined = dict(some)
    for name, runs in others.items():
        joined[name] = joined.get(name, 0) + runs
    return joined


def _sorted(counts: Counts) -> dict[str, Json]:
    return dict(sorted(counts.items()))
