"""Answers that break or never come, in one turn: nothing half is run or stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.core.values.messages import assistant, user
from tests.agent.one_turn import stand
from tests.agent.replies import error, message_events, sse, text, use

CALL = use("write", '{"path":"/a/b","con', "t1")
WHOLE = {"id": "m", "type": "message", "role": "assistant", "model": "x", "stop_sequence": None}
WHOLE |= {"usage": {"input_tokens": 1, "output_tokens": 1}}


def test_arguments_that_are_no_whole_json_are_not_run(tmp_path: Path) -> None:
    broken = sse(*message_events({**WHOLE, **CALL}))
    ran = stand(tmp_path, True, broken, text("sorry"))
    ran.tool("write", "written", required=["path"])
    ran.run()
    assert ran.calls == []
    [result] = ran.provider.requests[1]["messages"][-1]["content"]
    assert result["is_error"]


@pytest.mark.parametrize("left_out", [1, 2])
def test_a_stream_that_just_ends_is_no_answer(tmp_path: Path, left_out: int) -> None:
    events = message_events({**WHOLE, **use("look", {"a": 1}, "t1")})
    ran = stand(tmp_path, True, sse(*events[:-left_out]), text("whole"))
    ran.tool("look", "seen")
    ran.run()
    assert ran.calls == []
    assert ran.ending == ("final", "ok", "whole")
    assert ran.rows() == [user("hi"), assistant("whole")]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>bad gateway</html>",
        b"event: ping\ndata: {}\n\n",
        b"event: message_start\ndata: {not json\n\n",
        b"event: message_start\ndata: \xff\xfe\n\n",
        sse({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        sse(*message_events({**WHOLE, **text("x")})).replace(b'"index": 0', b'"index": 7'),
    ],
)
def test_a_broken_stream_is_retried_once_and_then_reported(tmp_path: Path, body: bytes) -> None:
    ran = stand(tmp_path, True, body)
    ran.run()
    assert len(ran.provider.requests) == 2
    assert ran.ending[:2] == ("error", "failed")
    assert ran.sides == "ua"


def test_nothing_is_retried_after_text_was_shown(tmp_path: Path) -> None:
    events = message_events({**WHOLE, **text("once upon a")})
    ran = stand(tmp_path, True, sse(*events[:-3]))
    ran.options["partial"] = "true"
    ran.run()
    assert [s["kind"] for s in ran.said] == ["partial", "error"]
    assert len(ran.provider.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 529])
def test_other_errors_are_not_asked_again(tmp_path: Path, stream: bool, status: int) -> None:
    ran = stand(tmp_path, stream, error(status, "no such thing", "some_error")).run()
    assert len(ran.provider.requests) == 1
    assert ran.ending[:2] == ("error", "failed")
    assert ran.sides == "ua"


def test_half_characters_are_stored_and_sent_whole(tmp_path: Path) -> None:
    halves = message_events({**WHOLE, **text("x\ud83d")})
    halves.insert(3, {**halves[2], "delta": {"type": "text_delta", "text": "\ude00y\ud800"}})
    ran = stand(tmp_path, True, sse(*halves)).run()
    assert ran.ending[2] == "x😀y\ufffd"
    assert json.loads(json.dumps(ran.ending[2])) == ran.ending[2]
