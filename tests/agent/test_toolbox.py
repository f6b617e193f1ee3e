"""For any behaviour of a tool, the model gets one result that can be stored and sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.conversation.projection import NO_TEXT
from harness.agent.toolbox import MAX_RESULT_CHARACTERS, Toolbox, content_of
from harness.core.values.brief import Tool, ToolError
from harness.core.values.messages import Opaque, Text, ToolResult, ToolUse, canonical


def run(answer: Any, given_input: Any = None) -> ToolResult:
    """The result of a tool that returns, or raises, `answer`."""

    def call(input: Any, id: str) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    box = Toolbox([Tool("t", "", {"type": "object"}, call)])
    return box.run(ToolUse("id", "t", given_input))


@pytest.mark.parametrize("nothing", [None, "", " \n", [], (), b""])
def test_nothing_is_said_in_words(nothing: Any) -> None:
    assert run(nothing) == ToolResult("id", NO_TEXT)


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        ("text", "text"),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
        ("half \ud83d", "half \ufffd"),
        ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
        (7, "7"),
        (["a", {"type": "text", "text": "b"}, Text("")], (Text("a"), Text("b"), Text(NO_TEXT))),
        ([{"type": "image", "source": {}}], (Opaque("image", {"type": "image", "source": {}}),)),
    ],
)
def test_what_it_returns_becomes_content(answer: Any, content: Any) -> None:
    assert run(answer) == ToolResult("id", content)


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (ToolError("no such row"), "no such row"),
        (OSError(13, "Permission denied"), "[Errno 13] Permission denied"),
        (TimeoutError(), "TimeoutError"),
        (ValueError("\ud83d"), "\ufffd"),
    ],
)
def test_what_it_raises_becomes_an_error_result(raised: Exception, said: str) -> None:
    assert run(raised) == ToolResult("id", said, is_error=True)


@pytest.mark.parametrize("given_input", [[1], "text", 3, {"__unparsedToolInput": "{"}])
def test_arguments_that_are_no_object_are_not_run(given_input: Any) -> None:
    assert run("ran", given_input).is_error


def test_no_arguments_are_an_empty_object() -> None:
    assert run("ran", None) == ToolResult("id", "ran")


def test_an_unknown_tool_is_answered_with_the_names() -> None:
    result = Toolbox([Tool("look", "", {}, str)]).run(ToolUse("id", "luck", {}))
    assert result.is_error
    assert "look" in result.text


def test_a_large_result_is_cut_in_the_middle() -> None:
    content = content_of("a" * 10_000_000 + "end")
    assert isinstance(content, str)
    assert len(content) < MAX_RESULT_CHARACTERS + 100
    assert content.endswith("end")


_ANYTHING = st.recursive(
    st.none() | st.text(st.characters(), max_size=5) | st.binary(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(_ANYTHING)
def test_any_value_becomes_a_result_that_can_be_written(value: Any) -> None:
    result = run(value)
    assert canonical(result)
    assert result.content


def test_many_small_parts_are_bounded_together_and_the_rest_is_told() -> None:
    parts = content_of([f"line {n}" for n in range(10_000)])
    assert isinstance(parts, tuple)
    size = sum(len(canonical(part)) for part in parts)
    assert MAX_RESULT_CHARACTERS / 2 < size <= MAX_RESULT_CHARACTERS + 100
    assert parts[0] == Text("line 0")
    assert "more to say" in parts[-1].text  # type: ignore[union-attr]


def test_one_large_part_stays() -> None:
    parts = content_of(["x" * MAX_RESULT_CHARACTERS])
    assert parts == (Text("x" * MAX_RESULT_CHARACTERS),)
