"""Recorded calls of one loop are one session, and nothing that is found in them is lost."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.judge import judge
from harness.core.values.messages import (
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.values.plans import ApiError
from harness.recordings.exchange_sessions import sessions
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript


def _call(number: int, asked: tuple[Message, ...], *answer: Message, **more: Any) -> Transcript:
    fields: dict[str, Any] = {
        "wire": "anthropic",
        "stops": {len(asked): "tool_use"} if answer else {},
        **more,
    }
    messages = (*asked, *answer)
    return Transcript(
        name=f"interaction {number}",
        messages=messages,
        exchange=True,
        answered=bool(answer),
        **fields,
    )


def _use(id_: str, name: str = "read", **given: Any) -> Message:
    return assistant("I look.", ToolUse(id_, name, given))


_FIRST = _call(1, (user("go"),), _use("t1"))
_SECOND = _call(2, (*_FIRST.messages, results(ToolResult("t1", "ok"))), _use("t2"))
_THIRD = _call(3, (*_SECOND.messages, results(ToolResult("t2", "ok"))), assistant("Done."))


def test_the_calls_of_a_loop_are_one_session_under_the_name_of_the_last() -> None:
    (one,) = sessions([_FIRST, _SECOND, _THIRD])
    assert (one.name, one.messages) == (_THIRD.name, _THIRD.messages)
    assert one.stops == {1: "tool_use", 3: "tool_use", 5: "tool_use"}
    answers = [e for e in to_history(one).trace.exchanges if e.answered]
    assert [e.stop for e in answers] == ["tool_use"] * 3


def test_two_loops_beside_each_other_are_two_sessions() -> None:
    other = [_call(n, (user("other"), *one.messages[1:-1]), one.messages[-1])
             for n, one in enumerate((_FIRST, _SECOND, _THIRD), start=4)]  # fmt: skip
    mixed = [call for pair in zip((_FIRST, _SECOND, _THIRD), other, strict=True) for call in pair]
    assert [one.name for one in sessions(mixed)] == ["interaction 3", "interaction 6"]


def test_two_calls_that_go_on_from_one_are_two_sessions() -> None:
    fork = _call(3, (*_FIRST.messages, results(ToolResult("t1", "no"))), assistant("Oh."))
    assert [one.name for one in sessions([_FIRST, _SECOND, fork])] == [_SECOND.name, fork.name]


@pytest.mark.parametrize(
    "more",
    [
        {"system": "x"},
        {"model": "x"},
        {"max_tokens": 9},
        {"stream": True},
        {"wire": "openai-chat"},
        {"complete": False},
        {"status": 500},
        {"error": ApiError(529, "overloaded_error", "later")},
    ],
)
def test_calls_that_differ_or_failed_stay_apart(more: dict[str, Any]) -> None:
    first = msgspec.structs.replace(_FIRST, **more)
    assert sessions([first, _SECOND]) == (first, _SECOND)


@pytest.mark.parametrize(
    "repeated",
    [user("I look."), _use("t9"), _use("t1", "write"), _use("t1", n=1), assistant("I look.")],
)
def test_a_call_whose_answer_is_not_repeated_stays_apart(repeated: Message) -> None:
    second = _call(2, (user("go"), repeated, results(ToolResult("t1", "ok"))), assistant("Done."))
    assert sessions([_FIRST, second]) == (_FIRST, second)


def test_what_an_answer_said_beside_its_text_and_calls_is_kept() -> None:
    thought = Message("assistant", (Thinking("hm", "signed"), *_FIRST.messages[-1].blocks))
    (one,) = sessions([_call(1, (user("go"),), thought), _SECOND])
    assert one.messages == _SECOND.messages
    first, second = to_history(one).trace.exchanges
    assert first.reply == thought
    assert second.node.messages[1] == _FIRST.messages[-1]


def test_a_log_is_a_session_already() -> None:
    logs = [Transcript(name=name, messages=_FIRST.messages) for name in "ab"]
    assert sessions(logs) == tuple(logs)


_ANSWERS = st.lists(
    st.builds(
        lambda text, uses: Message(
            "assistant", (*([Text(text)] if text else []), *(ToolUse(i, "read", {}) for i in uses))
        ),
        st.sampled_from(["", " ", "I look."]),
        st.lists(st.sampled_from(["t1", "t2", ""]), max_size=2),
    ),
    min_size=1,
    max_size=5,
)


@given(_ANSWERS)
def test_a_session_tells_what_its_calls_tell(answers: list[Message]) -> None:
    calls: list[Transcript] = []
    asked: tuple[Message, ...] = (user("go"),)
    for number, answer in enumerate(answers, start=1):
        calls.append(_call(number, asked, answer))
        found = [ToolResult(use.id, "ok") for use in answer.tool_uses]
        asked = (*asked, answer, results(*found) if found else user("and?"))
    (one,) = sessions(calls)
    told = {finding.code for call in calls for finding in judge(to_history(call)).findings}
    assert {finding.code for finding in judge(to_history(one)).findings} == told
