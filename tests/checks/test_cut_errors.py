"""What a result has to hold of the words of a tool's error."""

from __future__ import annotations

import pytest

from harness.checks.truthfulness import error_visible
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import codes, use

PAY = use("write", {"path": "17"})


LINES = "order 17: the card has expired\norder 18: the address is gone\n2 of 2 orders failed"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Error: 2 of 2 orders failed", ["error_visible.reworded"]),
        (f"Error: {LINES}", []),
        (repr(LINES), []),
        ("order 17: the card has expired [2 more lines cut]", []),
        ("order 17: the card has expired\n2 of 2 orders failed", []),
        ("Both cards were refused, one expired and one without address: 2 of 2 orders failed", []),
    ],
)
def test_one_line_of_several_does_not_say_what_failed(text: str, found: list[str]) -> None:
    world = FailingWorld().turn("Pay order 17.").reply(PAY).tool(LINES, error=True)
    assert isinstance(world, FailingWorld)
    world.result(text, flagged=True).reply("I could not pay.")
    assert codes(error_visible(world.final().end())) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Error: the card of Ada Lovelace was ref", ["error_visible.reworded"]),
        ('{"error": "the card of Ada Lovelace was ref"}', ["error_visible.reworded"]),
        ("the card of Ada Lovelace was refused", []),
        ("the card of Ada Lovelace was ref... (cut)", []),
        ("The bank says no to the card of Ada Lovelace.", []),
        ("the card of Ada Lovelace was refused: call the bank at 555-0100.", []),
    ],
)
def test_an_error_is_not_cut_in_the_middle_of_a_sentence(text: str, found: list[str]) -> None:
    words = "the card of Ada Lovelace was refused: call the bank at 555-0100 before Monday"
    world = FailingWorld().turn("Pay order 17.").reply(PAY).tool(words, error=True)
    assert isinstance(world, FailingWorld)
    world.result(text, flagged=True).reply("I could not pay.")
    told = list(error_visible(world.final().end()))
    assert codes(told) == found
    assert not found or "result holds 32 of the 77 characters of its error" in told[0].message


def test_a_trace_of_calls_may_be_left_out_of_an_error() -> None:
    trace = "Traceback (most recent call last):\n  File a\nOSError: disk\nDuring this\nIOError: end"
    world = FailingWorld().turn("Pay order 17.").reply(PAY).tool(trace, error=True)
    assert isinstance(world, FailingWorld)
    world.result("IOError: end", flagged=True).reply("I could not pay.")
    assert codes(error_visible(world.final().end())) == []


def test_an_error_that_ends_with_a_quote_and_says_itself_twice_is_whole() -> None:
    words = "cat: cannot open 'a file of mine' cat: cannot open 'a file of mine'"
    world = FailingWorld().turn("Pay order 17.").reply(PAY).tool(words, error=True)
    assert isinstance(world, FailingWorld)
    world.result(words, flagged=True).reply("I could not pay.")
    assert codes(error_visible(world.final().end())) == []
