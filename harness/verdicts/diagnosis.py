"""Why a run has a finding, as values: the answer that decided it, and the events of its proof."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.core.values.verdict import Finding

Role: TypeAlias = Literal["decision", "fact", "step", "proof"]
"""What an event is in a chain. `decision`: the answer after which most futures show the finding.
`fact`: what the proof contradicts. `step`: evidence between the two. `proof`: the event at which
the finding is certain."""

FUTURES = 8
"""The futures of one answer: enough to tell most from half, few enough for ten seconds a run."""

LINKS_MAX = 6
"""The most events of a chain: a person reads it at one look."""


class Share(msgspec.Struct, frozen=True):
    """How many of the drawn futures show a finding."""

    shown: int
    of: int

    @property
    def is_likely(self) -> bool:
        """Whether more than half show it."""
        return 2 * self.shown > self.of

    def __str__(self) -> str:
        """Return the share as a report says it."""
        return f"{self.shown} of {self.of}"


class Link(msgspec.Struct, frozen=True):
    """An event of a chain: its number, its line, its time and its role."""

    n: int
    line: str
    at_ms: int
    role: Role


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """Why the run `run` of `target` has a finding.

    `reason` is that of the finding's rule, "" for one without a rule. `start` is the share of the
    futures that are drawn from the beginning. `before` and `after` are those on both sides of the
    decision, None without one. `end` is the share after the last answer. `links` are in the order
    of the events.
    """

    run: str
    target: str
    finding: Finding
    reason: str
    start: Share
    end: Share
    before: Share | None = None
    after: Share | None = None
    links: tuple[Link, ...]
    played: int

    @property
    def decision(self) -> Link | None:
        """The event that decided it."""
        return next((link for link in self.links if link.role == "decision"), None)

    @property
    def proof(self) -> Link:
        """The event at which the finding is certain."""
        return next(link for link in self.links if link.role == "proof")
