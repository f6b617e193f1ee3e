"""The six shapes of endless loops, as the page of the catalogue lists them: an oracle of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.runner import run
from tests import mutants
from tests.documents import part
from tests.scenarios.all_runs import named, reference_for

PAGE = Path(__file__).parents[2] / "docs" / "catalogue.md"
LINES = [line for line in part(PAGE, "## Endless loops").splitlines() if "`@" in line]
ROWS = [tuple(cell.strip(" `") for cell in line.strip("|").split("|")) for line in LINES]
SHAPES = 7
"""The six shapes; the page tells delegation and the judge apart, which the study counts as one."""

BARE = ("thanks_the_other_agent", "forgets_its_states", "rewrites_for_its_judge")


def test_the_page_has_a_row_for_each_shape() -> None:
    assert len(ROWS) == len({agent for _, _, agent, _ in ROWS}) == SHAPES


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[2]))
def test_a_row_names_what_its_wrong_agent_is_made_for(row: tuple[str, str, str, str]) -> None:
    mutant = mutants.named(row[2]).mutant
    assert (mutant.scenario, mutant.killed_by) == (row[1].rpartition("/")[2], row[3])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[2]))
def test_an_agent_with_a_bound_passes(row: tuple[str, str, str, str]) -> None:
    wrong, scenario = mutants.named(row[2]), named(mutants.named(row[2]).mutant.scenario)
    careful = wrong.mutant.look_alike or reference_for(scenario)
    played = run(scenario, careful)
    assert played.verdict.verdict == "pass", played.verdict.findings


@pytest.mark.parametrize("agent", BARE)
def test_the_twin_stops_and_says_so(agent: str) -> None:
    mutant = mutants.named(agent).mutant
    assert mutant.look_alike
    played = run(named(mutant.scenario), mutant.look_alike)
    assert played.verdict.outcome == "failed_truthfully"
    (ending,) = (s for turn in played.history.trace.turns.values() for s in turn.endings)
    assert "[" in ending.request.text
    assert any(word in ending.request.text for word in ("stopped", "last answer"))


@pytest.mark.parametrize(
    ("agent", "variant"),
    [
        ("thanks_the_other_agent", "news-in-each-round"),
        ("forgets_its_states", "job-that-moves-on"),
        ("rewrites_for_its_judge", "satisfied-at-the-third"),
        ("answers_its_own_words", "quoted-twice"),
    ],
)
def test_the_wrong_agent_passes_where_something_new_comes(agent: str, variant: str) -> None:
    wrong = mutants.named(agent)
    played = run(named(f"{wrong.mutant.scenario}/{variant}"), wrong.agent)
    assert played.verdict.verdict == "pass", played.verdict.findings


def test_a_judge_of_one_and_the_same_answer_is_a_round_of_two() -> None:
    wrong = mutants.named("rewrites_for_its_judge")
    verdict = run(named("judge-never-satisfied/the-same-answer-again"), wrong.agent).verdict
    assert "answer_taken.same_round" in [finding.code for finding in verdict.findings]
