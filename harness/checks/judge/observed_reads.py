"""What the check of a plug-in reads of a history, which shows whether its question was put.

A plug-in names no events for its rules. So its check gets a history that notes which lists of the
trace and of its turns are read, and whether they hold anything. A check that read only empty lists
met nothing to judge.
"""

from __future__ import annotations

from typing import Any

import msgspec

from harness.core.history.events import Called
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.calls import Seam
from harness.core.values.table_file import table


class _Evidence(msgspec.Struct, frozen=True):
    """What a list holds, in words, and the seam without which it is always empty."""

    name: str
    words: str
    seam: str = ""


_EVIDENCE = table("harness.checks.judge", "evidence.tsv", _Evidence)
"""The names in a history, a trace and a turn that hold evidence. Settings, the profile and the
start are none, because every history has them."""

_LEADING = frozenset({"events", "messages", "values", "schemas", "turns", "ended"})
"""Evidence that leads to other evidence. It counts only for a check that reads nothing else. A turn
of a log may lack all that a check asks of it. What a loop over raw events looks for is not seen."""


class Reads:
    """The evidence that a check read: by name, whether it held anything."""

    def __init__(self, seams: frozenset[Seam]) -> None:
        self._seams = seams
        self._seen: dict[str, bool] = {}

    def see(self, name: str, value: Any) -> None:
        """Note a read of evidence."""
        if not self._seen.get(name):
            is_there = any(isinstance(e, Called) for e in value) if name == "events" else value
            self._seen[name] = bool(is_there)

    def reason(self, declares_seams: bool) -> str:
        """Why the check met nothing to judge; "" if it met something.

        A check that declares its seams may also read evidence of other seams.
        """
        if not self._seen:
            return "it reads nothing that happens"
        empty = [name for name, is_there in self._seen.items() if not is_there]
        seams = dict.fromkeys(seam for name in empty if (seam := _EVIDENCE[name].seam))
        missing = [seam for seam in seams if seam not in self._seams]
        if missing and not declares_seams:
            return f"it reads what needs the seam {' and '.join(missing)}"
        met = self._seen.keys() - set(empty)
        if met - _LEADING or (met and self._seen.keys() <= _LEADING):
            return ""
        words = dict.fromkeys(_EVIDENCE[name].words for name in empty)
        return ", ".join(f"no {word}" for word in words)


class _ObservedTurn(Turn, dict=True):
    """A turn whose reads are noted."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name in _EVIDENCE:
            _note(super().__getattribute__("__dict__"), name, value)
        return value


class _ObservedTrace(Trace, dict=True):
    """A trace whose reads are noted."""

    def __getattribute__(self, name: str) -> Any:
        noted = super().__getattribute__("__dict__")
        if name in _OWN_READS and "plain" in noted:
            return getattr(noted["plain"], name)
        value = super().__getattribute__(name)
        if name in _EVIDENCE:
            _note(noted, name, value)
        return value


def _note(noted: dict[str, Any], name: str, value: Any) -> None:
    """Note a read. A copy that a check made (`msgspec.structs.replace`) notes nothing."""
    reads: Reads | None = noted.get("reads")
    if reads is not None:
        reads.see(name, value)


_OWN_READS = frozenset(n for n, value in vars(Trace).items() if isinstance(value, property))
"""The properties of a trace, such as its seams: they look at lists that the check did not read."""


class ObservedHistory(History):
    """A history whose reads are noted in `reads`, for one check."""

    def __init__(self, plain: History) -> None:
        vars(self).update(vars(plain))
        self.reads = Reads(plain.trace.seams)
        self._observed = _observed(plain.trace, self.reads)

    @property
    def trace(self) -> Trace:
        """The trace of the history."""
        return self._observed

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name in _EVIDENCE:
            super().__getattribute__("reads").see(name, value)
        elif name == "past":  # the past counts what the events tell
            super().__getattribute__("reads").see("events", super().__getattribute__("events"))
        return value


def _observed(plain: Trace, reads: Reads) -> Trace:
    """A copy of a trace whose turns are noted too; a compaction names the copy of its turn."""
    twins: dict[int, Turn] = {}
    for turn in plain.turns.values():
        twins[id(turn)] = twin = _ObservedTurn(**_fields(turn))
        vars(twin)["reads"] = reads
    turns = {name: twins[id(turn)] for name, turn in plain.turns.items()}
    compactions = [
        msgspec.structs.replace(c, turn=twins.get(id(c.turn), c.turn)) for c in plain.compactions
    ]
    trace = _ObservedTrace(**(_fields(plain) | {"turns": turns, "compactions": compactions}))
    vars(trace).update(plain=plain, reads=reads)
    return trace


def _fields(value: msgspec.Struct) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}
