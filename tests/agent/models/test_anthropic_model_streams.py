"""Streams that the SDK trips over, or reads more into than the model said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.agent.replies import message_events, sse, text, use
from tests.agent.stand import Stand

MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "x",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def streamed(folder: Path, *replies: Any) -> Stand:
    """A stand with one message, whose agent asks for streams."""
    made = Stand(folder, replies, "hi")
    made.options["stream"] = True
    return made


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_arguments_with_what_is_no_json_number_are_not_run(tmp_path: Path, constant: str) -> None:
    call = use("write", f'{{"path":"a","ratio":{constant}}}', "t1")
    ran = streamed(tmp_path, sse(*message_events({**MESSAGE, **call})), text("sorry"))
    ran.tool("write", "written", required=["path"])
    ran.run()
    assert ran.calls == []
    [result] = ran.provider.requests[1]["messages"][-1]["content"]
    assert result["is_error"]


def test_an_event_without_a_field_that_the_sdk_needs_is_a_broken_stream(tmp_path: Path) -> None:
    events = message_events({**MESSAGE, **use("look", {"a": 1}, "t1")})
    bare = [
        {name: part for name, part in event.items() if name != "usage"}
        if event["type"] == "message_delta"
        else event
        for event in events
    ]
    ran = streamed(tmp_path, sse(*bare), text("whole"))
    ran.tool("look", "seen")
    ran.run()
    assert ran.calls == []
    assert ran.ending == ("final", "ok", "whole")
