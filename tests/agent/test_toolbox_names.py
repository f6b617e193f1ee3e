"""Names that every provider takes: good ones stay, and no two are alike."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from harness.agent.toolbox import NAME_MAX_CHARACTERS, Toolbox, tool_names
from harness.core.values.brief import Tool
from harness.core.values.messages import ToolUse

NAMES = st.lists(st.text(alphabet="ab._- ö", max_size=80), unique=True, max_size=8)


@given(NAMES)
def test_each_is_taken_and_none_is_told_twice(names: list[str]) -> None:
    made = tool_names(names)
    assert len(set(made)) == len(made) == len(names)
    assert all(
        re.fullmatch(r"[A-Za-z0-9_-]+", name) and len(name) <= NAME_MAX_CHARACTERS for name in made
    )


@given(NAMES)
def test_good_names_stay(names: list[str]) -> None:
    for name, new in zip(names, tool_names(names), strict=True):
        if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
            assert new == name


def test_one_that_becomes_like_another_is_numbered() -> None:
    assert tool_names(["a.b", "a_b", "a b"]) == ["a_b_2", "a_b", "a_b_3"]
    assert tool_names(["x" * 70, "x" * 64]) == ["x" * 62 + "_2", "x" * 64]


def test_a_tool_runs_by_the_name_that_was_told() -> None:
    tools = [Tool(name, name, {}, lambda input, id, name=name: name) for name in ("a.b", "a_b")]
    box = Toolbox(tools)
    assert [spec.name for spec in box.specs] == ["a_b_2", "a_b"]
    assert box.run(ToolUse("1", "a_b_2", {})).content == "a.b"
    assert box.run(ToolUse("2", "a_b", {})).content == "a_b"
