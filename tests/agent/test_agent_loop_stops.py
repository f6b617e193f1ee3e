"""Why the model stopped, in one turn: what runs, what is asked again, and what is delivered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.core.values.messages import assistant, user
from tests.agent.one_turn import stand
from tests.agent.replies import text, use


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
