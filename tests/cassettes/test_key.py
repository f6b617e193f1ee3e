"""What counts of a request: everything that determines the answer, and nothing else."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.cassettes.key import head_of_reading, masked_head, masked_message, name_head
from harness.core.messages import Message, Opaque, Text, ToolResult, ToolSpec, ToolUse, user
from harness.core.ports import Reading

READING = Reading(
    model="m",
    messages=(user("hi"),),
    keep=0,
    added=(),
    system="be brief",
    tools=(ToolSpec("read"),),
    tools_offered=True,
    max_tokens=100,
    settings={"temperature": 0.5, "metadata": {"user_id": "me"}},
)


def _name(**changes: Any) -> str:
    return name_head(head_of_reading(msgspec.structs.replace(READING, **changes)))


@pytest.mark.parametrize(
    "change",
    [
        {"model": "n"},
        {"system": ""},
        {"tools": (ToolSpec("write"),)},
        {"tools_offered": False},
        {"max_tokens": 101},
        {"stream": True},
        {"settings": {"temperature": 0.6}},
        {"settings": {"temperature": 0.5, "tool_choice": {"type": "any"}}},
    ],
)
def test_what_determines_the_answer_counts(change: dict[str, Any]) -> None:
    assert _name(**change) != _name()


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"temperature": 0.5}},
        {"settings": {"metadata": {"user_id": "you"}, "temperature": 0.5}},
        {"settings": {"temperature": 0.5, "cache_control": {"type": "ephemeral"}}},
        {"tokens": 12, "keep": 1},
    ],
)
def test_what_does_not_determine_it_does_not_count(change: dict[str, Any]) -> None:
    assert _name(**change) == _name()


def test_a_masked_head_says_what_a_recording_says() -> None:
    secret = "sk-ant-" + "x" * 30
    live = head_of_reading(msgspec.structs.replace(READING, system=f"use {secret}"))
    assert masked_head(live).system == "use [REDACTED]"
    assert masked_head(head_of_reading(READING)) == head_of_reading(READING)


def test_a_message_is_masked_in_every_block() -> None:
    secret = "ghp_" + "x" * 36
    message = Message(
        "user",
        (
            Text(secret),
            ToolUse("toolu_1", "read", {"key": [secret]}),
            ToolResult("toolu_1", (Text(secret), Opaque("image", {"data": secret}))),
        ),
    )
    assert secret not in repr(masked_message(message))
    assert masked_message(user("nothing")) == user("nothing")
