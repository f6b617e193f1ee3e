"""Run states of openai-agents: a run that waits for an approval, and one that has ended."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.checks.judge import judge
from harness.core.values.errors import InputError
from harness.core.values.messages import Text, ToolResult, ToolUse
from harness.recordings.recognition import format_named, format_of, read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history

Item = dict[str, Any]


def item(kind: str, **raw: Any) -> Item:
    """An item in the envelope of the SDK."""
    return {"type": kind, "raw_item": raw, "agent": {"name": "desk"}}


def called(id_: str, kind: str = "tool_call_item") -> Item:
    """A call, or the question about it."""
    return item(kind, type="function_call", call_id=id_, name="look", arguments='{"path": "a"}')


def result(id_: str) -> Item:
    """The result of a call."""
    return item("tool_call_output_item", type="function_call_output", call_id=id_, output="a.txt")


def said(text: str) -> Item:
    """An answer."""
    parts = [{"type": "output_text", "text": text, "annotations": []}]
    return item("message_output_item", type="message", id="m", role="assistant", content=parts)


def state(*items: Item, given: Any = "clean up", **more: Any) -> bytes:
    """A state in the names of the SDK's version 1.21."""
    head = {"$schemaVersion": "1.21", "current_turn": 2, "current_agent": {"name": "desk"}}
    both = {"generated_items": items[-1:], "session_items": items}
    return json.dumps({**head, "original_input": given, **both, **more}).encode()


RUN = [said("I look."), called("c1"), result("c1"), said("done")]
PARKED = [*RUN[:3], called("c2"), called("c3"), result("c2"), called("c3", "tool_approval_item")]


def test_the_items_of_a_run_stand_behind_its_input() -> None:
    (found,) = read(state(*RUN)).transcripts
    assert format_of(state(*RUN)) == "agents_run_state"
    assert [[type(block) for block in message.blocks] for message in found.messages] == [
        [Text], [Text, ToolUse], [ToolResult], [Text],
    ]  # fmt: skip
    assert judge(to_history(found)).verdict == "pass"


def test_a_call_that_waits_for_an_approval_is_no_defect_and_counts_once() -> None:
    (found,) = read(state(*PARKED)).transcripts
    assert counts(found)["tool_calls"] == 3
    assert judge(to_history(found)).verdict == "pass"


def test_a_state_without_all_items_gives_those_that_it_has() -> None:
    (found,) = read(state(*RUN, session_items=[])).transcripts
    assert [message.role for message in found.messages] == ["user", "assistant"]


def test_the_input_may_be_a_list() -> None:
    given = [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]
    (found,) = read(state(*RUN, given=given)).transcripts
    assert len(found.messages) == 5


def test_a_state_without_input_is_refused() -> None:
    with pytest.raises(InputError, match="the run has no input"):
        format_named("agents_run_state").read(state(given=[]))


def test_a_state_of_the_sdk_for_javascript_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="looks like openai-agents' run state in JavaScript"):
        read(b'{"$schemaVersion": "1.0", "currentTurn": 1, "originalInput": "go"}')
