"""The six words of the Resume Contract, as the page of the catalogue lists them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.judge import rules
from harness.runner import run
from tests import mutants
from tests.documents import part
from tests.scenarios.all_runs import named, reference_for

PAGE = Path(__file__).parents[2] / "docs" / "catalogue.md"
LINES = [line for line in part(PAGE, "## The Resume Contract").splitlines() if "`@resume" in line]
ROWS = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in LINES if "|" in line]
WORDS = 6

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[3]))


def test_the_page_has_a_row_for_each_word() -> None:
    assert len(ROWS) == len({row[0] for row in ROWS}) == WORDS


@each_row
def test_the_wrong_agent_of_a_word_has_its_finding(row: list[str]) -> None:
    verdict = run(named(row[2].removeprefix("@resume/")), mutants.named(row[3]).agent).verdict
    assert row[4] in {finding.code for finding in verdict.findings}


@each_row
def test_a_word_names_the_check_of_its_finding(row: list[str]) -> None:
    checks = {name.strip(" `") for name in row[1].split(",")}
    assert row[4].partition(".")[0] in checks
    assert checks <= {rule.check for rule in rules().values()}


@each_row
def test_the_right_agent_passes(row: list[str]) -> None:
    scenario = named(row[2].removeprefix("@resume/"))
    right = mutants.named(row[3]).mutant.look_alike or reference_for(scenario)
    for agent in (right, reference_for(scenario)):
        played = run(scenario, agent)
        assert played.verdict.verdict == "pass", played.verdict.findings
