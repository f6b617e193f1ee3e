"""The event structs of a history, one per kind.

Only `History` calls the constructors. The first line of a file has the schema version `v`.
"""

from __future__ import annotations

from typing import TypeAlias, TypedDict

import msgspec

from harness.core.values.calls import Purpose, Request, Seam
from harness.core.values.messages import Json, Message
from harness.core.values.plans import Outcome, StepRecord
from harness.core.values.verdict import CrashPlace

SCHEMA_VERSION = 2


class Event(msgspec.Struct, frozen=True, gc=False, tag_field="event", omit_defaults=True):
    """What every event has: its place, the time on the run's clock, whose turn it is.

    These four may be given by position. A call with more than 15 keywords is several times as
    slow: Python puts them into a dict first.
    """

    n: int
    at_ms: int = 0
    session: str = ""
    turn: int = 0


class RunSettings(msgspec.Struct, frozen=True):
    """The shape of those settings of a run that checks read as they stand in its first event."""

    checks: dict[str, dict[str, Json] | None] | None = None
    tools: dict[str, dict[str, Json] | None] | None = None
    window_tokens: float | None = None
    seeded: int | None = None


class Started(Event, frozen=True, kw_only=True, tag="started"):
    """A run begins, or begins again after a restart (`attempt`).

    `inferred`: a log of messages was read, and its requests are worked out from them.
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
    inferred: bool = False
    seams: tuple[Seam, ...] = ()
    settings: dict[str, Json] = {}
    versions: dict[str, str] = {}


class Noted(Event, frozen=True, kw_only=True, tag="message"):
    """A message, once, under its digest. A file has the escape in place of half a surrogate pair;
    `malformed` says that it was one."""

    digest: str
    value: Message
    malformed: bool = False


class Valued(Event, frozen=True, kw_only=True, tag="value"):
    """A value that is no message (a system text, a tool list), once, under its digest."""

    digest: str
    value: Json
    malformed: bool = False


class Called(Event, frozen=True, kw_only=True, tag="called"):
    """The agent calls; `refused` holds the ids of the rules that the dialect answers 400 for.

    `parent`: the session that has made this one; said by the first model call of a sub-agent.
    `provider`: of a model call, the provider that it came by.
    `malformed`: the body cannot be read, for it holds half of a surrogate pair.
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


class Answered(Event, frozen=True, kw_only=True, tag="answered"):
    """What the world answered. `error` is a code (`V4`, `limit.model_calls`, `script.exhausted`).

    `script_turn` is the turn that was consumed, None when its value did not leave whole. `blocks`
    names an assistant message; `value` is a tool's answer, an inbound message, or the words of an
    error that a log marks; `complete` says that the whole answer left the door, with its terminal
    event. `retry_after` is that header as it stands, with `ms` behind the number of a
    `retry-after-ms`; `too_large` says that the answer refuses the request for its size, whatever
    its shape. `silent_ms` is the longest time within a model's answer in which nothing comes, or
    nothing but keep-alives. `layers` names the layer of each fault that a plug-in brought.
    `said_all`: the terminal event came, though the answer is not `complete`: the events before it
    are out of order, and a client reads it or not.
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
        """The layer of a fault that bent this answer: as declared, else the part before the dot."""
        return self.layers.get(fault) or fault.partition(".")[0]


class Rare(TypedDict, total=False):
    """The fields of an answer that nearly none has, made apart for speed: see `Event`."""

    retry_after: str
    too_large: bool
    silent_ms: int
    said_all: bool


class Effected(Event, frozen=True, kw_only=True, tag="effect"):
    """The outside world changed: recorded by the fake world, not claimed by the agent."""

    key: str
    name: str
    idempotency_key: str = ""


class StoredRow(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A row of the session store: its id, its message, the inbound id that it keeps if any.

    `session` is "" where the store does not tell whose the row is.
    """

    id: str
    digest: str
    inbound: str = ""
    session: str = ""


class Stored(Event, frozen=True, kw_only=True, tag="stored"):
    """What changed in the store since the last look."""

    store: str
    added: tuple[StoredRow, ...] = ()
    changed: tuple[StoredRow, ...] = ()
    gone: tuple[str, ...] = ()
    durable: bool = True


class Killed(Event, frozen=True, kw_only=True, tag="killed"):
    """The target was ended with a signal at a call or a store write."""

    at: str
    signal: str = "SIGKILL"


class Refused(Event, frozen=True, kw_only=True, tag="refused"):
    """A server of the harness refused a request before it reached a seam: no call of the agent's.

    `request` is its method and path, "" where its head cannot be read; `text` says why.
    """

    status: int
    text: str
    request: str = ""


class Ended(Event, frozen=True, kw_only=True, tag="ended"):
    """The target ended: returned, crashed or killed; at a limit (limit, memory, hung, computes,
    loops, backs_off); or unable (a harness failure, or a machine that is too slow).

    `polled`: the agent asked in the middle of a turn whether the user has cancelled.
    `tools_untaken`: the scenario has tools, and the agent never looked at them.
    Of a crash, `frames` are those of the user's code, the innermost last, `place` is where that
    one stands, and `traceback` is all.
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
    live_sockets: tuple[str, ...] = ()
    real_wait_ms: int = 0
    polled: bool = False
    tools_untaken: bool = False


AnyEvent: TypeAlias = (
    Started | Noted | Valued | Called | Answered | Effected | Stored | Killed | Refused | Ended
)
