"""The history: the ordered events of one run, and its only state.

Scripts, faults and checks are functions of it. On disk it is JSON Lines; a value is written once,
before the first event that names its digest. Only the transition, the runner and the readers of
recordings append events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from harness.core.history.event_log import BadLine, EventLog, InMemory, decode_line, encode_event
from harness.core.history.events import (
    SCHEMA_VERSION,
    Accepted,
    Answered,
    AnyEvent,
    Called,
    Effected,
    Ended,
    Killed,
    Marked,
    Noted,
    Rare,
    Refused,
    Started,
    Stored,
    Valued,
)
from harness.core.history.exchanges import answer_failed
from harness.core.history.past import Past
from harness.core.history.trace import Trace
from harness.core.history.trace_fold import trace
from harness.core.values.calls import Purpose, Request, Seam
from harness.core.values.mark_kinds import Mark, MarkKind
from harness.core.values.messages import Json, Message, named
from harness.core.values.plans import Outcome, StepRecord, Wait, waited_ms
from harness.core.values.profile import Profile, profile_of

Settings = dict[str, Any]
"""The settings of a run, as its first event holds them."""

MARKS_MOST = 1_000
"""The most marks of a run: a name that differs each time would fill the history."""

_Made = TypeVar("_Made", Started, Effected, Stored, Refused, Ended)


class History:
    """The events of one run, in order, with the values they name.

    `sink` receives each event at once, for worlds that must write the file before a step is carried
    out. `log` stores the events; the default is memory. `fault_layers` maps the faults of plug-ins
    to their layers, by kind.
    """

    def __init__(
        self, sink: Callable[[AnyEvent], None] | None = None, log: EventLog | None = None
    ) -> None:
        log = InMemory() if log is None else log
        self.events, self.messages, self.values = log.events, log.messages, log.values
        self.past = Past()
        self._sink = sink
        self._append = self.events.append if sink is None else self._append_and_tell
        self.fault_layers: dict[str, str] = {}
        self.last_said: dict[str, str] = {}  # digests, by session
        self._trace: tuple[int, Trace] = (-1, Trace())
        self._marks = set[tuple[str, int, MarkKind, str, bool | None]]()

    @property
    def trace(self) -> Trace:
        """The events as exchanges, executions and turns, read again only after a new event."""
        if self._trace[0] != len(self.events):
            self._trace = (len(self.events), trace(self, self.past.comes_again))
        return self._trace[1]

    def _append_and_tell(self, event: AnyEvent) -> None:
        self.events.append(event)
        if self._sink is not None:
            self._sink(event)

    def _added(self, event: _Made) -> _Made:
        self._append(event)
        return event

    def take(self, event: AnyEvent) -> None:
        """Append an event that was made elsewhere: a line of a history file."""
        self._append(event)
        match event:
            case Started():
                self._see_started(event)
            case Noted():
                self.messages[event.digest] = event.value
            case Valued():
                self.values[event.digest] = event.value
            case Called():
                self.past.see_called(
                    event.key, event.seam, event.session, event.request, event.purpose, event.at_ms,
                    event.turn, event.provider, event.parent,
                )  # fmt: skip
            case Answered():
                self._see_answered(event)
            case Killed():
                self.past.see_killed()
            case Accepted():
                self.past.see_accepted()
            case Marked():
                self._marks.add((event.session, event.turn, event.kind, event.name, event.holds))

    def note(self, message: Message, at_ms: int = 0) -> str:
        """Keep a message under its digest, and return the digest."""
        name, malformed = named(message)
        if name not in self.messages:
            self.messages[name] = message
            n = len(self.events) + 1
            self._append(Noted(n=n, at_ms=at_ms, digest=name, value=message, malformed=malformed))
        return name

    def value(self, value: Json, at_ms: int = 0) -> str:
        """Keep another value under its digest, and return the digest; "" for an empty one."""
        if not value:
            return ""
        name, malformed = named(value)
        if name not in self.values:
            self.values[name] = value
            n = len(self.events) + 1
            self._append(Valued(n=n, at_ms=at_ms, digest=name, value=value, malformed=malformed))
        return name

    def started(self, **fields: Json) -> Started:
        """Append the start of a run or of a further attempt."""
        event = self._added(Started(n=len(self.events) + 1, v=SCHEMA_VERSION, **fields))
        self._see_started(event)
        return event

    def _see_started(self, event: Started) -> None:
        self.past.downtime_ms += event.downtime_ms
        said = event.settings.get("profile")
        if isinstance(said, dict) and "inbound" in said:
            self.past.profile = profile_of(said)

    def called(
        self,
        *,
        key: str,
        seam: Seam,
        request: Request,
        at_ms: int = 0,
        session: str = "",
        turn: int = 0,
        purpose: Purpose = "main",
        sdk_retry: int = 0,
        refused: tuple[str, ...] = (),
        bytes: int = 0,
        tokens: int = 0,
        parent: str = "",
        provider: str = "",
        malformed: bool = False,
        route: str = "",
    ) -> Called:
        """Append a call that crossed a seam."""
        event = Called(
            len(self.events) + 1, at_ms, session, turn, key=key, seam=seam, request=request,
            purpose=purpose, sdk_retry=sdk_retry, refused=refused, bytes=bytes, tokens=tokens,
            parent=parent, provider=provider, malformed=malformed, route=route,
        )  # fmt: skip
        self._append(event)
        self.past.see_called(key, seam, session, request, purpose, at_ms, turn, provider, parent)
        return event

    def answered(
        self,
        key: str,
        seam: Seam,
        at_ms: int = 0,
        session: str = "",
        turn: int = 0,
        *,
        script_turn: int | None = None,
        steps: tuple[StepRecord, ...] = (),
        faults: tuple[str, ...] = (),
        status: int | None = None,
        error: str = "",
        stop: str | None = None,
        usage: dict[str, Json] | None = None,
        blocks: str = "",
        value: Json = None,
        complete: bool = True,
        outcome: Outcome = "ok",
        rare: Rare | None = None,
    ) -> Answered:
        """Append the answer to a call; `rare` holds the fields that few answers have."""
        event = Answered(
            len(self.events) + 1, at_ms, session, turn, key=key, seam=seam,
            script_turn=script_turn, steps=steps, faults=faults, status=status, error=error,
            stop=stop, usage=usage or {}, blocks=blocks, value=value, complete=complete,
            outcome=outcome,
        )  # fmt: skip
        event = msgspec.structs.replace(event, **rare) if rare else event
        if faults and self.fault_layers:
            layers = {kind: layer for kind, layer in self.fault_layers.items() if kind in faults}
            event = msgspec.structs.replace(event, layers=layers)
        self._append(event)
        self._see_answered(event)
        return event

    def _see_answered(self, event: Answered) -> None:
        if event.seam == "model" and event.blocks:
            self.last_said[event.session] = event.blocks
        said = self.messages.get(event.blocks) if event.blocks and event.complete else None
        asks = tuple(use.id for use in said.tool_uses) if said else ()
        turn, error = event.script_turn, event.error
        is_failure = event.seam == "tool" and answer_failed(event)
        is_failure |= event.seam == "outbox" and not event.complete
        self.past.see_answered(event.key, event.seam, turn, error, event.value, asks, is_failure)
        if event.seam == "approval":
            comes_ms = event.at_ms + waited_ms(event.steps)
            self.past.decisions.see_answer(event.key, event.value, comes_ms)

    def effect(self, **fields: Json) -> Effected:
        """Append a change of the outside world."""
        return self._added(Effected(n=len(self.events) + 1, **fields))

    def stored(self, **fields: Json) -> Stored:
        """Append a change of the store."""
        return self._added(Stored(n=len(self.events) + 1, **fields))

    def accepted(self, at_ms: int) -> None:
        """Append that the last message has been accepted, if that is news."""
        if (offered := self.past.unconfirmed) is not None:
            session = offered.get("session", "main")
            self._append(Accepted(n=len(self.events) + 1, at_ms=at_ms, session=session))
            self.past.see_accepted()

    def killed(self, **fields: Json) -> Killed:
        """Append a kill of the target."""
        event = Killed(n=len(self.events) + 1, **fields)
        self._append(event)
        self.past.see_killed()
        return event

    def has_mark(self, kind: MarkKind, name: str, holds: bool | None) -> bool:
        """Whether the turn that is worked on has this mark, or there is no room for another."""
        return self._place_of(kind, name, holds) in self._marks or len(self._marks) >= MARKS_MOST

    def marked(self, mark: Mark, at_ms: int) -> None:
        """Append a mark of the agent's code, if it is news in its turn."""
        kind, name, holds = mark.kind, mark.name, mark.holds
        if self.has_mark(kind, name, holds):
            return
        session, turn, *_ = place = self._place_of(kind, name, holds)
        self._marks.add(place)
        self._append(
            Marked(
                len(self.events) + 1, at_ms, session, turn,
                kind=kind, name=name, holds=holds, details=mark.details, where=mark.where,
            )
        )  # fmt: skip

    def _place_of(
        self, kind: MarkKind, name: str, holds: bool | None
    ) -> tuple[str, int, MarkKind, str, bool | None]:
        """The turn of a mark, and the mark; one that is only declared stands in no turn."""
        session = self.past.working_session if holds is not None else ""
        return session, self.past.turn(session), kind, name, holds

    def refused(self, **fields: Json) -> Refused:
        """Append a request that was refused before it reached a seam."""
        return self._added(Refused(n=len(self.events) + 1, **fields))

    def ended(self, **fields: Json) -> Ended:
        """Append the end of the target."""
        return self._added(Ended(n=len(self.events) + 1, **fields))


def encode(events: Iterable[AnyEvent]) -> bytes:
    """Events as JSON Lines."""
    return b"".join(encode_event(event) + b"\n" for event in events)


def decode(lines: bytes) -> History:
    """A history from its JSON Lines.

    Raises BadLine for a line that is not an event or has an unknown version, and for events that
    fit no run.
    """
    history, number = History(), 0
    try:
        for number, line in enumerate(lines.split(b"\n"), start=1):
            if line.strip():
                history.take(decode_line(line, number))
        history.trace  # noqa: B018  folding the events finds a damaged value
    except BadLine:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise BadLine(number, f"a damaged history: {type(error).__name__}: {error}") from error
    except RecursionError:
        raise BadLine(number, "nested too deeply") from None
    return history


def under_profile(history: History, profile: Profile) -> History:
    """The history with this profile, if it names no profile itself."""
    said = msgspec.to_builtins(profile)

    def with_checks(settings: Settings) -> Settings:
        if "profile" in settings:
            return settings
        own: dict[str, dict[str, Json]] = settings.get("checks") or {}
        names = {*own, *profile.checks}
        checks = {n: {**profile.checks.get(n, {}), **own.get(n, {})} for n in sorted(names)}
        return {**settings, "checks": checks, "profile": said}

    return under_settings(history, with_checks)


def under_settings(history: History, changed: Callable[[Settings], Settings]) -> History:
    """The history whose runs began with other settings."""
    other = History()
    for event in history.events:
        if isinstance(event, Started):
            event = msgspec.structs.replace(event, settings=changed(event.settings))
        other.take(event)
    return other


_UNSTABLE: dict[str, Json] = {
    "at_ms": 0, "downtime_ms": 0, "versions": {}, "door": "", "world": "",
    "real_wait_ms": 0, "traceback": "", "frames": (), "place": None,
    "polled": False, "tools_untaken": False, "open_waits": (), "elsewhere": "", "where": "",
}  # fmt: skip


def canonical(history: History) -> bytes:
    """The history without the fields that may differ between transports and worlds: time,
    transport, versions, and the lines of a crash."""
    return encode(_timeless(event) for event in history.events)


def _timeless(event: AnyEvent) -> AnyEvent:
    fields = {name: value for name, value in _UNSTABLE.items() if hasattr(event, name)}
    if isinstance(event, Answered) and isinstance(event.value, dict):
        fields["value"] = {k: v for k, v in event.value.items() if k != "at_ms"}
    if isinstance(event, Answered) and event.seam == "store":
        fields["steps"] = ()  # they count bytes, and stored rows hold times
    if isinstance(event, Answered) and event.seam == "inbox":
        # Only on virtual time does the user take some seconds for a message.
        fields["steps"] = tuple(step for step in event.steps if not isinstance(step, Wait))
    return msgspec.structs.replace(event, **fields)
