"""Plans: how an answer is carried out, step by step.

A script gives a value, a fault bends the plan, a wire turns the value into bytes, a door carries
the steps out. The eight steps are all that a door must be able to do; whatever happens to an
agent is one of them, so it can be recorded, drawn, shrunk and played again.
"""

from __future__ import annotations

from itertools import groupby
from typing import Literal, TypeAlias, TypeGuard

import msgspec

from harness.core.calls import Inbound
from harness.core.messages import Block, Json


class Reply(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the model says. `usage` overrides the counted one, key by key."""

    blocks: tuple[Block, ...] = ()
    stop: str | None = "end_turn"
    usage: dict[str, Json] = {}


class ApiError(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An error of the provider; the wire puts it into its own words."""

    status: int
    type: str
    message: str
    headers: dict[str, str] = {}


class Recorded(msgspec.Struct, frozen=True, gc=False):
    """An answer of a cassette: sent as it was, parsed only for the history.

    `complete` is False for a stream whose terminal event was not recorded.
    """

    status: int
    headers: dict[str, str]
    body: bytes


class ToolAnswer(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What a tool returns: text or blocks, or an error text with `is_error`."""

    content: Json = ""
    is_error: bool = False


class Delivered(msgspec.Struct, frozen=True, gc=False):
    """What the inbox gives: a message, or None when there are no more."""

    inbound: Inbound | None


class Accepted(msgspec.Struct, frozen=True, gc=False):
    """The outbox took the text."""


Value: TypeAlias = Reply | ApiError | Recorded | ToolAnswer | Delivered | Accepted


class Head(msgspec.Struct, frozen=True, gc=False):
    """Status and headers of an HTTP answer."""

    status: int
    headers: dict[str, str]


class Answer(msgspec.Struct, frozen=True, gc=False, tag="answer"):
    """A value that the wire has not written yet, or that needs no wire (tools, inbox)."""

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
    """The seam fails: `timeout` and `connect` (model), `stop` (the run is over), a tool's error."""

    error: str
    message: str = ""


class Effect(msgspec.Struct, frozen=True, gc=False, tag="effect"):
    """The outside world changes: what a tool does, with its idempotency key if it has one."""

    name: str
    key: str = ""


class Jump(msgspec.Struct, frozen=True, gc=False, tag="jump"):
    """The wall clock jumps; the monotonic one does not."""

    wall_ms: int


class Kill(msgspec.Struct, frozen=True, gc=False, tag="kill"):
    """The target is ended with SIGKILL here."""


Step: TypeAlias = Answer | Send | Wait | Close | Raise | Effect | Jump | Kill
Plan: TypeAlias = tuple[Step, ...]

Outcome = Literal["ok", "error", "timeout", "cancelled"]

ENDINGS: frozenset[type[Step]] = frozenset({Close, Raise, Kill})


_SEND: frozenset[type[Step]] = frozenset({Send})


def only_sends(plan: Plan) -> TypeGuard[tuple[Send, ...]]:
    """Whether the plan sends bytes and does nothing else, as nearly every one does."""
    return _SEND.issuperset(map(type, plan))


def is_whole(plan: Plan) -> bool:
    """Whether everything the plan has to say leaves the door."""
    return ENDINGS.isdisjoint(map(type, plan))


def is_consumed(scripted: Plan, bent: Plan, carried: Plan) -> bool:
    """Whether the script's turn is over: what it says, as value faults bent it, leaves whole.

    An error in place of the answer, or an end that the script did not ask for, leaves the turn
    for the next call.
    """
    said = bent is scripted or _speaks(bent) == _speaks(scripted)
    return said and (is_whole(scripted + carried) or _ends(carried) == _ends(scripted))


def _speaks(plan: Plan) -> bool:
    return any(isinstance(s, Answer) and not isinstance(s.value, ApiError) for s in plan)


def _ends(plan: Plan) -> Plan:
    return tuple(step for step in plan if type(step) in ENDINGS)


def until_timeout(plan: Plan, timeout_ms: int | None) -> Plan:
    """The plan as a client lives through it that gives up after `timeout_ms` of silence."""
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


def summary(plan: Plan) -> tuple[str, ...]:
    """The plan in words for the history: runs of sends are one line with their size."""
    if plan and only_sends(plan):
        return (_sent([len(step.data) for step in plan]),)
    lines: list[str] = []
    for kind, run in groupby(plan, type):
        if kind is Send:
            lines.append(_sent([len(step.data) for step in run if isinstance(step, Send)]))
        else:
            lines.extend(map(_words, run))
    return tuple(lines)


def _sent(sizes: list[int]) -> str:
    return f"send {len(sizes)} ({sum(sizes)} bytes)"


def _words(step: Step) -> str:
    match step:
        case Wait(ms):
            return f"wait {ms} ms"
        case Close(reset):
            return "reset" if reset else "close"
        case Raise(error):
            return f"raise {error}"
        case Effect(name):
            return f"effect {name}"
        case Jump(wall_ms):
            return f"jump {wall_ms} ms"
        case Kill():
            return "kill"
        case _:
            return "answer"
