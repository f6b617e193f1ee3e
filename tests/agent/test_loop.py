"""One turn on the real SDK, streamed and not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.core.brief import ToolError
from harness.core.messages import ToolResult, assistant, user
from tests.agent.stand import Stand, error, message_events, sse, text, use, uses


@pytest.fixture(params=[False, True], ids=["plain", "stream"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Both ways of asking."""
    return bool(request.param)


def stand(folder: Path, stream: bool, *replies: Any, inbox: str = "hi") -> Stand:
    """A stand with one message."""
    made = Stand(folder, replies, inbox)
    made.options["stream"] = stream
    return made


def test_an_answer_is_stored_and_delivered_once(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, text("hello")).run()
    assert ran.said == [
        {"text": "hello", "kind": "final", "session": "main", "to": "m1", "status": "ok"}
    ]
    assert ran.rows() == [user("hi"), assistant("hello")]
    assert ran.provider.purposes == ["main"]
    assert ran.provider.requests[0].get("stream", False) is stream


def test_a_tool_is_run_and_its_result_sent(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, use("look", {"at": "é"}, "t1"), text("I saw it"))
    ran.tool("look", "a cat")
    ran.run()
    assert ran.calls == [("look", {"at": "é"})]
    result = ran.provider.requests[1]["messages"][-1]["content"]
    assert result == [{"type": "tool_result", "tool_use_id": "t1", "content": "a cat"}]
    assert ran.sides == "uaua"
    assert ran.ending == ("final", "ok", "I saw it")


def test_parallel_calls_run_in_order_and_are_all_answered(tmp_path: Path, stream: bool) -> None:
    batch = uses(("a", "look", {"n": 1}), ("b", "absent", {}), ("c", "look", {"n": 2}))
    ran = stand(tmp_path, stream, batch, text("done"))
    ran.tool("look", lambda given: f"saw {given['n']}")
    ran.run()
    blocks = ran.provider.requests[1]["messages"][-1]["content"]
    assert [(b["tool_use_id"], b.get("is_error", False)) for b in blocks] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]
    assert "look" in blocks[1]["content"]
    assert ran.calls == [("look", {"n": 1}), ("look", {"n": 2})]


def test_two_calls_with_one_id_are_run_once(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, uses(("a", "look", {"n": 1}), ("a", "look", {"n": 1})), text("k"))
    ran.tool("look", "seen")
    assert len(ran.run().calls) == 1


def test_a_truncated_call_is_answered_but_not_run(tmp_path: Path, stream: bool) -> None:
    cut = use("write", {"path": "/a"}, stop="max_tokens")
    ran = stand(tmp_path, stream, cut, text("I gave up"))
    ran.tool("write", "written", required=["path"])
    ran.run()
    assert ran.calls == []
    [result] = ran.provider.requests[1]["messages"][-1]["content"]
    assert result["is_error"]
    assert "max_tokens" in result["content"]


def test_truncated_calls_for_ever_end_the_turn(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, use("write", {"path": "/a"}, stop="max_tokens"))
    ran.tool("write", "written", required=["path"])
    ran.run()
    assert ran.calls == []
    assert ran.ending[:2] == ("final", "failed")
    assert len(ran.provider.requests) == 5
    assert ran.provider.requests[-1]["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize("stop", ["end_turn", "stop_sequence", "max_tokens", "pause_turn"])
def test_calls_run_after_tool_use_only(tmp_path: Path, stream: bool, stop: str) -> None:
    ran = stand(tmp_path, stream, use("look", {"a": 1}, stop=stop), text("no"))
    ran.tool("look", "seen")
    assert ran.run().calls == []


def test_truncated_text_is_delivered_as_truncated(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, text("once upon", stop="max_tokens")).run()
    kind, status, said = ran.ending
    assert (kind, status) == ("final", "truncated")
    assert said.startswith("once upon")


@pytest.mark.parametrize("said", ["", "I will not."])
def test_a_refusal_is_said_and_not_retried(tmp_path: Path, stream: bool, said: str) -> None:
    ran = stand(tmp_path, stream, text(*filter(None, [said]), stop="refusal")).run()
    assert ran.ending[1] == "refused"
    assert ran.ending[2] == said or not said
    assert len(ran.provider.requests) == 1


def test_a_pause_is_resent_as_it_is(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, text("wait", stop="pause_turn"), text("done")).run()
    assert [m["role"] for m in ran.provider.requests[1]["messages"]] == ["user", "assistant"]
    assert ran.ending == ("final", "ok", "done")


def test_pauses_are_bounded(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, text("wait", stop="pause_turn")).run()
    assert ran.ending[1] == "failed"
    assert len(ran.provider.requests) == 7


@pytest.mark.parametrize("empty", [text(), text("  \n")])
def test_an_empty_answer_is_asked_for_again_once(tmp_path: Path, stream: bool, empty: Any) -> None:
    ran = stand(tmp_path, stream, empty, text("here")).run()
    first, second = ran.provider.requests
    assert first["messages"] != second["messages"]
    assert ran.ending == ("final", "ok", "here")
    assert ran.rows() == [user("hi"), assistant("here")]


def test_an_answer_that_stays_empty_is_reported(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, text()).run()
    assert len(ran.provider.requests) == 2
    assert ran.ending[:2] == ("error", "failed")
    assert ran.sides == "ua"


def test_an_unknown_stop_reason_runs_nothing_and_is_retried_once(
    tmp_path: Path, stream: bool
) -> None:
    ran = stand(tmp_path, stream, use("look", {"a": 1}, stop="sideways"))
    ran.tool("look", "seen")
    ran.run()
    assert ran.calls == []
    assert len(ran.provider.requests) == 2
    assert ran.ending[:2] == ("error", "failed")
    assert ran.sides == "ua"


def test_model_calls_are_bounded(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, use("poll", {}))
    ran.tool("poll", lambda _: f"step {len(ran.calls)}")
    ran.run()
    assert len(ran.provider.requests) == 50
    assert ran.ending[:2] == ("final", "failed")
    assert "50" in ran.ending[2]


def test_polling_with_changing_results_is_left_alone(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, *[use("poll", {})] * 15, text("it is done"))
    ran.tool("poll", lambda _: f"{len(ran.calls)} of 15")
    ran.run()
    assert len(ran.calls) == 15
    assert ran.ending == ("final", "ok", "it is done")


def ended_or(reply: Any, last: str) -> Any:
    """A model that repeats itself until its tools are withdrawn."""
    return lambda body: text(last) if body.get("tool_choice") == {"type": "none"} else reply


def test_the_same_failing_call_is_stopped(tmp_path: Path, stream: bool) -> None:
    again = use("memory", {"action": "replace"})
    ran = stand(tmp_path, stream, ended_or(again, "I could not store that."))
    ran.tool("memory", ToolError("old_text is required for replace"), required=["action"])
    ran.run()
    assert len(ran.calls) == 3
    assert len(ran.provider.requests) == 6
    assert ran.ending == ("final", "failed", "I could not store that.")
    last = ran.provider.requests[-1]["messages"][-1]["content"]
    assert last[0]["is_error"]
    assert "withdrawn" in last[-1]["text"]


def test_a_tool_failing_alike_with_varying_arguments_is_stopped(
    tmp_path: Path, stream: bool
) -> None:
    def varied(body: Any) -> Any:
        if body.get("tool_choice") == {"type": "none"}:
            return text("It did not work.")
        return use("memory", {"action": "replace", "note": str(len(body["messages"]))})

    ran = stand(tmp_path, stream, varied)
    ran.tool("memory", ToolError("old_text is required"), required=["action"])
    ran.run()
    assert len(ran.calls) == 3
    assert len(ran.provider.requests) == 6
    assert ran.ending[1] == "failed"


def test_empty_calls_of_a_tool_that_needs_arguments_are_stopped(
    tmp_path: Path, stream: bool
) -> None:
    ran = stand(tmp_path, stream, ended_or(use("write", {}), "I could not write it."))
    ran.tool("write", "written", required=["path", "content"])
    ran.run()
    assert ran.calls == []
    assert len(ran.provider.requests) == 5
    assert ran.ending == ("final", "failed", "I could not write it.")


def test_guidance_then_a_right_call_goes_on(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, *[use("write", {})] * 3, use("write", {"path": "a"}), text("ok"))
    ran.tool("write", "written", required=["path"])
    ran.run()
    assert ran.calls == [("write", {"path": "a"})]
    assert ran.ending == ("final", "ok", "ok")


def test_a_tool_without_required_parameters_is_called_with_nothing(
    tmp_path: Path, stream: bool
) -> None:
    ran = stand(tmp_path, stream, *[use("tick", {})] * 10, text("ten"))
    ran.tool("tick", lambda _: str(len(ran.calls)))
    ran.run()
    assert len(ran.calls) == 10
    assert ran.ending[1] == "ok"


@pytest.mark.parametrize(
    "last", [text(), error(500, "no", "api_error"), use("memory", {"a": 1})], ids=repr
)
def test_without_last_words_the_agent_says_it_itself(
    tmp_path: Path, stream: bool, last: Any
) -> None:
    again = use("memory", {"action": "replace"})
    ran = stand(tmp_path, stream, lambda body: last if body.get("tool_choice") else again)
    ran.tool("memory", ToolError("no"), required=["action"])
    ran.run()
    assert ran.ending[:2] == ("final", "failed")
    assert "memory" in ran.ending[2]


@pytest.mark.parametrize("when", range(8))
def test_a_cancelled_turn_ends_with_a_notice_and_alternates(
    tmp_path: Path, stream: bool, when: int
) -> None:
    ran = stand(tmp_path, stream, uses(("a", "look", {"n": 1}), ("b", "look", {"n": 2})), text("k"))
    ran.tool("look", "seen")
    asked = iter(range(100))
    ran.is_cancelled = lambda: next(asked) >= when
    ran.run()
    if when < 6:
        assert ran.ending[:2] == ("notice", "cancelled")
    else:
        assert ran.ending[:2] == ("final", "ok")
    assert set(ran.sides.split("ua")) == {""}
    assert len([b for m in ran.rows() for b in m.blocks if isinstance(b, ToolResult)]) in (0, 2)


def test_nothing_is_compacted_after_a_cancel(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, error(400, "prompt is too long"))
    ran.is_cancelled = lambda: bool(ran.provider.requests)
    ran.store.seed("main", [user("a" * 999), assistant("b"), user("c" * 999), assistant("d")])
    assert ran.run().provider.purposes == ["main"]
    assert ran.ending[:2] == ("notice", "cancelled")


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
