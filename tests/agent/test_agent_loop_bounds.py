"""What ends a turn that goes round in circles, and what is left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.agent.sessions.transcript import RowTranscript
from harness.agent.turn_policy import Policy
from harness.core.values.brief import ToolError
from harness.core.values.messages import Message, assistant
from tests.agent.one_turn import stand
from tests.agent.replies import error, text, use


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


@pytest.mark.parametrize("most", [2, 3, 4])
def test_requests_made_again_are_bounded_too(tmp_path: Path, stream: bool, most: int) -> None:
    """The window is full at the last request; a summary would make room for one more."""

    def model(body: Any) -> Any:
        if "Summarise" in str(body["messages"][-1]):
            return text("It was polled.")
        is_last = body.get("tool_choice") == {"type": "none"}
        return error(400, "prompt is too long: 9 tokens > 8 maximum") if is_last else use("poll")

    ran = stand(tmp_path, stream, model)
    ran.tool("poll", lambda _: f"step {len(ran.calls)}: " + "word " * 100)
    ran.run(policy=Policy(max_model_calls=most))
    asked = [r for r in ran.provider.requests if "Summarise" not in str(r["messages"][-1])]
    assert len(asked) == most
    assert ran.said[-1]["status"] == "failed"


def test_who_would_answer_himself_is_asked_to_go_on(tmp_path: Path, stream: bool) -> None:
    class LastWord(RowTranscript):
        """A store that has put words behind the message."""

        @property
        def messages(self) -> list[Message]:
            """The rows, and the words."""
            return [*super().messages, assistant("It is on its way.")]

    ran = stand(tmp_path, stream, text("Here it is."))
    ran.run(transcript=LastWord)
    [request] = ran.provider.requests
    assert request["messages"][-1]["role"] == "user"
    assert "Please go on." in str(request["messages"][-1])
    assert ran.ending == ("final", "ok", "Here it is.")
