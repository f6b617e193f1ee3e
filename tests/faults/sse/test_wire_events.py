"""What Gemini's own faults make of a stream, and of one of another wire."""

from __future__ import annotations

import pytest

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Text, ToolUse
from harness.core.values.plans import Close, Plan, Reply, Send
from harness.faults import faults
from harness.faults.shared import stream_events as stream
from harness.providers import by_name
from tests.faults.world import bend

KINDS = [kind for kind, fault in faults().items() if fault.wires == ("gemini",)]
CALLS = (ToolUse("c1", "f", {"a": 1}), ToolUse("c2", "g", {}))


def streamed(*blocks: Text | ToolUse) -> Plan:
    """An answer of these blocks as the events of a stream."""
    stop = "tool_use" if any(isinstance(block, ToolUse) for block in blocks) else "end_turn"
    reading = Reading("m", (), 0, (), stream=True)
    return by_name("gemini").write(Reply(blocks, stop), reading, "main/model#1", Draws(1))


def said(kind: str, plan: Plan) -> object:
    """The stop reason and the blocks of the bent stream."""
    bent = bend(faults()[kind].function, plan)
    body = b"".join(step.data for step in bent if isinstance(step, Send))
    parsed = by_name("gemini").parse(body, "text/event-stream")
    assert parsed.message is not None
    return parsed.stop, parsed.message.blocks, isinstance(bent[-1], Close)


HELLO = Text("hello, hello, hello")
BARE = tuple(ToolUse(f"answer {c.name}#{n}", c.name, c.input) for n, c in enumerate(CALLS, 1))

MET = {
    "sse.no_stop_reason": (None, (HELLO, *CALLS), True),
    "sse.calls_without_ids": ("tool_use", (HELLO, *BARE), False),
    "sse.chunk_without_candidates": ("tool_use", (HELLO, *CALLS), False),
    "sse.malformed_call": ("MALFORMED_FUNCTION_CALL", (HELLO,), False),
    "sse.blocked_midway": ("refusal", (Text(HELLO.text[:16]),), False),
}


def test_every_fault_of_this_wire_is_met() -> None:
    assert MET.keys() == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_client_reads(kind: str) -> None:
    assert said(kind, streamed(HELLO, *CALLS)) == MET[kind]


@pytest.mark.parametrize("kind", ["sse.calls_without_ids", "sse.malformed_call"])
def test_an_answer_without_calls_stays(kind: str) -> None:
    assert said(kind, streamed(HELLO)) == ("end_turn", (HELLO,), False)


def test_the_end_is_told_with_the_first_text_and_again_at_the_end() -> None:
    plan = streamed(HELLO, *CALLS)
    bent = bend(faults()["sse.early_finish_reason"].function, plan)
    told = [stream.candidate_of(step).get("finishReason") for step in bent]
    assert told == ["STOP", *[None] * (len(bent) - 2), "STOP"]
    assert said("sse.early_finish_reason", plan) == ("tool_use", (HELLO, *CALLS), False)


def test_a_call_is_cut_inside_its_arguments() -> None:
    bent = bend(faults()["sse.end_inside_tool_input"].function, streamed(*CALLS))
    *_, last, end = bent
    assert isinstance(last, Send)
    assert isinstance(end, Close)
    assert last.data.endswith(b'"args":{')
    assert not stream.value(last)
