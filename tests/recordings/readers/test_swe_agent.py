"""SWE-agent: steps, and the history where it holds the calls of functions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Text, ToolResult, ToolUse
from harness.recordings.recognition import format_named
from harness.recordings.transcript_counts import counts
from tests.recordings.documents import ASKED, SAMPLES, SEEN

SWE_AGENT = format_named("swe_agent")

PLAIN = json.loads(SAMPLES["swe_agent"][1])
_CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"c": "ls"}'}}
CALLED = [
    {"role": "system", "content": "be brief", "agent": "main"},
    {"role": "user", "content": [{"type": "text", "text": ASKED}], "agent": "main"},
    {"role": "assistant", "content": "look", "agent": "main", "tool_calls": [_CALL]},
    {"role": "tool", "content": SEEN, "agent": "main", "tool_call_ids": ["c1"]},
]


def _read(value: Any) -> Any:
    return SWE_AGENT.read(json.dumps(value).encode()).transcripts


def test_steps_are_calls_with_their_results() -> None:
    (found,) = _read(PLAIN)
    assert (found.name, found.task, found.system) == ("trajectory", ASKED, "be brief")
    assert found.messages[0].blocks == (Text("look"), ToolUse("step_1", "ls", "ls\n"))
    assert found.messages[1].blocks == (ToolResult("step_1", SEEN),)
    counted = counts(found)
    assert (counted["messages"], counted["tool_calls"], counted["late_results"]) == (4, 2, 0)


def test_a_history_of_function_calls_is_a_transcript_of_its_own() -> None:
    steps, history = _read({**PLAIN, "history": CALLED})
    assert (steps.name, history.name) == ("trajectory", "history")
    assert steps.task == ASKED
    assert [m.role for m in history.messages] == ["system", "user", "assistant", "tool"]
    assert history.messages[2].tool_uses == (ToolUse("c1", "bash", {"c": "ls"}),)
    assert history.messages[3].tool_results == (ToolResult("c1", SEEN),)


def test_a_history_alone_is_read() -> None:
    data = json.dumps({"history": CALLED}).encode()
    assert SWE_AGENT.recognises(data)
    (found,) = SWE_AGENT.read(data).transcripts
    assert counts(found)["orphan_results"] == counts(found)["unanswered_calls"] == 0


def test_an_empty_action_is_a_call_with_empty_input() -> None:
    (found,) = _read({"trajectory": [{"action": "", "observation": None}]})
    assert counts(found)["empty_input_calls"] == 1
    assert counts(found)["pending_calls"] == 1


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"trajectory": []}', b'{"history": [3]}'])
def test_what_is_no_trajectory_is_refused(data: bytes) -> None:
    assert not SWE_AGENT.recognises(data)
    with pytest.raises(InputError, match="a list trajectory or history"):
        SWE_AGENT.read(data)
