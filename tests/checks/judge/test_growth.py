"""A session of twice the turns costs about twice the calls, in each shape that a session has.

Calls of functions are counted, not seconds: a count is the same on every machine. A check that
searches all messages for each turn was found only by `make bench`, at 10,000 turns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from harness.checks.judge import judge
from harness.core.history.history import History
from harness.core.values.messages import Message, assistant, user
from tests.checks.histories import Story, use

TURNS = 60
LINEAR, EACH_SUMMARY = 2.1, 2.6
"""Twice the turns, and a little for a sort. What a summary replaces is looked for in all that was
said before it, so a tenth of that work grows with the square."""


def _growing(turns: int) -> Story:
    story = Story()
    for n in range(turns):
        story.turn(f"question {n}").reply(f"answer {n}").final()
    return story


def _with_tools(turns: int) -> Story:
    story = Story()
    for n in range(turns):
        story.turn(f"question {n}").reply(use("read", {"path": f"{n}"})).tool(f"file {n}")
        story.reply(f"answer {n}").final()
    return story


def _sliding(turns: int) -> Story:
    """The newest messages only, as an agent with a window sends them."""
    story, held = Story(stores=False), list[Message]()
    for n in range(turns):
        held = [*held, user(f"question {n}")][-5:]
        story.turn(f"question {n}").reply(f"answer {n}", messages=held).final()
        held.append(assistant(f"answer {n}"))
    return story


def _summing_up(turns: int) -> Story:
    """A summary takes the place of what was said at every fifth turn."""
    story, held = Story(stores=False), list[Message]()
    for n in range(turns):
        story.turn(f"question {n}")
        if n % 5 == 4:
            story.reply(f"sum of {n}", purpose="compact", messages=[*held, user("Sum up.")])
            held = [user(f"Summary: sum of {n}")]
        held.append(user(f"question {n}"))
        story.reply(f"answer {n}", messages=held).final()
        held.append(assistant(f"answer {n}"))
    return story


def _failing(turns: int) -> Story:
    """Every turn fails, and the user is told."""
    story = Story()
    for n in range(turns):
        story.turn(f"question {n}").fail(500, "api_error").final(f"failed {n}", status="failed")
    return story


def _calls(work: Callable[[], object]) -> int:
    count = 0

    def see(_frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    ("shape", "most"),
    [
        (_growing, LINEAR),
        (_with_tools, LINEAR),
        (_sliding, LINEAR),
        (_failing, LINEAR),
        (_summing_up, EACH_SUMMARY),
    ],
)
def test_judging_grows_with_the_turns(shape: Callable[[int], Story], most: float) -> None:
    histories: list[History] = [shape(size).end() for size in (TURNS, TURNS, 2 * TURNS)]
    _, once, twice = (_calls(lambda history=each: judge(history)) for each in histories)
    assert twice < once * most, twice / once
