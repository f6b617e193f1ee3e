"""AutoGPT: commands in JSON texts with their results, and episodes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import ToolResult, ToolUse
from harness.recordings.recognition import format_named
from harness.recordings.transcript_counts import counts
from tests.recordings.documents import ASKED, SAMPLES, SEEN

AUTOGPT = format_named("autogpt")

ANSWER = json.loads(SAMPLES["autogpt history"][1])[1]["content"]


def _history(*messages: tuple[str, Any]) -> Any:
    value = [{"role": role, "content": content} for role, content in messages]
    (found,) = AUTOGPT.read(json.dumps(value).encode()).transcripts
    return found


def test_a_command_is_a_call_and_what_it_returned_its_result() -> None:
    (found,) = AUTOGPT.read(SAMPLES["autogpt history"][1]).transcripts
    assert found.messages[1].tool_uses == (ToolUse("message_2", "ls", {"path": "."}),)
    told = f"Command ls returned: {SEEN}"
    assert found.messages[2].tool_results == (ToolResult("message_2", told),)


def test_the_same_command_again_and_again_is_a_run() -> None:
    step = (("assistant", ANSWER), ("system", "Command ls returned: Error: no such folder"))
    found = _history(("user", ASKED), *step * 3)
    counted = counts(found)
    assert counted["same_call_runs"] == [["ls", 3, 0]]
    assert counted["same_fail_runs_explicit"] == [["ls", 3, 0]]


def test_what_is_said_between_is_no_result() -> None:
    found = _history(
        ("assistant", f"Sure!\n```json\n{ANSWER}\n```"),
        ("user", "Determine exactly one command to use"),
        ("assistant", "thoughts are no JSON"),
        ("system", "Action failed: no"),
        ("system", "Command ls returned: late"),
    )
    assert [m.role for m in found.messages] == ["assistant", "user", "assistant", "tool", "system"]
    assert found.messages[3].tool_results[0].is_error


def test_an_episode_is_a_call_with_its_result() -> None:
    state = json.loads(SAMPLES["autogpt state"][1])
    old = {"name": "ls", "args": {}, "reasoning": "look"}
    state["history"]["episodes"] += [
        {"action": old, "result": {"status": "error", "reason": "no"}},
        {"action": {"thoughts": {"text": "hm"}, **old}, "result": None},
    ]
    (found,) = AUTOGPT.read(json.dumps(state).encode()).transcripts
    assert found.task == ASKED
    results = [result for m in found.messages for result in m.tool_results]
    assert [(r.content, r.is_error) for r in results] == [(SEEN, False), ("no", True)]
    assert [m.text for m in found.messages if m.tool_uses] == ["", "look", "hm"]
    assert counts(found)["pending_calls"] == 1


@pytest.mark.parametrize(
    "data", [b"{}", b"[]", b'{"episodes": [3]}', b'[{"role": "assistant", "content": "thoughts"}]']
)
def test_what_names_no_command_is_refused(data: bytes) -> None:
    assert not AUTOGPT.recognises(data)
    with pytest.raises(InputError, match="no message names a command"):
        AUTOGPT.read(data)
