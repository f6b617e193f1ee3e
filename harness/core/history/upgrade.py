"""Upgrades lines of version 1 of a history file to today's version.

Version 1 wrote plan steps as words (`"wait 90000 ms"`). Later versions only add optional fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from harness.core.values.messages import Json
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
)

OLDEST_VERSION = 1

_WORDS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], StepRecord]], ...] = (
    (re.compile(r"send (\d+) \((\d+) bytes\)"), lambda m: Sent(int(m[1]), int(m[2]))),
    (re.compile(r"wait (-?\d+) ms"), lambda m: Wait(int(m[1]))),
    (re.compile(r"close"), lambda m: Close()),
    (re.compile(r"reset"), lambda m: Close(reset=True)),
    (re.compile(r"raise tool: (.*)", re.DOTALL), lambda m: Raise("tool", m[1])),
    (re.compile(r"raise (.*)", re.DOTALL), lambda m: Raise(m[1])),
    (re.compile(r"effect (.*)", re.DOTALL), lambda m: Effect(m[1])),
    (
        re.compile(r"jump (-?\d+) ms(?:, (-?\d+) ms monotonic)?"),
        lambda m: Jump(int(m[1]), int(m[2] or 0)),
    ),
    (re.compile(r"kill"), lambda m: Kill()),
    (re.compile(r"kill, unsynced lost"), lambda m: Kill("lost")),
    (re.compile(r"kill, unsynced reordered"), lambda m: Kill("reordered")),
    (re.compile(r"answer"), lambda m: Returned()),
)


def upgraded(line: Json) -> dict[str, Json] | None:
    """The fields of a version 1 answer in the current form; None for any other line."""
    if not isinstance(line, dict) or line.get("event") != "answered":
        return None
    steps = line.get("steps")
    if not isinstance(steps, list):
        return None
    records = [step_record(step) for step in steps if isinstance(step, str)]
    if len(records) != len(steps) or None in records:
        return None
    return {**line, "steps": msgspec.to_builtins(records)}


def step_record(words: str) -> StepRecord | None:
    """The step for these words of version 1; None for unknown words."""
    for pattern, make in _WORDS:
        if found := pattern.fullmatch(words):
            return make(found)
    return None
