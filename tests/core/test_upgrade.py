"""Files of version 1 read as what they said."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.core.history.events import SCHEMA_VERSION, Answered, Called, Started
from harness.core.history.history import decode, encode
from harness.core.history.upgrade import step_record, upgraded
from harness.core.values.plans import (
    Close,
    Effect,
    Jump,
    Kill,
    Raise,
    Returned,
    Sent,
    StepRecord,
    Wait,
    words,
)

VERSION_1 = Path(__file__).with_name("version_1.history.jsonl")

ALL = (
    Sent(2, 5), Returned(), Wait(90_000), Close(), Close(reset=True), Raise("timeout"),
    Raise("tool", "it broke: at\nline 2"), Raise("tool"), Effect("pay the bill"), Jump(5),
    Jump(-5, 7), Kill(), Kill("lost"), Kill("reordered"),
)  # fmt: skip


@pytest.mark.parametrize("record", ALL, ids=words)
def test_version_1_told_each_record_in_the_words_that_reports_print(record: StepRecord) -> None:
    assert step_record(words(record)) == record


def test_words_that_version_1_never_used_are_no_step() -> None:
    assert step_record("") is step_record("sleep 5 ms") is None
    assert upgraded({"event": "answered", "steps": ["sleep 5 ms"]}) is None


def test_a_file_of_version_1_is_read_as_one_of_today() -> None:
    history = decode(VERSION_1.read_bytes())
    started = [e for e in history.events if isinstance(e, Started)]
    answered = [e for e in history.events if isinstance(e, Answered)]
    assert [event.v for event in started] == [SCHEMA_VERSION]
    assert len(answered) == 54
    assert all(isinstance(step, StepRecord) for event in answered for step in event.steps)
    assert decode(encode(history.events)).events == history.events


def test_a_file_of_version_1_says_what_the_same_run_says_today() -> None:
    today = VERSION_1.parents[2] / "cassettes" / "incidents" / "identical-failures.history.jsonl"
    old, new = decode(VERSION_1.read_bytes()), decode(today.read_bytes())
    told = [
        msgspec.structs.replace(e, provider="") if isinstance(e, Called) else e for e in new.events
    ]
    at_once, past_the_end = {"at_ms": 0}, 209  # a strict script ended there, which is open today
    assert old.events[past_the_end].error == "script.exhausted"  # type: ignore[union-attr]
    assert [msgspec.structs.replace(e, **at_once) for e in old.events[1:past_the_end]] == [
        msgspec.structs.replace(e, **at_once) for e in told[1:past_the_end]
    ]


def test_words_that_are_no_step_are_named_with_their_line() -> None:
    lines = VERSION_1.read_bytes().replace(b'"answer"', b'"ansver"', 1)
    with pytest.raises(msgspec.ValidationError, match=r"line \d+: .*steps"):
        decode(lines)
