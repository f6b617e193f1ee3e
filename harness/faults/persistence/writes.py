"""Writes and reads that fail, wait, lie, or end the process.

Errors are the store library's own: OSError with errno for files, SQLite's for databases. Arm a kill
with `fsync_ignored` and `commit_forgotten`, whose loss shows only after a restart. Some faults
strike other seams, at the moments between storing and the rest: a kill between an effect and its
row, or text of the model that holds odd line separators.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.calls import OutboxRequest
from harness.core.values.messages import Text, user
from harness.core.values.plans import (
    Answer,
    Effect,
    Kept,
    Kill,
    Plan,
    Raise,
    Reply,
    Send,
    Wait,
)
from harness.core.values.strict import Count, Seconds
from harness.faults.shared.pieces import ms
from harness.faults.shared.replies import rewritten
from harness.faults.shared.store_records import fact, on, records, row

_AT_WRITES = ("killed_at_write", "torn_write", "power_cut", "power_cut_reordered")
_AT_DELIVERY = ("killed_before_delivery", "killed_after_delivery")
KILLS = (*_AT_WRITES, *_AT_DELIVERY, "killed_after_effect")
# A scenario has to say what it expects: in the history its effect looks like the agent's own act.
DRAWN = {"second_agent": ()}
STAGE = dict.fromkeys(("full_at_flush", "partial_write", *_AT_WRITES), "bytes")
SEAMS = {
    "*": ("store",),
    **dict.fromkeys(_AT_DELIVERY, ("outbox",)),
    "killed_after_effect": ("tool",),
    "line_separators": ("model",),
}
ON = {
    "*": "store:write",
    **dict.fromkeys(_AT_DELIVERY, "outbox"),
    "killed_after_effect": "tool",
    "line_separators": "model",
}


def full_at_flush(moment: Moment, plan: Plan) -> Plan:
    """The line is written, and the disk turns out to be full when it is synced: ENOSPC."""
    if not on(moment, access="write", store="jsonl"):
        return plan
    return (*map(Send, records(plan)), Raise("ENOSPC"))


def partial_write(moment: Moment, plan: Plan, *, at_byte: Count = 20) -> Plan:
    """`at_byte` bytes of a line are written, then the file may not grow: EFBIG. The agent goes on
    with a torn line in its file."""
    line = b"".join(records(plan))
    if not on(moment, access="write", store="jsonl") or at_byte >= len(line):
        return plan
    return (Send(line[:at_byte]), Raise("EFBIG"))


def _fails(
    moment: Moment, plan: Plan, *, error: str, store: str = "", access: str = "write"
) -> Plan:
    """A template of presets: the store's library raises, and nothing is done."""
    return (Raise(error), *plan) if on(moment, access=access, store=store) else plan


def locked(
    moment: Moment, plan: Plan, *, wait_s: Annotated[float, msgspec.Meta(ge=0)] = 5.0
) -> Plan:
    """Another process holds the write lock of a SQLite store for longer than its busy time-out of
    `wait_s` seconds (0: it has none): "database is locked"."""
    if not on(moment, access="write", store="sqlite"):
        return plan
    waited = (Wait(int(wait_s * 1000)),) if wait_s else ()
    return (*waited, Raise("busy"), *plan)


def lock_released_in_time(moment: Moment, plan: Plan, *, wait_s: Seconds = 2.0) -> Plan:
    """Another process holds the lock and lets it go after `wait_s` seconds; escalating, twice as
    many each time. The write is late and succeeds."""
    if not on(moment, access="write"):
        return plan
    return (Wait(ms(wait_s * moment.harder)), *plan)


def second_writer(moment: Moment, plan: Plan, *, text: str = "From another process:") -> Plan:
    """A second process has the same session open, and stores its own message first."""
    if not on(moment, access="write"):
        return plan
    return (Send(row(moment, user(f"{text} {moment.call.n}"))), *plan)


def second_agent(moment: Moment, plan: Plan) -> Plan:
    """A second agent on the same session takes the same inbound message in first."""
    taken = [record for record in records(plan) if fact(record).get("accepted")]
    if not on(moment, access="write") or not taken:
        return plan
    again = fact(taken[0])
    return (Send(msgspec.json.encode(again) + b" \n"), *plan)


def _keeps(
    moment: Moment, plan: Plan, *, how: Literal["unsynced", "uncommitted"], store: str = ""
) -> Plan:
    """A template of presets: the write is acknowledged, and kept in this way alone."""
    if not on(moment, access="write", store=store):
        return plan
    return tuple(Answer(Kept(how)) if isinstance(step, Answer) else step for step in plan)


Point = Literal["before", "inside", "after"]


def killed_at_write(moment: Moment, plan: Plan, *, point: Point = "inside") -> Plan:
    """The process is killed at a write; what was written stays.

    The point is `before` the write, `inside` it or `after` it. Inside it, all is said and nothing
    counts yet. After it, the write counts and the agent does not know.
    """
    return _ended(plan, point, Kill()) if on(moment, access="write") else plan


def torn_write(moment: Moment, plan: Plan, *, at_byte: Count = 20) -> Plan:
    """`at_byte` bytes of a line are written, then the process is killed."""
    line = b"".join(records(plan))
    if not on(moment, access="write", store="jsonl") or at_byte >= len(line):
        return plan
    return (Send(line[:at_byte]), Kill())


def power_cut(moment: Moment, plan: Plan, *, point: Point = "inside") -> Plan:
    """The machine fails at a write: what was not synced is gone, acknowledged or not."""
    return _ended(plan, point, Kill("lost")) if on(moment, access="write") else plan


def power_cut_reordered(moment: Moment, plan: Plan, *, point: Point = "inside") -> Plan:
    """The machine fails at a write, and of what was not synced only the end has reached the disk,
    after a run of zeros. SQLite drops such a log whole."""
    wanted = on(moment, access="write", store="jsonl")
    return _ended(plan, point, Kill("reordered")) if wanted else plan


def _ended(plan: Plan, point: Point, end: Kill) -> Plan:
    """The plan up to the point, and the end there."""
    if point == "before":
        return (end, *plan)
    if point == "after":
        return (*plan, end)
    place = next((i for i, step in enumerate(plan) if isinstance(step, Answer)), len(plan))
    return (*plan[:place], end, *plan[place:])


def killed_before_delivery(moment: Moment, plan: Plan) -> Plan:
    """The process is killed as it delivers a reply: the user has not got it."""
    return (Kill(),) if _ends_a_turn(moment) else plan


def killed_after_delivery(moment: Moment, plan: Plan) -> Plan:
    """The process is killed once a reply was delivered, and before it can note that it was."""
    return (*plan, Kill()) if _ends_a_turn(moment) else plan


def _ends_a_turn(moment: Moment) -> bool:
    request = moment.call.request
    return isinstance(request, OutboxRequest) and request.kind in ("final", "error", "notice")


def killed_after_effect(moment: Moment, plan: Plan) -> Plan:
    """The tool does its work, and the process is killed before the result can be stored."""
    return (*(step for step in plan if isinstance(step, Effect)), Kill())


SEPARATORS = "\u2028\u2029\u0085\x0b\x0c\x1c"
"""What `str.splitlines` splits at, beside the line feed and the carriage return."""


def line_separators(moment: Moment, plan: Plan) -> Plan:
    """The model's text ends with each character that ends a line for some readers: U+2028, U+2029,
    U+0085, and control characters."""
    return rewritten(plan, _marked)


def _marked(reply: Reply) -> Reply:
    texts = [i for i, b in enumerate(reply.blocks) if isinstance(b, Text) and b.text.strip()]
    if not texts:
        return reply
    blocks = list(reply.blocks)
    last = blocks[texts[-1]]
    assert isinstance(last, Text)
    blocks[texts[-1]] = msgspec.structs.replace(last, text=f"{last.text}{SEPARATORS}end")
    return msgspec.structs.replace(reply, blocks=tuple(blocks))
