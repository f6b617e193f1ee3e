"""What a turn says: the reply of a model, the answer of a tool, and the blocks of a file."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.core.scenario.scenario import ToolTurn, Turn
from harness.core.scenario.script import block_from, describe, model_reply, tool_answer
from harness.core.values.draws import Draws
from harness.core.values.errors import InputError
from harness.core.values.messages import Opaque, Text, Thinking, ToolResult, ToolUse
from harness.core.values.plans import Reply, ToolAnswer


@pytest.mark.parametrize(
    ("turn", "answer"),
    [
        (ToolTurn(ok="x"), ToolAnswer("x")),
        (ToolTurn(ok=[{"type": "text", "text": "x"}]), ToolAnswer([{"type": "text", "text": "x"}])),
        (ToolTurn(error="e"), ToolAnswer("e", is_error=True)),
        (ToolTurn(bytes=3), ToolAnswer("xxx")),
        (ToolTurn(effect="booked"), ToolAnswer("ok")),
    ],
)
def test_what_a_tool_turn_says(turn: ToolTurn, answer: ToolAnswer) -> None:
    assert tool_answer(turn) == answer


def test_the_short_form_in_order_with_drawn_ids() -> None:
    turn = Turn(think="hm", say="so", use="t", input={"a": 1})
    reply = model_reply(turn, Draws(7), "main/model#1")
    thinking, text, use = reply.blocks
    assert isinstance(thinking, Thinking)
    assert text == Text("so")
    assert isinstance(use, ToolUse)
    assert (use.name, use.input, reply.stop) == ("t", {"a": 1}, "tool_use")
    assert use.id.startswith("toolu_01")
    assert use.id == model_reply(turn, Draws(7), "main/model#1").blocks[2].id  # type: ignore[union-attr]
    assert use.id != model_reply(turn, Draws(7), "main/model#2").blocks[2].id  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("turn", "stop"),
    [
        (Turn(say="x"), "end_turn"),
        (Turn(use="x"), "tool_use"),
        (Turn(use="x", stop="max_tokens"), "max_tokens"),
        (Turn(say="x", stop="null"), None),
    ],
)
def test_the_stop_reason(turn: Turn, stop: str | None) -> None:
    assert model_reply(turn, Draws(1), "k").stop == stop


def test_an_input_that_is_not_given_is_empty_and_null_is_null() -> None:
    assert model_reply(Turn(use="t"), Draws(1), "k").blocks[0].input == {}  # type: ignore[union-attr]
    null = msgspec.convert({"use": "t", "input": None}, Turn)
    assert model_reply(null, Draws(1), "k").blocks[0].input is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fields", "block"),
    [
        ({"type": "text", "text": "x"}, Text("x")),
        ({"type": "thinking", "text": "x", "signature": "s"}, Thinking("x", "s")),
        ({"type": "tool_use", "name": "t"}, ToolUse("", "t", {})),
        ({"type": "tool_result", "id": "i", "content": "c"}, ToolResult("i", "c")),
        ({"type": "new", "x": 1}, Opaque("new", {"type": "new", "x": 1})),
    ],
)
def test_blocks_of_a_file(fields: dict[str, Any], block: object) -> None:
    assert block_from(fields) == block


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"text": "x"}, "needs a `type`"),
        ({"type": ["text"]}, "needs a `type`"),
        ({"type": "text"}, "missing required field `text`"),
        ({"type": "text", "text": 3}, "Expected `str`"),
        ({"type": "thinking", "thinking": "x"}, "'thinking': known: "),
        ({"type": "text", "text": "x", "txt": "y"}, "did you mean 'text'?"),
    ],
)
def test_a_block_that_cannot_be_read(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words.replace("?", r"\?")):
        block_from(fields)


def test_a_turn_in_words() -> None:
    assert describe(Turn(use="t")) == "use t"
    assert describe(Turn(say="x" * 100)) == f"say {'x' * 40!r}"


def test_usage_is_passed_on() -> None:
    assert model_reply(Turn(say="x", usage={"input_tokens": 3}), Draws(1), "k") == Reply(
        (Text("x"),), "end_turn", {"input_tokens": 3}
    )
