"""What examples show that depends on a capability which no example has used so far.

It is a finding once an example of the campaign uses the capability. Until then it is held back, and
at the end it is not applicable, by the ledger of `harness run`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import msgspec

from harness.core.values.profile import Capability
from harness.core.values.verdict import Cause, Finding, NotApplicable
from harness.fuzz.example import PlayedExample, RawFinding
from harness.runner.capability_ledger import SeenCapabilities, unused

MOST_ALIKE = 6
"""The most raw findings of one code that are shrunk; further ones mostly shrink to one of these."""


class CauseCount(msgspec.Struct, frozen=True):
    """How many examples show a cause, and the first of them by its number."""

    finding: Finding
    example: int
    runs: int = 1


CauseCounts: TypeAlias = dict[tuple[str, Cause], CauseCount]
"""The counts by code and cause."""


def count_in(causes: CauseCounts, more: Iterable[CauseCount]) -> CauseCounts:
    """Add counts to others, and return them; the first example of a cause stays."""
    for count in more:
        group = count.finding.group
        known = causes.get(group)
        runs = count.runs + (known.runs if known else 0)
        causes[group] = msgspec.structs.replace(known or count, runs=runs)
    return causes


class ShownByExamples(msgspec.Struct, frozen=True, omit_defaults=True):
    """What examples show that need the same capabilities, and which ones they used."""

    needs: tuple[Capability, ...] = ()
    examples: int = 0
    found: tuple[RawFinding, ...] = ()
    causes: tuple[CauseCount, ...] = ()
    used: tuple[Capability, ...] = ()

    def joined(self, more: ShownByExamples) -> ShownByExamples:
        """Both together."""
        causes = count_in({}, (*self.causes, *more.causes))
        return ShownByExamples(
            self.needs, self.examples + more.examples, (*self.found, *more.found),
            tuple(causes.values()), used_by((self, more)),
        )  # fmt: skip

    @classmethod
    def of(cls, played: PlayedExample, example: int) -> ShownByExamples:
        """What one example shows, by its number."""
        causes = tuple(CauseCount(finding, example) for finding in played.causes)
        return cls(played.needs, 1, played.found, causes, tuple(sorted(played.used)))


def by_needs(shown: Iterable[ShownByExamples]) -> dict[tuple[Capability, ...], ShownByExamples]:
    """What examples show, joined by the capabilities that they need."""
    joined: dict[tuple[Capability, ...], ShownByExamples] = {}
    for one in shown:
        known = joined.get(one.needs)
        joined[one.needs] = known.joined(one) if known else one
    return joined


def used_by(shown: Iterable[ShownByExamples]) -> tuple[Capability, ...]:
    """The capabilities that examples used."""
    return tuple(sorted({name for one in shown for name in one.used}))


class HeldExamples:
    """What the examples of a campaign have shown so far that is not settled."""

    def __init__(self) -> None:
        self._seen = SeenCapabilities()
        self._held: dict[tuple[Capability, ...], ShownByExamples] = {}

    def take(
        self, used: Iterable[Capability], held: Iterable[ShownByExamples]
    ) -> list[ShownByExamples]:
        """Take what a batch used and shows; the findings that wait for nothing any more."""
        self._seen.see(used)
        self._held = by_needs((*self._held.values(), *held))
        ready = [needs for needs in self._held if not self._seen.missing(needs)]
        settled = [self._held.pop(needs) for needs in ready]
        for needs, shown in self._held.items():
            self._held[needs] = msgspec.structs.replace(shown, found=_few(shown.found))
        return settled

    def waits(self, example: int) -> bool:
        """Whether a finding of an example is held back."""
        return any(f.example == example for shown in self._held.values() for f in shown.found)

    def not_applicable(self) -> Iterator[tuple[NotApplicable, int]]:
        """What no example has used, and how many examples with a finding need it."""
        counts: Counter[Capability] = Counter()
        for needs, shown in self._held.items():
            for name in self._seen.missing(needs):
                counts[name] += shown.examples
        for name, examples in counts.items():
            yield unused(name, "example of this campaign"), examples


def _few(found: Sequence[RawFinding]) -> tuple[RawFinding, ...]:
    """The first finding of each cause, and a few of each code."""
    first = {one.finding.group: one for one in reversed(found)}
    codes: Counter[str] = Counter()
    kept = []
    for one in sorted(first.values(), key=lambda one: one.example):
        codes[one.code] += 1
        kept += [one] if codes[one.code] <= MOST_ALIKE else []
    return tuple(kept)
