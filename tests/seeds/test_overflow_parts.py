"""Statements 163, 164, 166 to 168: what every attempt of a turn shares, and what none inherits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.agent.context_overflow import SUMMARY_TIMEOUT_S, Escalation, compact
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.tool_environment import CREATE
from harness.core.values.brief import ToolError
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, assistant, user
from tests.agent.replies import message_events, sse, text, too_long, use
from tests.seeds.long_talk import PAST, SUMMARY, ends, said, stand

FINE = [("final", "ok", "fine")]
OVER = "model_context_window_exceeded"


def _never(query: Query) -> ModelAnswer:
    raise AssertionError("there is nothing to summarise")


@pytest.mark.seed(163)
@pytest.mark.parametrize("messages", [[], [user("hi " * 5_000)], [assistant("hi")]])
def test_fewer_than_two_messages_are_not_compacted(messages: list[Message]) -> None:
    assert compact(messages, 100, _never) is None


@pytest.mark.seed(163)
def test_a_turn_alone_goes_on_with_the_rebuilt_context(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), text("fine"), past=[], asked=("x" * 50_000,)).run()
    assert ran.provider.purposes == ["main", "main"]
    first, second = (len(said(request)) for request in ran.provider.requests)
    assert second < first
    assert ends(ran) == FINE


def _question(request: dict[str, Any]) -> str:
    """The last text that is the user's own, without the note of a rebuilt context."""
    texts = [b["text"] for m in request["messages"] if m["role"] == "user" for b in m["content"]]
    return [one for one in texts if "earlier messages were left out" not in one][-1]


@pytest.mark.seed(164, kind="differs")
def test_every_attempt_carries_the_words_of_the_message(tmp_path: Path) -> None:
    """Differs: a message of the inbox has no attachments here, so none can be prepared twice. Its
    text is stored once, before the first attempt, and each attempt reads that row."""
    assert "attachments" not in Inbound.__struct_fields__
    ran = stand(tmp_path, too_long(), too_long(), text("fine"))
    ran.run(overflow=Escalation)
    assert ran.provider.purposes == ["main", "compact", "main", "main"]
    asked = [request for request in ran.provider.requests if SUMMARY not in str(request["system"])]
    main = [r for r, purpose in zip(asked, ran.provider.purposes, strict=True) if purpose == "main"]
    assert [_question(request) for request in main] == ["and now?"] * 3
    assert sum(row == user("and now?") for row in ran.rows()) == 1


@pytest.mark.seed(166, kind="differs")
def test_one_environment_outlives_all_attempts(tmp_path: Path) -> None:
    """Differs: an environment has no lifetime here. It is made at the first use and serves every
    later attempt of its task."""
    made: list[Any] = []
    ran = stand(tmp_path, use("file"), too_long(), use("file"), text("fine"))
    ran.tool(CREATE, lambda spec: made.append(spec) or "box")
    ran.tool("file", "read")
    ran.run()
    assert ends(ran) == FINE
    assert (len(made), [name for name, _ in ran.calls].count("file")) == (1, 2)


@pytest.mark.seed(166)
def test_an_environment_that_has_ended_is_told_and_loses_no_turn(tmp_path: Path) -> None:
    ran = stand(tmp_path, use("file"), text("The sandbox has ended."))
    ran.tool(CREATE, ToolError("the sandbox has ended"))
    ran.tool("file", "never")
    ran.run()
    assert [name for name, _ in ran.calls] == [CREATE]
    [result] = ran.rows()[-2].tool_results
    assert (result.is_error, "the sandbox has ended" in result.text) == (True, True)
    assert ends(ran) == [("final", "ok", "The sandbox has ended.")]


def _stream(words: str, stop: str, events: int | None = None) -> bytes:
    message = {"id": "msg", "type": "message", "role": "assistant", "model": "m", **text(words)}
    message |= {"usage": {"input_tokens": 1, "output_tokens": 1}, "stop_reason": stop}
    return sse(*message_events(message)[:events])


@pytest.mark.seed(167)
def test_an_attempt_that_was_whole_makes_no_later_one_whole(tmp_path: Path) -> None:
    """The first attempt completes its stream, and its stop reason says that the window is full. The
    second breaks off: it counts as broken, and nothing of the first is told as its answer."""
    whole, cut = _stream("of the first", OVER), _stream("of the second", "end_turn", 3)
    ran = stand(tmp_path, whole, cut, _stream("fine", "end_turn"))
    ran.options["stream"] = True
    ran.run()
    assert ran.provider.purposes == ["main", "compact", "main", "main"]
    assert ends(ran) == FINE
    assert [row.text for row in ran.rows() if row.role == "assistant"][-1] == "fine"
    (tmp_path / "b").mkdir()
    gave_up = stand(tmp_path / "b", whole, cut, cut)
    gave_up.options["stream"] = True
    gave_up.run()
    [(kind, status, told)] = ends(gave_up)
    assert (kind, status) == ("error", "failed")
    assert "of the first" not in told


@pytest.mark.seed(168)
def test_a_summary_has_a_minute_of_its_own() -> None:
    asked: list[Query] = []

    def ask(query: Query) -> ModelAnswer:
        asked.append(query)
        return ModelAnswer(assistant(SUMMARY), "end_turn")

    assert compact([*PAST, user("and now?")], 10_000, ask) is not None
    assert [query.timeout_s for query in asked] == [SUMMARY_TIMEOUT_S] == [60.0]


@pytest.mark.seed(168)
def test_a_summary_is_written_by_the_model_of_the_turn(tmp_path: Path) -> None:
    """What replaces a summary needs no model, so it has no time limit either."""
    ran = stand(tmp_path, too_long(), too_long(), text("fine"))
    ran.options["model"] = "claude-of-this-turn"
    ran.run()
    assert ran.provider.purposes == ["main", "compact", "main", "main"]
    assert {request["model"] for request in ran.provider.requests} == {"claude-of-this-turn"}
