"""An input as its schema reads it, and an input that is another one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.evidence.tool_inputs import same_input

PLACE = {
    "type": "object",
    "properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "string"}},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "x": {"type": "number"},
        "limit": {"type": "integer", "default": 10},
        "note": {"type": "string"},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "flag": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "kind": {"type": "string", "enum": ["red", "blue"]},
        "place": {"$ref": "#/$defs/Place"},
    },
    "required": ["n"],
    "$defs": {"Place": PLACE},
}
HALF = "\ud83d"


@pytest.mark.parametrize(
    ("said", "ran"),
    [
        ({"n": "1"}, {"n": 1}),
        ({"n": 1}, {"n": 1.0}),
        ({"x": 1}, {"x": 1.0}),
        ({"n": 1}, {"n": 1, "limit": 10}),
        ({"n": 1}, {"n": 1, "maybe": None}),
        ({"n": 1}, {"n": 1, "note": None}),
        ({"n": 1, "note": None}, {"n": 1}),
        ({"n": 1}, {"n": 1, "place": {"a": 1}}),
        ({"place": {"b": "x"}}, {"place": {"a": 1, "b": "x"}}),
        ({"flag": "True"}, {"flag": True}),
        ({"note": 5}, {"note": "5"}),
        ({"tags": '["a"]'}, {"tags": ["a"]}),
        ({"tags": "a"}, {"tags": ["a"]}),
        ({"kind": "Red"}, {"kind": "red"}),
        ({"note": f"a{HALF}b"}, {"note": "ab"}),
        ({"note": f"a{HALF}b"}, {"note": "a\ufffdb"}),
        ({"note": f"a{HALF}b"}, {"note": "a?b"}),
        ({"note": "a\\ud83db"}, {"note": "ab"}),
        ({f"n{HALF}": 1}, {"n": 1}),
    ],
)
def test_an_input_may_be_read_as_the_schema_says(said: Any, ran: Any) -> None:
    assert same_input(said, ran, SCHEMA)


@pytest.mark.parametrize(
    ("said", "ran"),
    [
        ({"n": "1"}, {"n": 2}),
        ({"n": 1.5}, {"n": 1}),
        ({"n": 1}, {"n": True}),
        ({"n": 2**53 + 1}, {"n": float(2**53)}),
        ({"n": 1}, {"n": 1, "limit": 11}),
        ({"n": 1}, {"n": 1, "limit": None}),
        ({"n": 1}, {"n": 1, "note": ""}),
        ({"n": 1}, {}),
        ({"n": 1, "note": "a"}, {"n": 1}),
        ({"n": 1, "other": 1}, {"n": 1}),
        ({"n": 1}, {"n": 1, "other": 1}),
        ({"note": "1"}, {"note": 1}),
        ({"note": "what?"}, {"note": "what"}),
        ({"note": f"a{HALF}b"}, {"note": "a"}),
        ({"tags": ["a", "b"]}, {"tags": ["a"]}),
        ({"kind": "red"}, {"kind": "blue"}),
    ],
)
def test_another_input_is_changed(said: Any, ran: Any) -> None:
    assert not same_input(said, ran, SCHEMA)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.sampled_from([{}, SCHEMA, {"anyOf": [{}, SCHEMA]}, {"$ref": "#"}]))
def test_an_input_is_itself_under_any_schema(value: Any, schema: dict[str, Any]) -> None:
    assert same_input(value, value, schema)


@given(st.dictionaries(st.text(max_size=3), st.integers(), min_size=1), st.integers())
def test_without_a_schema_another_number_is_changed(value: dict[str, int], other: int) -> None:
    name = min(value)
    assert same_input(value, {**value, name: other}, {}) == (value[name] == other)
