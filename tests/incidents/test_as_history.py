"""Transcripts as histories: every request can be put together again, at the cost of its length."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.loops import no_progress_stop
from harness.checks.request import role_alternation
from harness.checks.tool_calls import tool_pairing
from harness.core.calls import ModelRequest, ToolRequest
from harness.core.errors import InputError
from harness.core.events import Answered, Called, Ended, Started
from harness.core.history import History, decode, encode
from harness.core.messages import (
    Message,
    Text,
    ToolResult,
    ToolSpec,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.plans import ApiError
from harness.incidents.as_history import as_history
from harness.incidents.counts import counts
from harness.incidents.transcripts import Transcript

TURN = (
    user("go"),
    assistant("so", ToolUse("1", "f", {"x": 1}), ToolUse("2", "g")),
    results(ToolResult("1", "ok"), ToolResult("2", (Text("bad"),), True)),
    assistant("done"),
)


def _requests(history: History) -> list[list[Message]]:
    """The messages of each model call, put together from what it continues."""
    known: dict[str, list[Message]] = {}
    for event in history.events:
        if isinstance(event, Called) and isinstance(event.request, ModelRequest):
            request = event.request
            kept = known[request.after][: request.keep] if request.after else []
            known[event.key] = kept + [history.messages[name] for name in request.messages]
    return list(known.values())


def _history(*messages: Message, **more: Any) -> History:
    return as_history(Transcript(name="t", messages=messages, **more))


def test_after_a_new_beginning_a_request_holds_what_is_shown_from_then_on() -> None:
    more = (user("what was"), user("on"), assistant("yes"), user("and"), assistant("no"))
    messages = (*TURN, *more)
    begun = [more[0], *TURN[2:], more[1]]
    kept = _history(*messages, restarts={4: 2}, wire="anthropic")
    assert _requests(kept)[2:] == [begun, [*begun, *more[2:4]]]
    none = _history(*messages, restarts={4: 4}, wire="anthropic")
    assert _requests(none)[2:] == [list(more[:2]), list(more[:4])]


def test_a_new_beginning_is_judged_without_what_was_before_it() -> None:
    open_call = (user("go"), assistant(ToolUse("1", "f", {})), user("sum"), assistant("ok"))
    whole = as_history(Transcript(name="t", messages=open_call, wire="anthropic"), "anthropic-2026")
    begun = Transcript(name="t", messages=open_call, wire="anthropic", restarts={2: 2})
    assert _refused(whole) == [(), ("V4",)]
    assert _refused(as_history(begun, "anthropic-2026")) == [(), ()]


def _refused(history: History) -> list[tuple[str, ...]]:
    calls = (e for e in history.events if isinstance(e, Called) and e.seam == "model")
    return [call.refused for call in calls]


def test_each_answer_of_the_model_is_a_call_with_what_stands_before_it() -> None:
    history = _history(*TURN, wire="anthropic", stops={1: "tool_use", 3: "end_turn"})
    assert _requests(history) == [list(TURN[:1]), list(TURN[:3])]
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
    history = _history(*TURN)
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
    history = _history(user("go"), assistant(ToolUse("1", "f")))
    assert not any(isinstance(e, Answered) and e.seam == "tool" for e in history.events)


def test_ids_used_twice_and_missing_ids_have_keys_of_their_own() -> None:
    history = _history(
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
    history = _history(user("go"), exchange=True, status=529, error=error, complete=False)
    assert _requests(history) == [[user("go")]]
    answered = history.events[-2]
    assert isinstance(answered, Answered)
    assert (answered.status, answered.error, answered.complete) == (529, "overloaded_error", False)
    assert answered.outcome == "error"


def test_a_cut_answer_is_incomplete() -> None:
    history = _history(user("go"), assistant("so"), exchange=True, answered=True, complete=False)
    (answered,) = [e for e in history.events if isinstance(e, Answered)]
    assert (answered.complete, answered.outcome) == (False, "error")


@pytest.mark.parametrize("exchange", [True, False])
def test_a_log_says_that_its_requests_are_inferred(exchange: bool) -> None:
    history = _history(*TURN, exchange=exchange, answered=exchange, stateful=exchange)
    assert history.trace.starts[0].inferred is not exchange
    assert all(e.request.stateful is exchange for e in history.trace.exchanges)


def test_a_result_whose_call_the_provider_keeps_is_no_orphan() -> None:
    said = (results(ToolResult("1", "ok")), assistant("done"))
    kept = _history(*said, exchange=True, answered=True, stateful=True)
    assert list(tool_pairing(kept)) == []
    assert [f.code for f in tool_pairing(_history(*said))] == ["tool_pairing.orphan"]


def test_a_recording_without_tools_has_no_tool_seam() -> None:
    started = _history(user("a"), assistant("b")).events[0]
    assert isinstance(started, Started)
    assert started.seams == ("model",)


def test_what_is_declared_is_named_by_its_digest() -> None:
    tools = (ToolSpec("f", "", {"required": ["x"]}),)
    history = _history(user("a"), assistant("b"), tools=tools, system="be brief")
    called = next(e for e in history.events if isinstance(e, Called))
    assert isinstance(called.request, ModelRequest)
    assert history.values[called.request.system] == "be brief"
    assert history.values[called.request.tools][0]["name"] == "f"
    assert called.request.tools_offered


def test_a_dialect_judges_each_request_of_its_own_wire() -> None:
    broken = (user("go"), assistant(ToolUse("1", "f", {})), user("and?"), assistant("b"))
    transcript = Transcript(name="t", messages=broken, wire="anthropic")

    def refused(found: Transcript, dialect: str | None) -> list[tuple[str, ...]]:
        events = as_history(found, dialect).events
        return [e.refused for e in events if isinstance(e, Called) and e.seam == "model"]

    assert refused(transcript, "anthropic-2026") == [(), ("V4",)]
    assert refused(transcript, None) == [(), ()]
    other = Transcript(name="t", messages=broken, wire="openai-chat")
    assert refused(other, "anthropic-2026") == [(), ()]
    with pytest.raises(InputError):
        as_history(transcript, "no-such-dialect")


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
    history = _history(*messages, exchange=exchange, wire="anthropic")
    assert decode(encode(history.events)).events == history.events
    tool = [e for e in history.events if isinstance(e, (Called, Answered)) and e.seam == "tool"]
    found = counts(Transcript(name="t", messages=tuple(messages)))
    assert sum(isinstance(e, Called) for e in tool) == found["tool_calls"]
    assert sum(isinstance(e, Answered) for e in tool) == found["tool_results"]
    assert len({e.key for e in tool if isinstance(e, Called)}) == found["tool_calls"]
    spoken = [n for n, m in enumerate(messages) if m.role == "assistant"]
    wanted = [messages[:n] for n in spoken] + ([messages] if exchange else [])
    assert _requests(history) == wanted
    named = [len(e.request.messages) for e in history.events if isinstance(e, Called)
             and isinstance(e.request, ModelRequest)]  # fmt: skip
    assert sum(named) <= len(messages)


_STEPS = st.lists(
    st.tuples(st.sampled_from("fg"), st.sampled_from([{}, {"x": 1}]), st.sampled_from(["a", "b"]),
              st.booleans()),
    max_size=12,
)  # fmt: skip


@given(_STEPS, st.booleans())
def test_what_the_checks_find_are_the_runs_that_are_counted(
    steps: list[tuple[str, dict[str, int], str, bool]], in_one_message: bool
) -> None:
    uses = [ToolUse(str(n), name, value) for n, (name, value, _, _) in enumerate(steps)]
    said = [ToolResult(str(n), text, error) for n, (_, _, text, error) in enumerate(steps)]
    if in_one_message:
        messages = [user("go"), assistant(*uses), results(*said)]
    else:
        pairs = zip(uses, said, strict=True)
        messages = [user("go"), *(m for u, r in pairs for m in (assistant(u), results(r)))]
    transcript = Transcript(name="t", messages=tuple(messages), wire="anthropic")
    found = [finding.code for finding in no_progress_stop(as_history(transcript))]
    if in_one_message:
        assert found == [], "what one message asks for twice repeats nothing"
        return
    counted = counts(transcript)
    assert found.count("no_progress_stop.same_call") == len(counted["same_call_runs"])
    failures = len(counted["same_fail_runs_explicit"])
    assert found.count("no_progress_stop.same_failure") == failures


def _asked(texts: int, answered: bool = False) -> Transcript:
    messages = [user("Hello."), assistant("Hello!")]
    for number in range(texts):
        messages.append(user(f"Question {number}?"))
        messages += [assistant("Yes.")] * answered
    return Transcript(name="spiral", messages=(*messages, assistant("To all of you: yes.")))


def test_five_questions_in_a_row_are_the_fingerprint_of_lost_replies() -> None:
    def codes(transcript: Transcript) -> list[str]:
        return [finding.code for finding in role_alternation(as_history(transcript))]

    assert codes(_asked(5)).count("role_alternation.spiral") == 1
    assert codes(_asked(9)).count("role_alternation.spiral") == 1
    assert "role_alternation.spiral" not in codes(_asked(4))
    assert not codes(_asked(9, answered=True))
