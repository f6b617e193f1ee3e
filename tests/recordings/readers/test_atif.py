"""ATIF: steps by source, with calls and the observations that answer them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Text, Thinking, ToolResult, ToolUse
from harness.recordings.recognition import format_named
from harness.recordings.transcript_counts import counts
from tests.recordings.documents import SAMPLES, SEEN

ATIF = format_named("atif")


def _read(*steps: Any, **more: Any) -> Any:
    value = {"schema_version": "ATIF-v1.7", "steps": steps, **more}
    (found,) = ATIF.read(json.dumps(value).encode()).transcripts
    return found


def test_a_step_of_the_agent_is_its_message_and_its_results() -> None:
    (found,) = ATIF.read(SAMPLES["atif"][1]).transcripts
    assert (found.name, found.model) == ("s", "m")
    use = ToolUse("c1", "ls", {"p": "."})
    assert found.messages[1].blocks == (Thinking("hm"), Text("look"), use)
    assert found.messages[2].blocks == (ToolResult("c1", SEEN),)


def test_an_observation_without_a_call_is_the_users() -> None:
    seen = {"results": [{"content": SEEN}, {"content": [{"type": "text", "text": "more"}]}]}
    found = _read(
        {"source": "user", "message": "go"},
        {"source": "agent", "message": "<ls>", "observation": seen},
        {"source": "system", "message": "note", "observation": seen},
    )
    assert [m.role for m in found.messages] == ["user", "assistant", "user", "system"]
    assert found.messages[2].text == f"{SEEN}\nmore"
    assert counts(found)["messages"] == 3


def test_several_results_are_one_message_and_a_flag_is_an_error() -> None:
    calls = [{"tool_call_id": id_, "function_name": "f", "arguments": {}} for id_ in "ab"]
    results = [{"source_call_id": "a", "is_error": True}, {"source_call_id": "b", "content": "x"}]
    found = _read({"source": "agent", "tool_calls": calls, "observation": {"results": results}})
    assert found.messages[1].tool_results == (ToolResult("a", "", True), ToolResult("b", "x"))
    counted = counts(found)
    assert (counted["tool_results"], counted["late_results"]) == (2, 0)
    assert counted["empty_input_calls"] == 2


def test_declared_tools_are_read() -> None:
    schema = {"type": "object", "required": ["x"]}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    found = _read({"source": "user", "message": "go"}, agent={"tool_definitions": [tool, 3]})
    assert [(spec.name, spec.required) for spec in found.tools] == [("f", ("x",))]


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"schema_version": "1", "steps": []}'])
def test_what_has_no_steps_is_refused(data: bytes) -> None:
    assert not ATIF.recognises(data)
    with pytest.raises(InputError, match="a list steps"):
        ATIF.read(data)
