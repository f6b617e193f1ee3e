"""What is written as a scenario file is read again as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.files.scenario_text import scenario_text
from harness.files.yaml_text import parse

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_every_value_comes_back(document: dict[str, object]) -> None:
    root, _ = parse(scenario_text(document))
    assert json.dumps(root) == json.dumps(document)


@pytest.mark.parametrize(
    "text", ["no", "12:30", "1e5", "0o17", "0x1f", "~", "null", "", "1_000", ".5", " x ", "a\n\nb "]
)
def test_a_text_stays_a_text(text: str) -> None:
    root, _ = parse(scenario_text({"say": text}))
    assert root == {"say": text}


def test_equal_turns_are_written_once() -> None:
    turn = {"use": "look", "input": {"path": "a"}}
    text = scenario_text({"script": [turn, {"say": "b"}, dict(turn)]})
    assert text.count("use: look") == 1
    root, _ = parse(text)
    assert root["script"] == [turn, {"say": "b"}, turn]


def test_lines_stand_as_lines_behind_the_head() -> None:
    text = scenario_text({"say": "one\ntwo\n"}, ["a head\nwith\x00control"])
    assert text == "# a head with control\nsay: |\n  one\n  two\n"


def test_half_a_surrogate_pair_becomes_its_escape() -> None:
    root, _ = parse(scenario_text({"say": "half \ud83d"}))
    assert root == {"say": "half \\ud83d"}
