"""Failures of tools that are told, and failures that are hidden."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.visibility import error_visible
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import codes, use

FORBIDDEN = {"expect": {"must_not": {"say": ["is PAID"]}}}
PAY = use("write", {"path": "17"})


def _failed(**settings: Any) -> FailingWorld:
    world = FailingWorld(settings=settings)
    world.turn("Pay order 17.").reply(PAY).tool("card 4711 was not accepted", error=True)
    return world


def test_a_hidden_failure_is_told_with_the_run_and_the_request() -> None:
    world = _failed().result("ok", flagged=False)
    ran = world.called
    world.reply("Good.")
    (finding,) = error_visible(world.final().end())
    assert finding.code == "error_visible.hidden"
    assert finding.events == (ran, world.history.trace.exchanges[1].n)


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("(nothing)", True),
        ("card 4711 was not accepted", False),
        ("Result: card 4711 was not accept...", False),
        ("Error: no", False),
        ("The request timed out.", False),
        ('{"ok": false}', False),
        ("exit code 2", False),
        ("HTTP status 503", False),
        ("The outcome of this call is unknown.", False),
    ],
)
def test_a_failure_that_is_flagged_or_told_is_fine(text: str, flagged: bool) -> None:
    world = _failed().result(text, flagged=flagged).reply("I could not pay.")
    assert not list(error_visible(world.final().end()))


@pytest.mark.parametrize("text", ["ok", "exit code 0", "(the tool returned nothing)", "7 files"])
def test_other_words_do_not_tell_a_failure(text: str) -> None:
    world = _failed().result(text, flagged=False).reply("Fine.")
    assert codes(error_visible(world.final().end())) == ["error_visible.hidden"]


def test_a_tool_may_be_tried_again_before_its_result_is_sent() -> None:
    world = _failed()
    world._results.clear()
    asked = world.history.trace.asks[0].use
    world.again(asked).tool("done").reply("Done.")
    assert not list(error_visible(world.final().end()))


def test_a_tool_that_works_may_speak_of_errors() -> None:
    world = FailingWorld().turn("Read the log.").reply(use("list")).tool("Traceback: error 7")
    assert not list(error_visible(world.reply("It says error 7.").final().end()))


def test_a_failure_whose_result_was_never_sent_is_not_judged() -> None:
    assert not list(error_visible(_failed().result("ok", flagged=False).cancel().end()))


def test_a_success_is_not_claimed_for_what_failed() -> None:
    world = _failed(**FORBIDDEN).reply("Order 17 is paid.")
    ran = world.history.trace.executions[0].n
    (finding,) = error_visible(world.final().end())
    assert (finding.code, finding.events) == ("error_visible.claimed", (ran, world.called))


def test_words_that_tell_of_the_failure_are_no_claim() -> None:
    world = _failed(**FORBIDDEN).reply("Order 17 could not be paid.")
    assert not list(error_visible(world.final().end()))


def test_a_turn_that_says_it_failed_claims_nothing() -> None:
    world = _failed(**FORBIDDEN).reply("Whether order 17 is paid I cannot say.")
    assert not list(error_visible(world.final(status="failed").end()))


def test_what_succeeds_in_the_end_may_be_claimed() -> None:
    world = _failed(**FORBIDDEN).reply(PAY).tool("done").reply("Order 17 is paid.")
    assert not list(error_visible(world.final().end()))
