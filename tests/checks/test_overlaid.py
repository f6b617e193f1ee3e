"""Under an overlay of faults the counts of a scenario are set aside, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest
from harness.checks.overlaid import REASONS

from harness.checks.judge import judge
from harness.core.values.verdict import Verdict
from tests.checks.histories import Story

COUNTS = {
    "outcome": "failed_truthfully",
    "calls": {"model": {"max": 1}},
    "inputs": {"list": {"path": "/elsewhere"}},
    "waits_s": [3],
}


def _judged(expect: dict[str, Any], *, overlaid: bool) -> Verdict:
    settings = {"expect": expect, **({"overlaid": True} if overlaid else {})}
    story = Story(settings=settings).turn("go").fail(529).wait(500).reply("done").final()
    return judge(story.end(unplayed=("turn #9",)))


@pytest.mark.parametrize("overlaid", [False, True])
def test_counts_hold_without_an_overlay_only(overlaid: bool) -> None:
    codes = {f.code for f in _judged(COUNTS, overlaid=overlaid).findings}
    counted = {"expect.outcome", "expect.calls", "expect.waits", "run.unplayed_turn"}
    assert codes == (set() if overlaid else counted)


def test_what_is_set_aside_is_listed_with_its_reason() -> None:
    listed = {n.check: n.reason for n in _judged(COUNTS, overlaid=True).not_applicable}
    assert REASONS.items() <= listed.items()
    assert not REASONS.keys() & {n.check for n in _judged(COUNTS, overlaid=False).not_applicable}


def test_what_the_scenario_does_not_expect_is_not_listed() -> None:
    listed = {n.check for n in _judged({}, overlaid=True).not_applicable}
    assert listed & REASONS.keys() == {"run.unplayed_turn", "script.exhausted"}


def test_what_is_forbidden_stays_forbidden() -> None:
    verdict = _judged({**COUNTS, "must_not": {"say": ["done"]}}, overlaid=True)
    assert [f.code for f in verdict.findings] == ["expect.must_not"]


def test_a_known_defect_of_a_count_is_not_missed() -> None:
    known = ["expect.calls", "script.exhausted"]
    verdict = _judged({**COUNTS, "known": known}, overlaid=True)
    assert (verdict.findings, verdict.known) == ((), ())


def test_one_check_alone_lists_its_own() -> None:
    story = Story(settings={"expect": COUNTS, "overlaid": True}).turn("go").reply("x").final()
    verdict = judge(story.end(), only="script")
    assert [n.check for n in verdict.not_applicable] == ["script.exhausted"]
