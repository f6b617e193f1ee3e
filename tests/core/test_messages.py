from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import (
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
    assistant,
    canonical,
    digest,
    is_malformed,
    named,
    printable,
    results,
    side,
    user,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
blocks = st.one_of(
    st.builds(Text, st.text(max_size=5)),
    st.builds(Thinking, st.text(max_size=3), st.text(max_size=3), st.text(max_size=3)),
    st.builds(ToolUse, st.text(max_size=3), st.text(max_size=3), json_values),
    st.builds(ToolResult, st.text(max_size=3), st.text(max_size=3), st.booleans()),
    st.builds(
        Opaque, st.text(max_size=3), st.dictionaries(st.text(max_size=3), json_values, max_size=2)
    ),
)
messages = st.builds(
    Message, st.sampled_from(["user", "assistant"]), st.lists(blocks, max_size=4).map(tuple)
)


def shuffled(value: Any) -> Any:
    """The same JSON value with the keys of each object turned round."""
    if isinstance(value, dict):
        return {k: shuffled(v) for k, v in reversed(list(value.items()))}
    return [shuffled(v) for v in value] if isinstance(value, list) else value


@given(messages)
def test_a_message_survives_json_and_keeps_its_digest(message: Message) -> None:
    again = msgspec.json.decode(msgspec.json.encode(message), type=Message)
    assert again == message
    assert digest(again) == digest(message)


@given(json_values)
def test_the_order_of_keys_is_no_difference(value: Any) -> None:
    assert canonical(value) == canonical(shuffled(value))
    assert digest(value) == digest(shuffled(value))


@given(json_values, json_values)
def test_other_values_have_other_names(one: Any, other: Any) -> None:
    assert (canonical(one) == canonical(other)) == (digest(one) == digest(other))


def test_a_digest_is_the_same_everywhere() -> None:
    assert digest({"b": 1, "a": [True, None, 2**70]}) == "56564c7cbe75e2f70232"


def test_what_a_message_says() -> None:
    use = ToolUse("i", "t", {})
    message = assistant("a", use, "b")
    assert (message.text, message.tool_uses, message.tool_results) == ("a\nb", (use,), ())
    result = ToolResult("i", (Text("x"), Opaque("image", {}), Text("y")))
    assert results(result).tool_results == (result,)
    assert result.text == "x\ny"
    assert ToolResult("i", "plain").text == "plain"


@pytest.mark.parametrize(
    ("role", "whose"),
    [
        ("user", "user"),
        ("assistant", "assistant"),
        ("tool", "tool"),
        ("function", "tool"),
        ("system", "system"),
        ("developer", "system"),
        ("narrator", "user"),
    ],
)
def test_whose_turn_a_role_is(role: str, whose: str) -> None:
    assert side(Message(role)) == whose


def test_tool_results_in_a_user_message_are_the_users() -> None:
    assert side(results(ToolResult("i"))) == side(user("x")) == "user"


@pytest.mark.parametrize(
    ("schema", "required"),
    [
        ({}, ()),
        ({"required": ["a", "b"]}, ("a", "b")),
        ({"required": "a"}, ()),
        ({"required": None}, ()),
    ],
)
def test_what_a_tool_requires(schema: dict[str, Any], required: tuple[str, ...]) -> None:
    assert ToolSpec("t", "", schema).required == required


def test_half_a_character_has_a_digest_of_its_own_and_is_told() -> None:
    half, spelt = user("x \ud83d"), user("x \\ud83d")
    assert printable(half) == printable(spelt)
    assert named(half) == (digest(half), True)
    assert named(spelt) == (digest(spelt), False)
    assert digest(half) != digest(spelt)


@pytest.mark.parametrize(
    ("body", "malformed"),
    [
        (b'{"a": "\\ud83d"}', True),
        (b'{"a": "\\ud83d\\ude00"}', False),
        (b'{"a": "\\\\ud83d"}', False),
        (b'{"a": "x', False),
        (b"\xff", False),
        (b"[" * 100_000, False),
    ],
    ids=["half", "whole", "spelt out", "cut", "no text", "deep"],
)
def test_a_body_that_holds_half_a_character(body: bytes, malformed: bool) -> None:
    assert is_malformed(body) is malformed
