"""Plans: how an answer is carried out, step by step.

A script gives a value, a fault changes the plan, a provider writes bytes, a transport runs the
steps. A transport needs only these eight steps, so a recording of the steps can replay a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Literal, TypeAlias, TypeGuard

import msgspec

from harness.core.values.calls import Approval, Inbound
from harness.core.values.messages import Block, Json
from harness.core.values.visible_text import duration

WINDOW_FULL = "model_context_window_exceeded"
"""The core's stop reason for an answer that ends because the window is full. Like each stop reason
of the core it is one in scenarios and histories; the records pair it with the provider's words."""


class Reply(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A reply of the model. `usage` overrides the counted usage, key by key. `extra` holds more
    fields of the message, by the wire's names (`stop_details`, `stop_sequence`). `unoffered`: its
    calls are not what the request offers."""

    blocks: tuple[Block, ...] = ()
    stop: str | None = "end_turn"
    usage: dict[str, Json] = {}
    extra: dict[str, Json] = {}
    unoffered: bool = False


class ApiError(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An error of the provider; the wire puts it into its own words.

    `code` is the finer name that some errors have (`thread_not_found`), "" for none.
    """

    status: int
    type: str
    message: str
    headers: dict[str, str] = {}
    code: str = ""


class Recorded(msgspec.Struct, frozen=True, gc=False):
    """An answer of a cassette: sent as it was, parsed only for the history.

    `pieces` is set if its times are played: the number of bytes of each piece of the body, and the
    milliseconds before it. `cut` tells how it broke off: `reset`, or `broken` in any other way.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    pieces: tuple[tuple[int, int], ...] = ()
    cut: Literal["", "reset", "broken"] = ""


class ToolAnswer(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What a tool returns: text or blocks, or an error text with `is_error`.

    `how` is for a tool in the agent's own process. `input_changed`: it changes its input object,
    now and at the next call. `changed_later`: it changes its returned object at the next call.
    `endless`: it returns an iterator that repeats the content without an end.
    """

    content: Json = ""
    is_error: bool = False
    how: Literal["", "input_changed", "changed_later", "endless"] = ""


class Delivered(msgspec.Struct, frozen=True, gc=False):
    """The answer of the inbox: a message, or None at the end."""

    inbound: Inbound | None


class Accepted(msgspec.Struct, frozen=True, gc=False):
    """The outbox accepted the text."""


class Kept(msgspec.Struct, frozen=True, gc=False):
    """The store confirms an operation.

    A `synced` write survives a failure of the machine. An `unsynced` write survives only a kill of
    the process. An `uncommitted` write survives neither.
    """

    how: Literal["synced", "unsynced", "uncommitted"] = "synced"


class Facts(msgspec.Struct, frozen=True, gc=False):
    """The provider's answer to a request for facts: the whole JSON body."""

    body: dict[str, Json]


Value: TypeAlias = (
    Reply | ApiError | Recorded | ToolAnswer | Approval | Delivered | Accepted | Kept | Facts
)


class Head(msgspec.Struct, frozen=True, gc=False):
    """Status and headers of an HTTP answer."""

    status: int
    headers: dict[str, str]


class Answer(msgspec.Struct, frozen=True, gc=False, tag="answer"):
    """A value that the wire has not encoded yet, or that needs no wire (tools, inbox)."""

    value: Value


class Send(msgspec.Struct, frozen=True, gc=False, tag="send"):
    """Bytes of the body; the first one carries the head."""

    data: bytes
    head: Head | None = None


class Wait(msgspec.Struct, frozen=True, gc=False, tag="wait"):
    """Nothing happens for `ms` milliseconds."""

    ms: int


class Close(msgspec.Struct, frozen=True, gc=False, tag="close"):
    """The connection ends here: in order, or by a reset."""

    reset: bool = False


class Raise(msgspec.Struct, frozen=True, gc=False, tag="raise"):
    """The seam fails: `stop` (the run is over), a tool's error, or a transport error.

    Transport errors are `timeout`, `connect`, `dns`, `connect_timeout` and `write_timeout`.
    """

    error: str
    message: str = ""


class Effect(msgspec.Struct, frozen=True, gc=False, tag="effect"):
    """The outside world changes: a tool's effect, with its idempotency key if it has one."""

    name: str
    key: str = ""


class Jump(msgspec.Struct, frozen=True, gc=False, tag="jump"):
    """The wall clock jumps by `wall_ms`, the monotonic one by `monotonic_ms`; nothing waits."""

    wall_ms: int
    monotonic_ms: int = 0


class Kill(msgspec.Struct, frozen=True, gc=False, tag="kill"):
    """The target is ended with SIGKILL here.

    If the machine fails too, the unsynced writes of the store are `lost`, or only the last of them
    are left (`reordered`). If only the process ends, all writes are `kept`. A kill at a write to
    the agent's own files leaves them as they were before (`undone`) or half of the last append
    (`torn`). With `garbled` it leaves a bad line before the last one.
    """

    unsynced: Literal["kept", "lost", "reordered", "undone", "torn", "garbled"] = "kept"


ON_THE_WAY_S = 1e-6
"""How long at least an agent waits for what never comes, since it is killed. On the virtual clock
every other thread and task then does what it had to do: LangGraph writes its checkpoint beside the
next call, which takes thousands of times longer. A write to a store is not such a wait."""


Step: TypeAlias = Answer | Send | Wait | Close | Raise | Effect | Jump | Kill
Plan: TypeAlias = tuple[Step, ...]


class Sent(msgspec.Struct, frozen=True, gc=False, tag="send"):
    """Consecutive sends: their number, and their size in bytes."""

    count: int
    size_bytes: int


class Returned(msgspec.Struct, frozen=True, gc=False, tag="answer"):
    """A value without bytes; the event holds it in a separate field."""


StepRecord: TypeAlias = Sent | Returned | Wait | Close | Raise | Effect | Jump | Kill
"""A step as the history keeps it: without the bytes and the value that it carried."""

Outcome = Literal["ok", "error", "timeout", "cancelled"]

ENDINGS: frozenset[type[Step]] = frozenset({Close, Raise, Kill})


DATA: Callable[[Send], bytes] = attrgetter("data")
"""Get the bytes of a send; for plans with many sends, `map` is faster than a loop."""

_SEND: frozenset[type[Step]] = frozenset({Send})


def due_message(plan: Plan) -> Inbound | None:
    """The message that a plan delivers; None without one."""
    values = (step.value for step in plan if isinstance(step, Answer))
    return next((value.inbound for value in values if isinstance(value, Delivered)), None)


def only_sends(plan: Plan) -> TypeGuard[tuple[Send, ...]]:
    """Whether the plan only sends bytes, as most plans do."""
    return _SEND.issuperset(map(type, plan))


def is_whole(plan: Plan) -> bool:
    """Whether the whole content of the plan is sent."""
    return ENDINGS.isdisjoint(map(type, plan))


def is_consumed(scripted: Plan, bent: Plan, carried: Plan) -> bool:
    """Whether the script's turn is over: its content, after value faults, is sent completely.

    An error in place of the answer, or an end that the script did not ask for, leaves the turn
    for the next call.
    """
    said = bent is scripted or _speaks(bent) == _speaks(scripted)
    return said and (is_whole(scripted + carried) or _ends(carried) == _ends(scripted))


def _speaks(plan: Plan) -> bool:
    return any(isinstance(s, Answer) and not isinstance(s.value, ApiError) for s in plan)


def _ends(plan: Plan) -> Plan:
    return tuple(step for step in plan if type(step) in ENDINGS)


@lru_cache(maxsize=64)  # a client states the same time-out with each request
def patience_ms(timeout_s: float | None) -> int | None:
    """The time-out of a client in milliseconds; None for one that waits without end.

    A client may state infinity, and whole numbers have none.
    """
    if timeout_s is None or not math.isfinite(timeout_s * 1000):
        return None
    return max(0, int(timeout_s * 1000))


def until_timeout(plan: Plan, timeout_ms: int | None) -> Plan:
    """The plan up to the point at which a client gives up, after `timeout_ms` of silence."""
    if timeout_ms is None or Wait not in map(type, plan):
        return plan
    lived: list[Step] = []
    silent_ms = 0
    for step in plan:
        silent_ms = silent_ms + step.ms if isinstance(step, Wait) else 0
        if isinstance(step, Wait) and silent_ms > timeout_ms:
            lived += [Wait(step.ms - (silent_ms - timeout_ms)), Raise("timeout")]
            return tuple(lived)
        lived.append(step)
    return tuple(lived)


def waited_ms(records: Iterable[StepRecord]) -> int:
    """The total wait of the steps, in milliseconds."""
    return sum(record.ms for record in records if isinstance(record, Wait))


def words(record: StepRecord) -> str:
    """A record as reports print it."""
    match record:
        case Sent(count, size_bytes):
            return f"send {count} ({size_bytes} bytes)"
        case Wait(ms):
            return f"wait {duration(ms / 1000)}"
        case Close(reset):
            return "reset" if reset else "close"
        case Raise(error, message):
            return f"raise {error}: {message}" if message else f"raise {error}"
        case Effect(name):
            return f"effect {name}"
        case Jump(wall_ms, monotonic_ms):
            monotonic = f", {duration(monotonic_ms / 1000)} monotonic" if monotonic_ms else ""
            return f"jump {duration(wall_ms / 1000)}{monotonic}"
        case Kill(unsynced):
            return "kill" if unsynced == "kept" else f"kill, unsynced {unsynced}"
        case _:
            return "answer"
