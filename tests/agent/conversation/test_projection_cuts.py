"""Wherever a conversation is cut, what is left behind the summary is a valid request."""

from __future__ import annotations

import pytest

from harness.agent.conversation.projection import project
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.providers.anthropic.provider import AnthropicProvider

SUMMARY = user("Summary of the conversation so far: two look-ups, then two at once.")


def _call(name: str) -> ToolUse:
    return ToolUse(name, "look", {"name": name})


CONVERSATION: tuple[Message, ...] = (
    user("Look Ada up, then Bob, then both of the others at once."),
    assistant("First Ada.", _call("t1")),
    results(ToolResult("t1", "Oslo")),
    assistant(_call("t2")),
    results(ToolResult("t2", "not found", is_error=True)),
    assistant("Both at once.", _call("t3"), _call("t4")),
    results(ToolResult("t3", "Rome"), ToolResult("t4", (Text("Bergen"),))),
    assistant("Ada lives in Oslo; Bob was not found."),
    user("And again?"),
    assistant(_call("t5")),
)


@pytest.mark.parametrize("ends", range(1, len(CONVERSATION) + 1))
def test_every_cut_of_every_beginning_leaves_pairs_whole(ends: int) -> None:
    told = CONVERSATION[:ends]
    for kept in range(1, len(told) + 1):
        wire = project([SUMMARY, *told[-kept:]])
        assert AnthropicProvider().refuse(wire, "strict") == (), (ends, kept)


def test_two_cuts_in_sequence_are_as_good_as_one() -> None:
    for first in range(1, len(CONVERSATION)):
        once = [SUMMARY, *CONVERSATION[first:]]
        for second in range(1, len(once)):
            wire = project([SUMMARY, *once[second:]])
            assert AnthropicProvider().refuse(wire, "strict") == (), (first, second)
