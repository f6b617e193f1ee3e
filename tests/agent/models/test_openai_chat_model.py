"""The model over Chat Completions: what an answer says, whole or in pieces."""

from __future__ import annotations

from typing import Any

import pytest

from harness.agent.guards.guard_protocol import UNPARSED
from harness.agent.models.model_call import ModelAnswer
from harness.core.values.messages import ToolUse, assistant
from tests.agent.openai_chat_stand import Stand, call, chunks, completion, whole_call


def test_a_whole_answer_is_one_however_it_comes() -> None:
    plain = completion("tool_calls", content="so", tool_calls=[whole_call("a", '{"p": 1}')])
    pieces = [{"role": "assistant", "content": ""}, {"content": "s"}, {"content": "o"}]
    streamed = chunks(
        *pieces, call(0, "a", "read", ""), call(0, None, None, '{"p":'), call(0, None, None, " 1}"),
        reason="tool_calls",
    )  # fmt: skip
    expected = ModelAnswer(assistant("so", ToolUse("a", "read", {"p": 1})), "tool_use", 5)
    assert Stand(plain).query() == (expected, "so")
    assert Stand(streamed, stream=True).query() == (expected, "so")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("function_call", "tool_use"),
        ("made_up", "made_up"),
    ],
)
def test_why_it_stopped_is_said_in_the_loops_words(reason: str, stop: str) -> None:
    assert Stand(completion(reason, content="x")).query()[0].stop == stop
    assert Stand(chunks({"content": "x"}, reason=reason), stream=True).query()[0].stop == stop


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        ("{}", {}),
        ('{"p": "/tm', {UNPARSED: '{"p": "/tm'}),
        ("[1]", {UNPARSED: "[1]"}),
        ("null", {}),
        ('{"a":1}{"b":2}', {UNPARSED: '{"a":1}{"b":2}'}),
    ],
)
def test_arguments_are_read_strictly(text: str, value: dict[str, Any]) -> None:
    expected = assistant(ToolUse("a", "read", value))
    plain = completion("tool_calls", tool_calls=[whole_call("a", text)])
    streamed = chunks(call(0, "a", "read", text), reason="tool_calls")
    assert Stand(plain).query()[0].message == expected
    assert Stand(streamed, stream=True).query()[0].message == expected


def test_arguments_that_are_the_object_itself_are_taken() -> None:
    for given, taken in (({"p": 1}, {"p": 1}), (None, {}), ([1], {UNPARSED: "[1]"})):
        answer = completion("tool_calls", tool_calls=[whole_call("a", given)])
        assert Stand(answer).query()[0].message == assistant(ToolUse("a", "read", taken))


def test_calls_that_are_all_at_index_0_are_told_apart_by_their_ids() -> None:
    streamed = chunks(call(0, "a", "read", "{}"), call(0, "b", "read", "{}"), reason="tool_calls")
    said = Stand(streamed, stream=True).query()[0].message
    assert [use.id for use in said.tool_uses] == ["a", "b"]


def test_calls_may_be_mixed_and_begin_at_any_index() -> None:
    pieces = [call(1, "b", "read", ""), call(4, "c", "list", "{}"), call(1, None, None, "{}")]
    said = Stand(chunks(*pieces, reason="tool_calls"), stream=True).query()[0].message
    assert said == assistant(ToolUse("b", "read", {}), ToolUse("c", "list", {}))


def test_pieces_of_several_calls_may_come_in_one_chunk() -> None:
    first = {
        "tool_calls": [
            *call(0, "a", "read", "")["tool_calls"],
            *call(1, "b", "read", "{")["tool_calls"],
        ]
    }
    second = {
        "tool_calls": [
            *call(1, None, None, "}")["tool_calls"],
            *call(0, None, None, "{}")["tool_calls"],
        ]
    }
    said = Stand(chunks(first, second, reason="tool_calls"), stream=True).query()[0].message
    assert said == assistant(ToolUse("a", "read", {}), ToolUse("b", "read", {}))


def test_a_refusal_is_text_and_no_answer() -> None:
    for stand in (
        Stand(completion("stop", refusal="I will not.")),
        Stand(chunks({"refusal": "I will"}, {"refusal": " not."}), stream=True),
    ):
        assert stand.query()[0] == ModelAnswer(assistant("I will not."), "refusal", 5)


def test_a_half_of_a_character_is_replaced() -> None:
    streamed = chunks({"content": "x\ud83d"}, {"content": "\ude00y\ud83d"})
    assert Stand(streamed, stream=True).query()[0].message == assistant("x\U0001f600y\ufffd")


def test_arguments_with_half_a_character_are_kept_and_not_run() -> None:
    given = call(0, "a", "read", '{"path": "\\ud55c \\ud83d"}')
    (use,) = Stand(chunks(given, reason="tool_calls"), stream=True).query()[0].message.tool_uses
    assert use.input == {"__unparsedToolInput": '{"path": "\\ud55c \\ud83d"}'}
