"""What an export takes of a run: its history and verdict, with ids and times for other programs.

The ids follow from the content of the history. So two exports are equal byte by byte, and two runs
of one name stay apart. The run's clock begins at 0, and other programs want a date: it is that of
the virtual clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cached_property
from hashlib import blake2b

import msgspec

from harness.clock.virtual_clock import EPOCH_S
from harness.core.history.events import Answered, AnyEvent, Called
from harness.core.history.history import History, encode
from harness.core.values.plans import waited_ms
from harness.core.values.verdict import Verdict
from harness.redaction.encoder import encoded

MS, SECOND = 1_000_000, 1_000_000_000

DAY = f"{datetime.fromtimestamp(EPOCH_S, UTC):%Y-%m-%d}"
"""The day at which the clock of a run begins, for other programs."""


class RunHead(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is; `version` is that of the harness which played it."""

    name: str = "run"
    scenario: str = ""
    target: str = ""
    world: str = ""
    seed: int = 0
    version: str = ""


class ExportedRun:
    """A run to export. `number` tells apart runs of equal content in one export."""

    def __init__(self, history: History, verdict: Verdict, number: int = 0) -> None:
        self.history, self.verdict = history, verdict
        self._number = number

    @cached_property
    def head(self) -> RunHead:
        """What the start of the run says; a history that was cut may lack it."""
        starts = self.history.trace.starts
        if not starts:
            return RunHead()
        first = starts[0]
        return RunHead(
            name=first.run or first.scenario or "run",
            scenario=first.scenario,
            target=first.target,
            world=first.world,
            seed=first.seed,
            version=first.versions.get("loop-harness", ""),
        )

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.head.name

    @cached_property
    def digest(self) -> bytes:
        """What tells this run from every other one."""
        content = encode(self.history.events)
        return blake2b(content + b"%d" % self._number, digest_size=32).digest()

    def id(self, *names: object, size: int) -> str:
        """The id of a part of the run, in this number of bytes as hexadecimal digits."""
        text = encoded("\x1f".join(map(str, names)))
        return blake2b(text, digest_size=size, key=self.digest).hexdigest()

    def trace_id(self, session: str) -> str:
        """The id of the trace of a session."""
        return self.id("trace", session, size=16)

    def span_id(self, session: str, *names: object) -> str:
        """The id of a span of a session."""
        return self.id("span", session, *names, size=8)

    @cached_property
    def sessions(self) -> tuple[str, ...]:
        """The sessions in the order in which they begin; `main` when no event names one."""
        named = (e.session for e in self.history.events if isinstance(e, (Called, Answered)))
        return tuple(dict.fromkeys(filter(None, named))) or ("main",)

    @cached_property
    def last_of_turn(self) -> dict[tuple[str, int], AnyEvent]:
        """The last call or answer of each turn, by its session and number."""
        calls = (e for e in self.history.events if isinstance(e, (Called, Answered)))
        return {(event.session, event.turn): event for event in calls}

    @cached_property
    def tools(self) -> dict[str, str]:
        """The tool of each call, by the key of the call."""
        return {e.called.key: e.request.name for e in self.history.trace.executions}


def numbered(runs: Iterable[tuple[History, Verdict]]) -> Iterator[ExportedRun]:
    """The runs of an export; a run that stands in it twice has two identities."""
    seen: dict[bytes, int] = {}
    for history, verdict in runs:
        run = ExportedRun(history, verdict)
        number = seen[run.digest] = seen.get(run.digest, -1) + 1
        yield ExportedRun(history, verdict, number) if number else run


def time_ns(at_ms: int, n: int) -> int:
    """The time of an event in nanoseconds since 1970.

    Many events share a millisecond on the virtual clock; their numbers keep them in order.
    """
    return EPOCH_S * SECOND + at_ms * MS + n


def begin_ns(event: AnyEvent) -> int:
    """The time at which an event happened."""
    return time_ns(event.at_ms, event.n)


def end_ns(event: AnyEvent) -> int:
    """The time at which an event was over: an answer after its waits."""
    waits = waited_ms(event.steps) if isinstance(event, Answered) else 0
    return time_ns(event.at_ms + waits, event.n)
