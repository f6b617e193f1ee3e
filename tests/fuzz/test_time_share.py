"""The time of a limited campaign: shrinking has its half, and one finding a part of the rest."""

from __future__ import annotations

from harness.fuzz.campaign import LEAST_S, TimeShare


class Clock:
    """A clock that is set by hand."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_shrinking_waits_until_exploring_has_had_as_much() -> None:
    clock = Clock()
    share = TimeShare(clock)
    assert share.may_shrink
    share.begun(("a.b", 1), shrinks=True)
    clock.now_s += 4
    assert not share.may_shrink, "a task that is under way counts"
    share.ended(("a.b", 1))
    share.begun(1, shrinks=False)
    clock.now_s += 3
    assert not share.may_shrink
    clock.now_s += 1
    assert share.may_shrink
    share.ended(1)
    assert share.may_shrink


def test_a_task_that_was_begun_before_a_resume_is_no_error() -> None:
    share = TimeShare(Clock())
    share.ended(7)
    assert share.may_shrink


def test_a_finding_gets_a_part_of_the_time_that_is_left() -> None:
    share = TimeShare(Clock())
    assert share.end_of_a_finding(100 + 800) == 200
    assert share.end_of_a_finding(100 + 20) == 100 + LEAST_S
    assert share.end_of_a_finding(100 + 3) == 103
