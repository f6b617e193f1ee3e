"""Records the answer of a plan before any step of it is carried out.

Most model replies are unfaulted: `record_reply` records them from known facts. `record_answer`
works out any other plan from its steps. Both agree on an unfaulted reply.

Pings, comments and blank lines reset a client's read timeout but have no content, so silence is
counted between content. White space inside content belongs to it, because an answer may come byte
by byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, takewhile

import msgspec

from harness.core.history.events import Rare
from harness.core.history.history import History
from harness.core.values.calls import Approval, Call
from harness.core.values.messages import Json, Message
from harness.core.values.plans import (
    DATA,
    ENDINGS,
    Accepted,
    Answer,
    ApiError,
    Close,
    Delivered,
    Effect,
    Head,
    Kill,
    Outcome,
    Plan,
    Raise,
    Reply,
    Returned,
    Send,
    Sent,
    Step,
    StepRecord,
    ToolAnswer,
    Wait,
    only_sends,
)

RECORDS_MOST = 40
"""The largest number of step records of a plan."""

_MESSAGE_MOST = 500
"""The number of characters of a tool's exception text; that text is the tool's result, so it may be
long."""


def record_reply(
    history: History,
    call: Call,
    plan: tuple[Send, ...],
    reply: Reply,
    said: str,
    *,
    turn: int | None,
    too_large: bool,
) -> Plan:
    """Record a reply as the wire wrote it; return the plan for the transport.

    `said` is the digest of its message.
    """
    head = plan[0].head
    assert head is not None
    history.answered(
        call.key, "model", call.at_ms, call.session, call.turn,
        script_turn=turn, steps=(record_sends(plan),), status=head.status,
        blocks=said, stop=reply.stop, usage=reply.usage,
        rare={"too_large": True} if too_large else None,
    )  # fmt: skip
    return plan


def record_answer(
    history: History,
    call: Call,
    plan: Plan,
    *,
    turn: int | None = None,
    said: Reply | ApiError | None = None,
    error: str = "",
    faults: tuple[str, ...] = (),
    value: Json = None,
    cut: bool = False,
    too_large: bool = False,
    said_all: bool = False,
    wait_ms: str = "",
) -> Plan:
    """Record the plan as the answer to a call, with its effects; return the plan for the transport.

    `said` is the content of a model's answer. The caller passes the facts that the plan does not
    show: `value`, `cut` (the terminal event is missing), `said_all` (it is present) and
    `too_large`. `wait_ms` is the header in which the provider asks for a wait in milliseconds.
    """
    kinds = set(map(type, plan))
    whole = ENDINGS.isdisjoint(kinds)
    if Effect in kinds:
        _record_effects(history, call, plan)
    if call.seam not in ("model", "provider"):
        return _record_value(history, call, plan, whole, turn, error, faults)
    reply = said if isinstance(said, Reply) else None
    heads = [step.head for step in plan if isinstance(step, Send) and step.head is not None]
    statuses = [head.status for head in heads] or written_status(plan)
    failed = isinstance(said, ApiError) or (bool(statuses) and max(statuses) >= 400)
    is_rare = too_large or said_all or Wait in kinds or (bool(statuses) and statuses[0] >= 400)
    history.answered(
        call.key, call.seam, call.at_ms, call.session, call.turn,
        script_turn=turn, faults=faults, error=error, steps=record_steps(plan), value=value,
        status=statuses[0] if statuses else None,
        outcome=("error" if failed else "ok") if whole else _broken(plan),
        complete=(reply is not None or call.seam == "provider") and whole and not cut,
        blocks=history.note(Message("assistant", reply.blocks), call.at_ms) if reply else "",
        stop=reply.stop if reply else None, usage=reply.usage if reply else None,
        rare=_rare(plan, heads, wait_ms, too_large, said_all) if is_rare else None,
    )  # fmt: skip
    return plan


def _rare(plan: Plan, heads: Sequence[Head], wait_ms: str, too_large: bool, said_all: bool) -> Rare:
    is_refused = bool(heads) and heads[0].status >= 400
    return {
        "retry_after": _retry_after(heads[0].headers, wait_ms) if is_refused else "",
        "too_large": too_large,
        "silent_ms": silent_ms(plan),
        "said_all": said_all,
    }


def _retry_after(headers: Mapping[str, str], wait_ms: str) -> str:
    """The wait that the headers ask for; SDKs prefer the one in milliseconds."""
    asked_ms = headers.get(wait_ms)
    return headers.get("retry-after", "") if asked_ms is None else f"{asked_ms} ms"


def _record_value(
    history: History, call: Call, plan: Plan, whole: bool, script_turn: int | None, error: str,
    faults: tuple[str, ...],
) -> Plan:  # fmt: skip
    value = next((s.value for s in plan if isinstance(s, Answer)), None)
    session, turn, told = call.session, call.turn, None
    failed = getattr(value, "is_error", False) or any(map(_is_error, plan))
    if isinstance(value, ToolAnswer):
        told = msgspec.to_builtins(_written(value))
    if isinstance(value, Approval):
        told = msgspec.to_builtins(value)
    if isinstance(value, Delivered) and value.inbound is not None:
        session, told = value.inbound.session, msgspec.to_builtins(value.inbound)
        is_message = value.inbound.kind == "message"
        turn = history.past.turn(session)
        turn += is_message and not history.past.comes_behind(session, value.inbound.id)
    history.answered(
        call.key, call.seam, call.at_ms, session, turn,
        script_turn=script_turn, faults=faults, error=error, steps=record_steps(plan), value=told,
        outcome=("error" if failed else "ok") if whole else _broken(plan),
        complete=isinstance(value, Accepted) if call.seam == "outbox" else whole,
    )  # fmt: skip
    return plan


def _written(value: ToolAnswer) -> ToolAnswer:
    if not isinstance(value.content, bytes):
        return value
    return msgspec.structs.replace(value, content=value.content.decode("utf-8", "surrogateescape"))


def _record_effects(history: History, call: Call, plan: Plan) -> None:
    for step in takewhile(lambda step: not isinstance(step, Close | Raise | Kill), plan):
        if isinstance(step, Effect):
            history.effect(
                at_ms=call.at_ms, session=call.session, turn=call.turn, key=call.key,
                name=step.name, idempotency_key=step.key,
            )  # fmt: skip


def _is_error(step: Step) -> bool:
    return isinstance(step, Send) and step.head is not None and step.head.status >= 400


def _broken(plan: Plan) -> Outcome:
    raised = next((step.error for step in plan if isinstance(step, Raise)), "")
    return "timeout" if raised.endswith("timeout") else "error"


def record_steps(plan: Plan) -> tuple[StepRecord, ...]:
    """The step records of a plan for the history."""
    if plan and only_sends(plan):
        return (record_sends(plan),)
    records: list[StepRecord] = []
    for kind, run in groupby(plan, type):
        if kind is Send:
            records.append(record_sends([step for step in run if isinstance(step, Send)]))
        else:
            records.extend(map(_record, run))
    return tuple(records) if len(records) <= RECORDS_MOST else tuple(_sums(plan))


def record_sends(sends: Sequence[Send]) -> Sent:
    """The record of consecutive sends."""
    return Sent(len(sends), sum(map(len, map(DATA, sends))))


def _sums(plan: Plan) -> Iterator[StepRecord]:
    if wait_ms := sum(step.ms for step in plan if isinstance(step, Wait)):
        yield Wait(wait_ms)
    if sends := [step for step in plan if isinstance(step, Send)]:
        yield record_sends(sends)
    yield from (_record(step) for step in plan if not isinstance(step, (Wait, Send)))


def _record(step: Step) -> StepRecord:
    match step:
        case Raise("tool", message):
            return Raise("tool", message[:_MESSAGE_MOST])
        case Raise(error):
            return Raise(error)
        case Effect(name):
            return Effect(name)
        case Answer() | Send():
            return Returned()
        case _:
            return step


_KEEP_ALIVE = re.compile(rb"(?:\s|:[^\r\n]*+|event: ?ping\r?\n|data: ?\{\"type\": ?\"ping\"\})*+")
"""Events that only keep a stream open: blank lines, comments and pings."""

_BLANK_LINE = re.compile(rb"\n\r?\n")


def silent_ms(plan: Plan) -> int:
    """The longest time in a plan, in milliseconds, between two pieces of content or before its
    end."""
    longest = lasting = 0
    is_open, end = False, b""
    for step in plan:
        if isinstance(step, Wait):
            lasting += step.ms
            longest = max(longest, lasting)
        elif isinstance(step, Send):
            if is_open or not _KEEP_ALIVE.fullmatch(step.data):
                lasting = 0
            is_open = _leaves_open(is_open, end, step.data)
            end = (end + step.data)[-2:]
    return longest


def _leaves_open(is_open: bool, end: bytes, data: bytes) -> bool:
    """Whether content continues after `data`, with no blank line to end it yet."""
    *former, rest = _BLANK_LINE.split(end + data) if is_open else _BLANK_LINE.split(data)
    return (is_open and not former) or not _KEEP_ALIVE.fullmatch(rest)


_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([2-5]\d\d)[ \r]")


def written_status(plan: Plan) -> list[int]:
    """The statuses of an answer with a head in its bytes; informational statuses come first."""
    sent = b"".join([step.data for step in plan if isinstance(step, Send)])
    while sent.startswith(b"HTTP/1.1 1") and b"\r\n\r\n" in sent:
        sent = sent.partition(b"\r\n\r\n")[2]
    found = _STATUS_LINE.match(sent)
    return [int(found[1])] if found and b"\r\n\r\n" in sent else []
