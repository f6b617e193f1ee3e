"""What a message says beside its blocks, against the types of the official client."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import beta

from harness.core.values.messages import Json
from harness.providers.anthropic.blocks import FIELDS, BlockNotes, marks_in, notes

MARK = {"cache_control": {"type": "ephemeral"}}
TYPES: dict[str, Any] = {
    "text": beta.BetaTextBlockParam,
    "thinking": beta.BetaThinkingBlockParam,
    "redacted_thinking": beta.BetaRedactedThinkingBlockParam,
    "tool_use": beta.BetaToolUseBlockParam,
    "tool_result": beta.BetaToolResultBlockParam,
    "image": beta.BetaImageBlockParam,
}


@pytest.mark.parametrize("kind", FIELDS)
def test_the_fields_are_those_of_the_sdk(kind: str) -> None:
    assert FIELDS[kind] == frozenset(TYPES[kind].__annotations__)
    assert FIELDS.keys() == TYPES.keys()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("plain", None),
        ([{"type": "text", "text": "a", "citations": None}], None),
        ([{"type": "made_up", "colour": "red"}, {"type": [], "text": 1}, {}], None),
        ([{"type": "text", "text": "a", "cache_control": None}], None),
        ([{"type": "text", "text": "", **MARK}], BlockNotes(1, (0,), ())),
        ([{"type": "made_up", **MARK}], BlockNotes(1, (), ())),
        (
            [{"type": "thinking", "thinking": "", "signature": "", **MARK}],
            BlockNotes(1, (), ("content.0.thinking.cache_control",)),
        ),
        (
            [{"type": "tool_result", "content": [{"type": "text", **MARK}, {}], "x": 1, **MARK}],
            BlockNotes(2, (), ("content.0.tool_result.x",)),
        ),
        ([{"type": "tool_result", "content": [{"type": "text", "text": "a"}]}], None),
    ],
)
def test_only_what_is_odd_is_noted(content: Json, said: BlockNotes | None) -> None:
    assert notes({"role": "user", "content": content}) == said


def test_marks_are_counted_in_lists_alone() -> None:
    assert marks_in([MARK, {}, "x", {"cache_control": None}]) == 1
    assert marks_in("s") == marks_in(None) == 0
