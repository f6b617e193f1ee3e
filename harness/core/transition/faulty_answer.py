"""Applies faults to the model's answer: first to its value, then to its bytes.

A byte fault may double blocks, lose the end of a stream, or use a frame that only an HTTP parser
reads. So the bytes are read after each such fault, and lost content stays lost.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.core.history.history import History
from harness.core.transition import answer_bytes
from harness.core.transition.arming import ArmedFault, bend_all
from harness.core.transition.cassette_answer import as_it_came, endings, parsed
from harness.core.transition.ports import Provider, Reading
from harness.core.values.calls import Call
from harness.core.values.draws import Draws
from harness.core.values.plans import (
    Answer,
    ApiError,
    Plan,
    Recorded,
    Reply,
    Send,
    Step,
    is_consumed,
    is_whole,
    until_timeout,
)

Said = Reply | ApiError | Recorded | None


class Bent(msgspec.Struct, frozen=True):
    """An answer after its faults: its plan, its content (`said`), the faults that changed it
    (`by`), and whether the script's turn is `consumed`. `cut`: the end of the content is missing.
    `said_all`: all content is present, although the connection breaks off after it."""

    plan: Plan
    said: Said
    by: tuple[str, ...]
    consumed: bool
    cut: bool
    said_all: bool = False


def bend(
    wire: Provider,
    history: History,
    draws: Draws,
    faults: Sequence[ArmedFault],
    call: Call,
    reading: Reading,
    value: Reply | ApiError | Recorded,
) -> Bent:
    """Return the answer to a call after the faults that are due."""
    scripted: Plan = (Answer(value),)
    plan = _shown(wire, faults, value)
    shown, by = bend_all(faults, "value", call, history, draws, plan)
    bent = shown if by else scripted
    said, plan = _written(wire, draws, bent, reading, call.key)
    cut = False
    for fault in faults:
        plan, struck = bend_all([fault], "bytes", call, history, draws, plan)
        if struck:
            by += struck
            said, is_cut = _heard(wire, said, plan)
            cut |= is_cut
    plan = until_timeout(plan, call.timeout_ms)
    consumed = is_consumed(scripted + endings(bent), bent, plan)
    said_all = not cut and not is_whole(plan) and _is_said(wire, said, plan)
    return Bent(plan, said, by, consumed, cut, said_all)


def _is_said(wire: Provider, said: Said, plan: Plan) -> bool:
    """Whether the sent bytes hold the terminal event of a reply."""
    answer = answer_bytes.read(wire, plan) if isinstance(said, Reply) else None
    return answer is not None and answer[1].message is not None and answer[1].complete


def _shown(
    wire: Provider, faults: Sequence[ArmedFault], value: Reply | ApiError | Recorded
) -> Plan:
    """The value that faults see: the reply of a complete recording. If no fault changes it, the
    recorded bytes are sent."""
    if isinstance(value, Recorded) and not value.cut and any(f.stage == "value" for f in faults):
        said, _ = parsed(wire, value, (Send(value.body),))
        return (Answer(said or value),)
    return (Answer(value),)


def _written(
    wire: Provider, draws: Draws, plan: Plan, reading: Reading, key: str
) -> tuple[Said, Plan]:
    said: Said = None
    steps: list[Step] = []
    for step in plan:
        if isinstance(step, Answer):
            value = step.value
            assert isinstance(value, (Reply, ApiError, Recorded)), value
            value = reading.signed(value) if isinstance(value, Reply) else value
            said = said or value
            written = wire.write(value, reading, key, draws)
            steps.extend(as_it_came(value, written))
        else:
            steps.append(step)
    return said, tuple(steps)


def _heard(wire: Provider, said: Said, plan: Plan) -> tuple[Said, bool]:
    """The reply in the changed bytes, and whether the connection ends before its last event."""
    answer = answer_bytes.read(wire, plan) if isinstance(said, Reply) else None
    if answer is None or not isinstance(said, Reply):
        return said, False
    _, told = answer
    if not is_whole(plan):
        return said, not told.complete
    if told.message is None or not told.complete:
        return said, False
    usage = said.usage if told.usage else {}
    return Reply(told.message.blocks, told.stop, usage, said.extra), False
