"""A run on two sides: findings by the key of a baseline, and what makes it differ."""

from __future__ import annotations

import pytest

from harness.core.history.history import History
from harness.core.values.verdict import Finding, Verdict, VerdictWord
from harness.verdicts.run_diff import Played, RunDiff, run_diff
from tests.comparison import edited, played

ONE = Finding("a.b", "on line 7", (3,), "defect")
MOVED = Finding("a.b", "on line 9", (5,), "defect")
FOLLOWS = Finding("a.b", "on line 7", (3,), "defect", "c.d")
ADVICE = Finding("e.f", "better so", (), "advice")


def side(*findings: Finding, word: VerdictWord = "fail", history: History | None = None) -> Played:
    """A side with these findings."""
    return Played(history or played("circles"), Verdict(word, findings=findings), "x")


def codes(run: RunDiff) -> tuple[list[str], list[str], list[str]]:
    """The codes that are new, failing and gone."""
    return tuple([f.code for f in part] for part in (run.new, run.failing, run.gone))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (side(ONE), side(MOVED), ([], [], [])),
        (side(ONE, MOVED), side(ONE), ([], [], [])),
        (side(), side(ONE, MOVED), (["a.b"], ["a.b"], [])),
        (side(ONE), side(), ([], [], ["a.b"])),
        (side(ONE), side(FOLLOWS), ([], [], [])),
        (side(), side(ADVICE), (["e.f"], [], [])),
        (side(ONE), side(word="unknown"), ([], [], [])),
    ],
)
def test_findings_are_the_same_by_code_and_cause(
    a: Played, b: Played, told: tuple[list[str], ...]
) -> None:
    assert codes(run_diff("circles", a, b)) == told


def test_a_finding_that_is_known_on_the_other_side_is_not_new() -> None:
    known = Played(played("circles"), Verdict("pass", known=(ONE,)), "x")
    assert codes(run_diff("circles", known, side(ONE))) == ([], [], [])


def test_tokens_and_times_alone_do_not_make_a_difference() -> None:
    history = played("circles")
    slower = edited(history, ('"tokens":', '"tokens":9'), ('"turn":1', '"at_ms":9,"turn":1'))
    run = run_diff("circles", side(), side(history=slower))
    assert run.a.figures != run.b.figures
    assert not run.differs


def test_a_scenario_that_was_changed_is_told() -> None:
    history = played("circles")
    run = run_diff(
        "circles", side(), side(history=edited(history, ('"limits":{', '"limits":{"x":1,')))
    )
    assert run.beside == ("scenario: limits",)
    assert run.differs
