"""Calls and offers: what fits, what does not, and schemas that cannot be read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import ToolSpec, ToolUse
from harness.runner.tool_offers import misfit

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"seats": {"type": "integer"}, "names": {"type": "array"}},
    "required": ["seats"],
    "additionalProperties": False,
}
OFFER = (ToolSpec("book", "", SCHEMA), ToolSpec("cancel"), ToolSpec("anything", "", {}))


@pytest.mark.parametrize(
    ("name", "input"),
    [
        ("book", {"seats": 4}),
        ("book", {"seats": 4, "names": ["Ada"]}),
        ("cancel", {}),
        ("cancel", {"any": "thing"}),
        ("anything", "a text for a tool without a schema"),
    ],
)
def test_what_fits(name: str, input: Any) -> None:
    assert misfit(ToolUse("1", name, input), OFFER) == ""


@pytest.mark.parametrize(
    ("name", "input", "what"),
    [
        ("Book", {"seats": 4}, "did you mean 'book'?"),
        ("sing", {}, "known: anything, book, cancel"),
        ("book", {}, 'breaks the tool\'s schema: "seats" is a required property'),
        ("book", {"seats": "4"}, 'seats: "4" is not of type "integer"'),
        ("book", {"seats": 4, "names": "Ada"}, "names: "),
        ("book", {"seats": 4, "seat": 4}, "'seat' was unexpected"),
        ("book", "four", 'is not of type "object"'),
        ("book", {"seats": "x" * 5_000}, "seats: "),
    ],
)
def test_what_does_not_fit_is_named(name: str, input: Any, what: str) -> None:
    told = misfit(ToolUse("1", name, input), OFFER)
    assert what in told
    assert len(told) < 400


def test_the_types_of_gemini_are_in_large_letters() -> None:
    offer = [
        ToolSpec("f", "", {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}}),
    ]
    assert misfit(ToolUse("1", "f", {"n": 1}), offer) == ""
    assert "n: " in misfit(ToolUse("1", "f", {"n": "1"}), offer)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "no such type"},
        {"$ref": "https://example.invalid/schema.json"},
        {"$ref": "#/$defs/missing"},
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"properties": {"a": 3}},
        {"properties": {"b": {"pattern": "("}}},
    ],
)
def test_a_schema_that_cannot_be_read_is_no_mistake_of_the_call(schema: dict[str, Any]) -> None:
    assert misfit(ToolUse("1", "f", {"a": 1, "b": "x"}), [ToolSpec("f", "", schema)]) == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "enum", "pattern"]), JSON), JSON)
def test_no_schema_ends_the_command(schema: dict[str, Any], input: Any) -> None:
    assert isinstance(misfit(ToolUse("1", "f", input), [ToolSpec("f", "", schema)]), str)
