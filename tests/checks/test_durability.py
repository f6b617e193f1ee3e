"""Writes that the store refused: made good, told, or lost."""

from __future__ import annotations

import pytest

from harness.checks.durability import no_silent_loss
from harness.core.values.messages import assistant, user
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import codes

ROW = assistant("Ada is 36.")


def _refused(times: int = 1) -> FailingWorld:
    world = FailingWorld(stores=True)
    world.turn("How old is Ada?").reply("Ada is 36.")
    world.stores = False
    for _ in range(times):
        world.write(ROW)
    return world


def test_a_lost_row_is_told_with_the_refusal() -> None:
    world = _refused()
    refused = world.last
    world.final()
    (finding,) = no_silent_loss(world.end())
    assert (finding.code, finding.events) == ("no_silent_loss.lost", (refused, world.last))


def test_a_later_try_makes_it_good() -> None:
    assert not list(no_silent_loss(_refused(3).write(ROW, fails=False).final().end()))


def test_a_later_turn_may_make_it_good() -> None:
    world = _refused().final().turn("And now?")
    assert not list(no_silent_loss(world.row(ROW).reply("Fine.").final().end()))


def test_a_write_may_count_although_it_is_reported_as_failed() -> None:
    assert not list(no_silent_loss(_refused().row(ROW).final().end()))


def test_an_equal_row_of_long_ago_does_not_make_it_good() -> None:
    world = FailingWorld()
    world.turn("How old is Ada?").reply("Ada is 36.").final().turn("How old?").reply("Ada is 36.")
    world.stores = False
    assert codes(no_silent_loss(world.write(ROW).final().end())) == ["no_silent_loss.lost"]


@pytest.mark.parametrize(("kind", "status"), [("error", ""), ("notice", ""), ("final", "failed")])
def test_the_user_may_be_told(kind: str, status: str) -> None:
    assert not list(no_silent_loss(_refused().final("Not stored.", status, kind).end()))


def test_the_user_may_be_told_in_the_next_turn_and_not_later() -> None:
    told = _refused().final().turn("And now?").say("Something was not stored.", "notice")
    assert not list(no_silent_loss(told.end()))
    late = _refused().final().turn("And?").final("yes").turn("So?").say("Not stored.", "notice")
    assert codes(no_silent_loss(late.end())) == ["no_silent_loss.lost"]


def test_what_the_outbox_did_not_take_tells_nothing() -> None:
    world = _refused().say("Not stored.", "error", taken=False).final()
    assert codes(no_silent_loss(world.end())) == ["no_silent_loss.lost"]


def test_a_word_from_before_the_loss_does_not_tell_it() -> None:
    world = FailingWorld()
    world.turn("Hello?").say("The history is damaged.", "notice")
    world.stores = False
    assert codes(no_silent_loss(world.write(ROW).final("Hi").end())) == ["no_silent_loss.lost"]


def test_a_mark_without_a_row_is_no_row() -> None:
    world = FailingWorld()
    world.turn("Hello?").reply("Hi").final()
    assert not list(no_silent_loss(world.write().end()))


def test_a_kill_takes_what_was_not_written() -> None:
    assert not list(no_silent_loss(_refused().restart().end()))


@pytest.mark.parametrize("how", ["killed", "limit", "hung"])
def test_an_agent_that_was_stopped_could_not_tell_it(how: str) -> None:
    assert not list(no_silent_loss(_refused().end(how)))


def test_tries_are_bounded() -> None:
    world = _refused(11)
    last = world.last
    found = list(no_silent_loss(world.write(ROW).write(ROW, fails=False).final().end()))
    assert codes(found) == ["no_silent_loss.unbounded"]
    assert found[0].events[1] == last
    assert not list(no_silent_loss(_refused(10).write(ROW, fails=False).final().end()))
    assert codes(no_silent_loss(_refused(3).say("x", "error").end(), attempts=2)) == [
        "no_silent_loss.unbounded"
    ]


def test_several_rows_count_together() -> None:
    world = _refused().write(ROW, user("x")).final()
    found = list(no_silent_loss(world.end()))
    assert [f.message.split(": ")[1].split(",")[0] for f in found] == [
        "a row lost in main",
        "2 rows lost in main",
    ]
