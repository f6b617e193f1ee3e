"""Blocks survive the way to the wire and back; unknown ones too."""

from __future__ import annotations

import pytest
from hypothesis import given

from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    digest,
)
from harness.providers.anthropic.blocks import block_from, block_to, message_from
from harness.providers.shared.reader import Malformed
from tests.providers.anthropic.strategies import any_block


@given(any_block)
def test_a_block_comes_back_as_it_was(block: Block) -> None:
    assert block_from(block_to(block)) == block


@given(any_block)
def test_a_cache_mark_leaves_the_digest_alone(block: Block) -> None:
    marked = {**block_to(block), "cache_control": {"type": "ephemeral"}}
    assert digest(block_from(marked)) == digest(block)


@pytest.mark.parametrize(
    ("value", "block"),
    [
        ({"type": "text", "text": "a", "new": 1}, Text("a", {"new": 1})),
        (
            {"type": "tool_use", "id": "i", "name": "n", "input": [1], "caller": {}},
            ToolUse("i", "n", [1], {"caller": {}}),
        ),
        ({"type": "tool_result", "tool_use_id": "i"}, ToolResult("i")),
        ({"type": "thinking", "thinking": "t"}, Thinking("t")),
        (
            {"type": "thinking", "thinking": "t", "signature": "s", "new": 1},
            Opaque("thinking", {"type": "thinking", "thinking": "t", "signature": "s", "new": 1}),
        ),
        ({"type": "image", "source": {}}, Opaque("image", {"type": "image", "source": {}})),
        ({"type": "text", "text": None}, Opaque("text", {"type": "text", "text": None})),
        ({"type": "tool_use", "id": 3}, Opaque("tool_use", {"type": "tool_use", "id": 3})),
        ({}, Opaque("", {})),
        ({"type": 7}, Opaque("", {"type": 7})),
    ],
)
def test_odd_blocks(value: dict[str, Json], block: Block) -> None:
    assert block_from(value) == block


def test_marks_inside_a_result_are_left_out_too() -> None:
    part = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    value = {"type": "tool_result", "tool_use_id": "i", "content": [part, {"type": "image"}]}
    image = Opaque("image", {"type": "image"})
    assert block_from(value) == ToolResult("i", (Text("a"), image))


@pytest.mark.parametrize(
    "value",
    [
        {"type": "tool_use", "id": "i", "name": "n", "input": {}},
        {"type": "tool_result", "tool_use_id": "j", "content": ""},
        {"type": "thinking", "thinking": "t", "signature": ""},
        {"no": "type"},
    ],
)
def test_an_odd_block_inside_a_result_is_kept_whole(value: dict[str, Json]) -> None:
    result = block_from({"type": "tool_result", "tool_use_id": "i", "content": [value]})
    assert isinstance(result, ToolResult)
    assert result.content == (Opaque(value.get("type", ""), value),)


def test_a_string_is_one_text_and_an_empty_one_is_none() -> None:
    assert message_from({"role": "user", "content": "a"}) == Message("user", (Text("a"),))
    assert message_from({"role": "user", "content": ""}) == Message("user")


@pytest.mark.parametrize(
    ("value", "path", "missing"),
    [
        (3, "", False),
        ({"content": "a"}, ".role", True),
        ({"role": "user"}, ".content", True),
        ({"role": 3, "content": ""}, ".role", False),
        ({"role": "user", "content": ["a"]}, ".content.0", False),
    ],
)
def test_what_is_no_message_says_where(value: Json, path: str, missing: bool) -> None:
    with pytest.raises(Malformed) as caught:
        message_from(value)
    assert (caught.value.path, caught.value.missing) == (path, missing)
