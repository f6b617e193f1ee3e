"""What counts of a request: everything that determines the answer, and nothing else."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.cassettes.request_index import (
    VOLATILE_FIELDS,
    VOLATILE_TEXTS,
    head_of_reading,
    lasting_text,
    masked_head,
    masked_message,
    name_head,
    name_message,
)
from harness.core.transition.ports import Reading
from harness.core.values.messages import Message, Opaque, Text, ToolResult, ToolSpec, ToolUse, user

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
        *({"settings": {"temperature": 0.5, name: "x"}} for name in sorted(VOLATILE_FIELDS)),
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


@pytest.mark.parametrize(
    ("today", "tomorrow"),
    [
        ("Today is 2026-11-21.", "Today is 2026-11-22."),
        ("at 2026-11-21T15:07:43.123Z", "at 2027-01-01T00:00:00+01:00"),
        ("at 2026-11-21 15:07", "at 2027-01-01 00:00:59"),
        (
            "session 8d5e9ed6-7b3e-4f0a-9d8a-3d7c1c4a2b10",
            "session 00000000-0000-0000-0000-00000000000F",
        ),
    ],
)
def test_dates_and_ids_of_the_system_do_not_count(today: str, tomorrow: str) -> None:
    assert _name(system=today) == _name(system=tomorrow)
    system, other = Message("system", (Text(today),)), Message("system", (Text(tomorrow),))
    assert name_message(system) == name_message(other)


@pytest.mark.parametrize("text", ["1.2.3", "12026-11-21", "2026-1-1", "a-b-c", "version 2026"])
def test_what_only_looks_like_a_date_counts(text: str) -> None:
    assert lasting_text(text) == text


def test_dates_of_anybody_else_count() -> None:
    assert name_message(user("on 2026-11-21")) != name_message(user("on 2026-11-22"))


def test_every_volatile_text_reads_as_its_name() -> None:
    found = lasting_text("8d5e9ed6-7b3e-4f0a-9d8a-3d7c1c4a2b10 2026-11-21")
    assert found == " ".join(f"<{name}>" for name in VOLATILE_TEXTS)
