"""The event structs of a history, one per kind.

Only `History` calls the constructors. The first line of a file has the schema version `v`.
"""

from __future__ import annotations

import re
from typing import TypeAlias, TypedDict

import msgspec

from harness.core.values.calls import Purpose, Request, Seam
from harness.core.values.mark_kinds import MarkKind
from harness.core.values.messages import Json, Message
from harness.core.values.orders import ChoicePoint
from harness.core.values.plans import Outcome, StepRecord
from harness.core.values.verdict import CrashPlace

SCHEMA_VERSION = 2


class Event(msgspec.Struct, frozen=True, gc=False, tag_field="event", omit_defaults=True):
    """The common fields of events: the number, the time on the run's clock, the session and the
    turn.

    These four may be given by position. A call with more than 15 keywords is several times slower,
    because Python puts them into a dict first.
    """

    n: int
    at_ms: int = 0
    session: str = ""
    turn: int = 0


class RunSettings(msgspec.Struct, frozen=True):
    """The settings that checks read from the first event of a run."""

    checks: dict[str, dict[str, Json] | None] | None = None
    tools: dict[str, dict[str, Json] | None] | None = None
    window_tokens: float | None = None
    seeded: int | None = None


class Started(Event, frozen=True, kw_only=True, tag="started"):
    """A run begins, or begins again after a restart (`attempt`).

    `downtime_ms`: the time without a process of the agent, which only the agent's clocks count.
    `inferred`: a log of messages was read, and its requests are worked out from them. `unread`: why
    a recording may be read by half, in words.
    """

    v: int
    run: str
    scenario: str
    variant: str = ""
    wire: str = ""
    stream: bool = False
    target: str = ""
    seed: int = 0
    world: str = ""
    door: str = ""
    attempt: int = 0
    downtime_ms: int = 0
    inferred: bool = False
    unread: tuple[str, ...] = ()
    seams: tuple[Seam, ...] = ()
    settings: dict[str, Json] = {}
    versions: dict[str, str] = {}


class Noted(Event, frozen=True, kw_only=True, tag="message"):
    """A message, stored once under its digest. A file holds the escape in place of half a surrogate
    pair; `malformed` marks such a message."""

    digest: str
    value: Message
    malformed: bool = False


class Valued(Event, frozen=True, kw_only=True, tag="value"):
    """A value other than a message (a system text, a tool list), stored once under its digest."""

    digest: str
    value: Json
    malformed: bool = False


class Called(Event, frozen=True, kw_only=True, tag="called"):
    """The agent calls; `refused` holds the ids of the rules that the dialect answers 400 for.

    `parent`: the session that started this one; set on the first model call of a sub-agent.
    `provider`: the provider whose API a model call uses. `route`: its path, if that is of another
    host which offers the provider's models. `malformed`: the body is unreadable because it holds
    half of a surrogate pair.
    """

    key: str
    seam: Seam
    request: Request
    purpose: Purpose = "main"
    sdk_retry: int = 0
    refused: tuple[str, ...] = ()
    bytes: int = 0
    tokens: int = 0
    parent: str = ""
    provider: str = ""
    malformed: bool = False
    route: str = ""


class Answered(Event, frozen=True, kw_only=True, tag="answered"):
    """An answer to a call. `error` is a code (`V4`, `limit.model_calls`, `script.exhausted`).

    `script_turn` is the consumed turn; None if its value was not sent completely. `blocks` names an
    assistant message. `value` is a tool's answer, an inbound message, or the text of an error that
    a log marks. `complete`: the whole answer was sent, with its terminal event. `retry_after` is
    the unchanged header; for one in milliseconds, the number is followed by `ms`. `too_large`: the
    answer refuses the request for its size, in any form. `silent_ms` is the longest time in a
    model's answer without content; keep-alives are not content. `layers` names the layer of each
    fault from a plug-in. `said_all`: the terminal event was sent although the answer is not
    `complete`. The events before it are out of order, so a client may or may not read it.
    """

    key: str
    seam: Seam
    script_turn: int | None = None
    steps: tuple[StepRecord, ...] = ()
    faults: tuple[str, ...] = ()
    status: int | None = None
    error: str = ""
    stop: str | None = None
    usage: dict[str, Json] = {}
    blocks: str = ""
    value: Json = None
    complete: bool = True
    outcome: Outcome = "ok"
    retry_after: str = ""
    too_large: bool = False
    silent_ms: int = 0
    layers: dict[str, str] = {}
    said_all: bool = False

    def layer_of(self, fault: str) -> str:
        """The layer of a fault that changed this answer: as declared, else the part before the
        dot."""
        return self.layers.get(fault) or fault.partition(".")[0]


class Rare(TypedDict, total=False):
    """The fields that few answers have. They are passed separately for speed; see `Event`."""

    retry_after: str
    too_large: bool
    silent_ms: int
    said_all: bool


class Effected(Event, frozen=True, kw_only=True, tag="effect"):
    """A change of the outside world, as the fake world recorded it."""

    key: str
    name: str
    idempotency_key: str = ""


class StoredRow(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A row of the session store: its id, its message, and the inbound id if it keeps one.

    `session` is "" if the store does not name the session of a row.
    """

    id: str
    digest: str
    inbound: str = ""
    session: str = ""


class Stored(Event, frozen=True, kw_only=True, tag="stored"):
    """The changes in the store since the last look."""

    store: str
    added: tuple[StoredRow, ...] = ()
    changed: tuple[StoredRow, ...] = ()
    gone: tuple[str, ...] = ()
    durable: bool = True


OWN_WRITE = "files#"
"""How the key of a write to the agent's own files begins; its number follows."""


class Killed(Event, frozen=True, kw_only=True, tag="killed"):
    """The target was ended with a signal at a call, at a store write, or at a write to its own
    files."""

    at: str
    signal: str = "SIGKILL"

    @property
    def is_at_own_write(self) -> bool:
        """Whether it came at a write to the agent's own files."""
        return self.at.startswith(OWN_WRITE)

    @property
    def half_file(self) -> str:
        """The agent's file that the kill left with half a line; "" for none."""
        return self.at.partition(" ")[2] if self.is_at_own_write else ""


class Accepted(Event, frozen=True, kw_only=True, tag="accepted"):
    """A reader has asked for its next message and waits: it has accepted the last one, which a kill
    does not bring back. Where there is a next one, the call for it says the same."""


class Refused(Event, frozen=True, kw_only=True, tag="refused"):
    """A server of the harness refused a request before it reached a seam, so it is not a call.

    `request` is its method and path, "" for an unreadable head; `text` gives the reason.
    """

    status: int
    text: str
    request: str = ""


class Marked(Event, frozen=True, kw_only=True, tag="mark"):
    """The agent's own code came to a mark of its author: the first time in a turn that it held, and
    the first time that it did not.

    `holds` is None for a mark that the code only declares. `where` is `FILE:LINE in FUNCTION`.
    """

    kind: MarkKind
    name: str
    holds: bool | None = None
    details: Json = None
    where: str = ""


_ERROR = r"(\w[\w.]*(?:Error|Exception|Exit|Interrupt|Group))\b"
_ERROR_LINE, _ERROR_WORD = re.compile(rf"^{_ERROR}", re.MULTILINE), re.compile(rf"\b{_ERROR}")


class Ended(Event, frozen=True, kw_only=True, tag="ended"):
    """The target ended: returned, crashed or killed; at a limit (limit, memory, hung, computes,
    loops, backs_off); machine (this machine lacks something, or is too slow); or unable (a harness
    failure).

    `polled`: the agent asked in the middle of a turn whether the user has cancelled.
    `tools_untaken`: the scenario has tools, and the agent never looked at them. `elsewhere`: the
    last path at which it asked for a model and none is, if it made no model call. After a crash,
    `frames` are the frames of the user's code, the innermost last. `place` is the line of the
    innermost frame, and `traceback` is the whole traceback. `open_waits`: where the threads and
    tasks of a Python target stand that hangs, or waits outside of virtual time. `points`: who
    waited at each point of choice of this life, if the scenario names orders.
    """

    how: str
    exit_code: int | None = None
    text: str = ""
    frames: tuple[str, ...] = ()
    place: CrashPlace | None = None
    traceback: str = ""
    unplayed: tuple[str, ...] = ()
    silent_faults: tuple[str, ...] = ()
    undelivered: tuple[str, ...] = ()
    unplayed_messages: tuple[str, ...] = ()
    live_sockets: tuple[str, ...] = ()
    real_wait_ms: int = 0
    polled: bool = False
    tools_untaken: bool = False
    elsewhere: str = ""
    open_waits: tuple[str, ...] = ()
    points: tuple[ChoicePoint, ...] = ()
    unread_marks: tuple[str, ...] = ()

    @property
    def error(self) -> str:
        """The name of the exception that ended the target; "" if nothing tells it.

        Only our own process sees the exception. A program prints its traceback, whose last line
        begins with the name; the errors above it are those that it was raised from.
        """
        if self.place is not None or self.how != "crashed":
            return self.place.error if self.place else ""
        return next(
            iter([*_ERROR_LINE.findall(self.text)[-1:], *_ERROR_WORD.findall(self.text)]), ""
        )

    @property
    def waits_at(self) -> str:
        """The first three of the open waits, for the end of a text."""
        places = ", ".join(wait.partition(": ")[0] for wait in self.open_waits[:3])
        more = f" and {len(self.open_waits) - 3} more" if self.open_waits[3:] else ""
        return f"; it waits at {places}{more}" if places else ""


AnyEvent: TypeAlias = (
    Started
    | Noted
    | Valued
    | Called
    | Answered
    | Effected
    | Stored
    | Accepted
    | Killed
    | Marked
    | Refused
    | Ended
)
