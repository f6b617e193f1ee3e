"""Trajectories of OpenHands: actions of one answer, observations by their call, old flat events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Text, ToolResult, ToolUse
from harness.recordings.recognition import format_named, format_of

OPENHANDS = format_named("openhands")


def metadata(*ids: str, called: str, content: str = "look") -> dict[str, Any]:
    """What stands beside an action or an observation of a call in an answer with calls `ids`."""
    calls = [{"id": i, "function": {"name": "bash", "arguments": '{"command": "ls"}'}} for i in ids]
    message = {"role": "assistant", "content": content, "tool_calls": calls}
    answer = {"id": f"r-{ids[0]}", "model": "m", "choices": [{"message": message}]}
    return {"function_name": "bash", "tool_call_id": called, "model_response": answer}


def action(kind: str, source: str = "agent", **more: Any) -> dict[str, Any]:
    """An action; what is not named stands in its arguments."""
    return {"source": source, "action": kind, "args": {}, "message": "", **more}


def observation(kind: str, text: str, **more: Any) -> dict[str, Any]:
    """An observation."""
    return {"source": "agent", "observation": kind, "content": text, "extras": {}, **more}


def trajectory(*events: dict[str, Any]) -> bytes:
    """Events as a list."""
    return json.dumps(events, indent=1).encode()


ASKS = action("message", "user", args={"content": "list the files"})
RUNS = action("run", args={"command": "ls"}, tool_call_metadata=metadata("c1", called="c1"))
SEES = observation("run", "a.txt b.txt", cause=3, tool_call_metadata=metadata("c1", called="c1"))
FINISHES = action("finish", args={"final_thought": "two files"})
TURN = (action("system", args={"content": "be brief"}), ASKS, RUNS, SEES, FINISHES)


def _blocks(*events: dict[str, Any]) -> list[Any]:
    (found,) = OPENHANDS.read(trajectory(*events)).transcripts
    return [message.blocks for message in found.messages]


def test_an_action_is_a_call_and_its_observation_the_result() -> None:
    assert format_of(trajectory(*TURN)) == "openhands"
    (found,) = OPENHANDS.read(trajectory(*TURN)).transcripts
    assert [message.blocks for message in found.messages] == [
        (Text("list the files"),),
        (Text("look"), ToolUse("c1", "bash", {"command": "ls"})),
        (ToolResult("c1", "a.txt b.txt"),),
        (Text("two files"),),
    ]
    assert (found.model, found.system) == ("m", "be brief")


def test_actions_of_one_answer_are_one_message() -> None:
    beside = [metadata("c1", "c2", called=id_) for id_ in ("c1", "c2")]
    runs = [action("run", tool_call_metadata=each) for each in beside]
    sees = [observation("run", "x", tool_call_metadata=each) for each in beside]
    given = {"command": "ls"}
    assert _blocks(ASKS, *runs, *sees)[1:] == [
        (Text("look"), ToolUse("c1", "bash", given), ToolUse("c2", "bash", given)),
        (ToolResult("c1", "x"),),
        (ToolResult("c2", "x"),),
    ]


def test_an_error_without_a_call_is_told_to_the_model_as_words() -> None:
    error = observation("error", "no such function")
    assert _blocks(ASKS, RUNS, SEES, error)[-1] == (Text("no such function"),)
    failed = {**SEES, "observation": "error"}
    assert _blocks(ASKS, RUNS, failed)[-1] == (ToolResult("c1", "a.txt b.txt", True),)


def test_the_events_of_the_program_are_no_messages() -> None:
    own = (action("recall", "user"), observation("recall", "x"), observation("null", ""))
    states = (action("change_agent_state"), observation("agent_state_changed", ""))
    assert _blocks(ASKS, *own, *states) == _blocks(ASKS)


def test_the_oldest_events_are_flat_and_without_ids() -> None:
    asks = {"action": "message", "content": "list the files", "wait_for_response": False}
    runs = {"action": "run", "command": "ls", "thought": "look", "is_confirmed": "confirmed"}
    sees = {"observation": "run", "content": "a.txt", "command": "ls"}
    task = {"instance_id": "i1", "history": [asks, runs, sees]}
    data = json.dumps(task).encode() + b"\n" + json.dumps({**task, "instance_id": "i2"}).encode()
    assert format_of(data) == "openhands"
    first, second = OPENHANDS.read(data).transcripts
    assert (first.name, second.name) == ("i1", "i2")
    assert [message.blocks for message in first.messages] == [
        (Text("list the files"),),
        (Text("look"), ToolUse("run-1", "run", {"command": "ls"})),
        (ToolResult("run-1", "a.txt"),),
    ]


def test_pairs_of_old_tasks_are_read_in_a_row() -> None:
    data = json.dumps({"history": [[ASKS, observation("null", "")], [RUNS, SEES]]}).encode()
    (found,) = OPENHANDS.read(data).transcripts
    assert len(found.messages) == 3


def test_a_trajectory_without_a_message_is_refused() -> None:
    with pytest.raises(InputError, match="no event is a message"):
        OPENHANDS.read(trajectory(observation("null", "")))
