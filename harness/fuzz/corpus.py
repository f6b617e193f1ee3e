"""The corpus: the examples with new coverage, and the coverage of all.

A run covers (fault, check, kind of event) if the event follows the fault and the check applies.
Counts of a kind are in powers of two. A mark of the agent's author that comes true is an event too,
so an example that raises a number of the agent's is kept. A batch uses the corpus of the generation
before the last. So random choices do not depend on workers, and no worker waits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random
from typing import TypeAlias

import msgspec

from harness.checks.judge import rules
from harness.core.history.events import (
    Answered,
    AnyEvent,
    Called,
    Effected,
    Ended,
    Killed,
    Marked,
    Stored,
)
from harness.core.history.history import History
from harness.core.values.calls import OutboxRequest
from harness.core.values.mark_kinds import is_met
from harness.core.values.verdict import Verdict
from harness.fuzz.choice_sequence import Choices

Pair: TypeAlias = tuple[str, str]
"""A fault, "" for none, and the kind of an event that came after it."""

_OFTEN = frozenset({2, 4, 8, 16, 32})


def pairs_of(history: History) -> tuple[Pair, ...]:
    """Return the pairs of a run, each once, in the order of its events."""
    fired: dict[str, None] = {"": None}
    counted: Counter[str] = Counter()
    reached: dict[Pair, None] = {}
    for event in history.events:
        if isinstance(event, Answered) and event.faults:
            fired.update(dict.fromkeys(event.faults))
        for kind in _kinds(event):
            counted[kind] += 1
            times = counted[kind]
            names = (kind, f"{kind} x{times}") if times in _OFTEN else (kind,)
            reached.update(dict.fromkeys((fault, name) for name in names for fault in fired))
    return tuple(reached)


def checks_not_asked(verdict: Verdict) -> tuple[str, ...]:
    """Return the checks that were not applicable to a run, or not asked by it."""
    lacks = verdict.not_applicable
    return tuple(row.check for row in lacks if row.check not in rules())


def _kinds(event: AnyEvent) -> Iterator[str]:
    """Yield the kind of an event, and its outcome; nothing for one that only keeps a value."""
    match event:
        case Called(request=OutboxRequest() as said):
            yield f"send {said.kind} {said.status}".rstrip()
        case Called(seam="model"):
            yield f"ask {event.purpose}{' again' if event.sdk_retry else ''}"
            yield from (f"refused {rule}" for rule in event.refused)
        case Called():
            yield f"call {event.seam}"
        case Answered():
            failed = event.status is not None and event.status >= 400
            whole = "" if event.complete or failed else " cut"
            how = event.stop or event.error or (event.status and str(event.status)) or event.outcome
            yield f"{event.seam} answers {how}{whole}"
        case Stored():
            changes = {"added": event.added, "changed": event.changed, "gone": event.gone}
            yield from (f"rows {change}" for change, rows in changes.items() if rows)
        case Effected():
            yield "effect"
        case Killed():
            yield "killed"
        case Marked() if is_met(event.kind, event.holds):
            yield f"mark {event.name}"
        case Ended():
            yield f"ended {event.how}"


GENERATION = 32
"""Batches of a generation; also the most batches that run at once."""

_RECENT = 64
"""Half of the parents are drawn from this number of newest entries."""


class CorpusEntry(msgspec.Struct, frozen=True):
    """An example of the corpus: its choices, its pairs, the checks that did not apply."""

    choices: Choices
    pairs: tuple[Pair, ...] = ()
    not_asked: tuple[str, ...] = ()


class Corpus:
    """Entries in order of arrival; `checks` are the names of all checks."""

    def __init__(self, checks: Iterable[str]) -> None:
        self._checks = frozenset(checks)
        self._entries: list[Choices] = []
        self._batches: list[int] = []
        self._covered: dict[Pair, set[str]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def pairs(self) -> int:
        """The number of covered pairs of a fault and a kind of event."""
        return len(self._covered)

    @property
    def coverage(self) -> int:
        """The number of covered triples (fault, check, kind of event)."""
        return sum(map(len, self._covered.values()))

    @property
    def faults(self) -> int:
        """The number of kinds of faults that have fired."""
        return len({fault for fault, _ in self._covered if fault})

    def take(self, batch: int, entry: CorpusEntry) -> CorpusEntry | None:
        """Keep an example if it reached something new; returns it with only what was new."""
        asked = self._checks.difference(entry.not_asked)
        new = tuple(p for p in entry.pairs if not asked <= self._covered.get(p, frozenset()))
        if not new:
            return None
        for pair in new:
            self._covered.setdefault(pair, set()).update(asked)
        self._entries.append(entry.choices)
        self._batches.append(batch)
        return CorpusEntry(entry.choices, new, entry.not_asked)

    def parents(self, batch: int, random: Random, most: int) -> tuple[Choices, ...]:
        """Some of the entries that this batch may see, half of them among the youngest."""
        generation_start = batch - batch % GENERATION
        seen = self._entries[: bisect_left(self._batches, generation_start - GENERATION)]
        if len(seen) <= most:
            return tuple(seen)
        young = random.sample(seen[-max(_RECENT, most) :], most // 2)
        return tuple(young + random.sample(seen, most - len(young)))
