"""The ledger of a command: holds back runs until a run has used the capability that they need.

A capability that no run has used at the end is missing, and the runs that need it are not
applicable. A wire on which no run called the model is missing too, if a run called it on another
wire (decision 0032).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from harness.core.history.capabilities import NOT_SEEN
from harness.core.values.profile import Capability, Connections
from harness.core.values.verdict import NotApplicable, Verdict
from harness.core.values.visible_text import abridged, visible_line


class Dependent(Protocol):
    """A run, or its summary."""

    @property
    def wire(self) -> str:
        """The provider's API."""

    @property
    def connections(self) -> Connections:
        """The agent's connections that the run shows."""


OFFER_CHARACTERS = 160
"""The length of the list of an agent's own tools; some programs offer fifty."""

MIXED = NotApplicable(
    "run",
    "needs separate runs: it begins with what was said in another run",
    "separate runs",
    "mixed",
)
"""Why a run says nothing of an agent whose session outlives its run."""

_R = TypeVar("_R", bound=Dependent)


class SeenCapabilities:
    """The capabilities that runs have used so far."""

    def __init__(self) -> None:
        self._used: set[Capability] = set()

    def see(self, used: Iterable[Capability]) -> None:
        """Take what one more run has used."""
        self._used.update(used)

    def missing(self, needs: Iterable[Capability]) -> list[Capability]:
        """Those of the needed capabilities that no run has used."""
        return [name for name in needs if name not in self._used]


def unused(
    name: Capability, run: str = "run of this command", offers: Collection[str] = ()
) -> NotApplicable:
    """Why what needs a capability that no run has used is not applicable; `offers` are the agent's
    own tools."""
    told = f"needs {name}: no {run} {NOT_SEEN[name]}"
    if name != "tools":
        return NotApplicable("run", told, name, "unused")
    return NotApplicable("run", f"{told}; the agent offers{_own(offers)}", name, "tools")


def _own(offers: Collection[str]) -> str:
    return f" {abridged(visible_line(', '.join(offers)), OFFER_CHARACTERS)}" if offers else " none"


class CapabilityLedger(Generic[_R]):
    """The capabilities that the runs of a command have used, and the runs that wait for one."""

    def __init__(self) -> None:
        self._seen = SeenCapabilities()
        self._wires: set[str] = set()
        self._offers: dict[str, None] = {}
        self._said: set[str] = set()
        self._is_mixed = False
        self._names_ids: set[bool | None] = set()
        self._held: list[_R] = []

    def take(self, run: _R) -> Iterator[_R]:
        """Take the next run; yield the runs, in order, that no longer wait."""
        self._seen.see(run.connections.used)
        self._wires |= {run.wire} if run.connections.speaks else set()
        self._offers |= dict.fromkeys(run.connections.offers)
        self._names_ids |= {run.connections.names_ids} - {None}
        shown, self._said = run.connections, self._said.union(run.connections.said)
        if not self._said.isdisjoint(shown.past):
            self._is_mixed = True
            yield with_verdict(run, Verdict("not_applicable", not_applicable=(MIXED,)))
            return
        if shown.unbound:
            reason = NotApplicable("run", shown.unbound, "tools", "tools")
            yield with_verdict(run, Verdict("not_applicable", not_applicable=(reason,)))
            return
        waiting, self._held = [*self._held, run], []
        for each in waiting:
            if self._missing(each) or self._is_unspoken(each):
                self._held.append(each)
            else:
                yield each

    def close(self) -> Iterator[_R]:
        """Yield the waiting runs as not applicable, because no run used what they need.

        If no run called the model, the wires explain nothing, and verdicts stay.
        """
        for each in self._held:
            reasons = tuple(self._reasons(each))
            verdict = Verdict("not_applicable", not_applicable=reasons)
            yield with_verdict(each, verdict) if reasons else each
        self._held = []

    def break_off(self) -> Iterator[_R]:
        """Yield the waiting runs of an interrupted command as unknown; a later run might decide."""
        for each in self._held:
            wire = [f"wire {each.wire}"] if self._is_unspoken(each) else []
            names = ", ".join([*self._missing(each), *wire])
            doubt = f"needs {names}: interrupted before a run of this command showed it"
            yield with_verdict(each, Verdict("unknown", doubts=(doubt,)))
        self._held = []

    @property
    def facts(self) -> str:
        """What the runs have shown so far that the agent lacks, in one line; "" for nothing."""
        wires = f"it speaks {' and '.join(sorted(self._wires))}" if self._wires else ""
        is_bare = any("tools" in self._missing(run) for run in self._held)
        lacks = [
            f"of a scenario's tools it offers none, of its own{_own(self._offers)}"
            if is_bare
            else "",
            "its runs are not separate: docs/targets.md#a-session-file" if self._is_mixed else "",
            "no message id reaches its replies or rows, so one that comes again is new to it"
            if self._names_ids == {False}
            else "",
        ]
        return "; ".join(filter(None, [wires, *lacks])) if any(lacks) else ""

    def _missing(self, run: _R) -> list[Capability]:
        return self._seen.missing(run.connections.needs)

    def _is_unspoken(self, run: _R) -> bool:
        return run.connections.speaks is False and run.wire not in self._wires

    def _reasons(self, run: _R) -> Iterator[NotApplicable]:
        for name in self._missing(run):
            yield unused(name, offers=self._offers)
        if self._is_unspoken(run) and self._wires:
            told = f"needs wire {run.wire}: no run of this command called the model on it"
            yield NotApplicable("run", told, run.wire, "wire")


def with_verdict(run: _R, verdict: Verdict) -> _R:
    """Return the run with another verdict."""
    value: Any = run
    changed: _R = msgspec.structs.replace(value, verdict=verdict)
    return changed


def settled(runs: Iterable[_R]) -> list[_R]:
    """Return the runs of a whole command, in order, with the verdicts of the ledger."""
    ledger, given = CapabilityLedger[_R](), list(runs)
    known, ready = {id(run) for run in given}, dict[int, _R]()
    for each in given:
        for run in ledger.take(each):  # one that is mixed comes with another verdict, as a new one
            ready[id(run) if id(run) in known else id(each)] = run
    late = ledger.close()
    return [ready[id(run)] if id(run) in ready else next(late) for run in given]
