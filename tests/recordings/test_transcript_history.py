"""Transcripts as histories: every request can be put together again, at the cost of its length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.events import Answered, Called, Ended, Started
from harness.core.history.history import decode, encode
from harness.core.values.calls import ModelRequest, ToolRequest
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolSpec,
    ToolUse,
    assistant,
    results,
    side,
    user,
)
from harness.core.values.plans import ApiError
from harness.recordings.transcript_counts import counts
from harness.recordings.transcripts import Transcript
from tests.recordings.transcribed import TURN, history_of, requests_of


def test_after_a_new_beginning_a_request_holds_what_is_shown_from_then_on() -> None:
    more = (user("what was"), user("on"), assistant("yes"), user("and"), assistant("no"))
    messages = (*TURN, *more)
    begun = [more[0], *TURN[2:], more[1]]
    kept = history_of(*messages, restarts={4: 2}, wire="anthropic")
    assert requests_of(kept)[2:] == [begun, [*begun, *more[2:4]]]
    none = history_of(*messages, restarts={4: 4}, wire="anthropic")
    assert requests_of(none)[2:] == [list(more[:2]), list(more[:4])]


def test_each_answer_of_the_model_is_a_call_with_what_stands_before_it() -> None:
    history = history_of(*TURN, wire="anthropic", stops={1: "tool_use", 3: "end_turn"})
    assert requests_of(history) == [list(TURN[:1]), list(TURN[:3])]
    answers = [e for e in history.events if isinstance(e, Answered) and e.seam == "model"]
    assert [history.messages[e.blocks] for e in answers] == [TURN[1], TURN[3]]
    assert [e.stop for e in answers] == ["tool_use", "end_turn"]
    started = history.events[0]
    assert isinstance(started, Started)
    assert (started.world, started.wire, started.seams) == (
        "recording",
        "anthropic",
        ("model", "tool"),
    )
    assert isinstance(history.events[-1], Ended)


def test_tool_calls_are_answered_where_their_results_stand() -> None:
    history = history_of(*TURN)
    tool = [e for e in history.events if isinstance(e, (Called, Answered)) and e.seam == "tool"]
    assert [(type(e).__name__, e.key) for e in tool] == [
        ("Called", "main/tool:1"),
        ("Called", "main/tool:2"),
        ("Answered", "main/tool:1"),
        ("Answered", "main/tool:2"),
    ]
    assert [e.request for e in tool[:2]] == [
        ToolRequest("1", "f", {"x": 1}),
        ToolRequest("2", "g"),
    ]
    assert [e.value for e in tool[2:]] == [
        {"content": "ok"},
        {"content": [{"type": "text", "text": "bad"}], "is_error": True},
    ]
    assert [e.outcome for e in tool[2:]] == ["ok", "error"]


def test_a_pending_call_has_no_answer() -> None:
    history = history_of(user("go"), assistant(ToolUse("1", "f")))
    assert not any(isinstance(e, Answered) and e.seam == "tool" for e in history.events)


def test_ids_used_twice_and_missing_ids_have_keys_of_their_own() -> None:
    history = history_of(
        user("go"),
        assistant(ToolUse("1", "f"), ToolUse("", "g")),
        results(ToolResult("1", "a"), ToolResult("", "b")),
        assistant(ToolUse("1", "f"), ToolUse("", "g")),
        results(ToolResult("1", "c"), ToolResult("", "d"), ToolResult("9", "e")),
    )
    answers = [e for e in history.events if isinstance(e, Answered) and e.seam == "tool"]
    assert [(e.key, e.value["content"]) for e in answers] == [
        ("main/tool:1", "a"),
        ("main/tool:no-id", "b"),
        ("main/tool:1#2", "c"),
        ("main/tool:no-id#2", "d"),
        ("main/tool:9", "e"),
    ]


def test_an_exchange_without_an_answer_ends_with_a_failed_call() -> None:
    error = ApiError(529, "overloaded_error", "busy")
    history = history_of(user("go"), exchange=True, status=529, error=error, complete=False)
    assert requests_of(history) == [[user("go")]]
    answered = history.events[-2]
    assert isinstance(answered, Answered)
    assert (answered.status, answered.error, answered.complete) == (529, "overloaded_error", False)
    assert answered.outcome == "error"


def test_a_cut_answer_is_incomplete() -> None:
    history = history_of(user("go"), assistant("so"), exchange=True, answered=True, complete=False)
    (answered,) = [e for e in history.events if isinstance(e, Answered)]
    assert (answered.complete, answered.outcome) == (False, "error")


@pytest.mark.parametrize("exchange", [True, False])
def test_a_log_says_that_its_requests_are_inferred(exchange: bool) -> None:
    history = history_of(*TURN, exchange=exchange, answered=exchange, stateful=exchange)
    assert history.trace.starts[0].inferred is not exchange
    assert all(e.request.stateful is exchange for e in history.trace.exchanges)


def test_a_recording_without_tools_has_no_tool_seam() -> None:
    started = history_of(user("a"), assistant("b")).events[0]
    assert isinstance(started, Started)
    assert started.seams == ("model",)


def test_what_is_declared_is_named_by_its_digest() -> None:
    tools = (ToolSpec("f", "", {"required": ["x"]}),)
    history = history_of(user("a"), assistant("b"), tools=tools, system="be brief")
    called = next(e for e in history.events if isinstance(e, Called))
    assert isinstance(called.request, ModelRequest)
    assert history.values[called.request.system] == "be brief"
    assert history.values[called.request.tools][0]["name"] == "f"
    assert called.request.tools_offered


_BLOCKS = st.one_of(
    st.builds(Text, st.text(max_size=2)),
    st.builds(ToolUse, st.sampled_from(["", "1", "2"]), st.sampled_from("fg")),
    st.builds(ToolResult, st.sampled_from(["", "1", "3"])),
)
_ROLES = st.sampled_from(["user", "assistant", "tool", "system"])
_MESSAGES = st.lists(
    st.builds(Message, _ROLES, st.lists(_BLOCKS, max_size=3).map(tuple)), max_size=9
)


@given(_MESSAGES, st.booleans())
def test_any_transcript_becomes_a_history_that_reads_back(
    messages: list[Message], exchange: bool
) -> None:
    history = history_of(*messages, exchange=exchange, wire="anthropic")
    assert decode(encode(history.events)).events == history.events
    tool = [e for e in history.events if isinstance(e, (Called, Answered)) and e.seam == "tool"]
    found = counts(Transcript(name="t", messages=tuple(messages)))
    assert sum(isinstance(e, Called) for e in tool) == found["tool_calls"]
    assert sum(isinstance(e, Answered) for e in tool) == found["tool_results"]
    assert len({e.key for e in tool if isinstance(e, Called)}) == found["tool_calls"]
    spoken = [n for n, m in enumerate(messages) if m.role == "assistant"]
    said = [m for m in messages if side(m) != "system"][-1:]
    # Words beside results are a question: `tool_results` alone would miss them.
    waits = any(side(m) == "user" and len(m.tool_results) < max(len(m.blocks), 1) for m in said)
    wanted = [messages[:n] for n in spoken] + ([messages] if exchange or waits else [])
    assert requests_of(history) == wanted
    named = [len(e.request.messages) for e in history.events if isinstance(e, Called)
             and isinstance(e.request, ModelRequest)]  # fmt: skip
    assert sum(named) <= len(messages)
