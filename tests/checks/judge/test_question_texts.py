"""What asks a rule is told in words; a question that a limit has cut off leaves no run in doubt."""

from __future__ import annotations

import pytest

from harness.agent import naive_agent
from harness.checks.judge import rule_of
from harness.checks.judge.check_texts import explain
from harness.checks.judge.questions import EVENTS, asked_by
from harness.core.values.table_file import pairs
from harness.files import load_scenarios
from harness.runner import run
from tests.scenarios.all_runs import SCENARIOS


def test_a_must_of_a_run_that_a_limit_has_cut_is_no_doubt() -> None:
    """The limit is a finding, and with a baseline that accepts it the run would stay *unknown*."""
    scenario = next(iter(load_scenarios(SCENARIOS / "loops/warned-seventeen-times.yaml")))
    verdict = run(scenario, naive_agent.agent).verdict
    assert "limit.model_calls" in {finding.code for finding in verdict.findings}
    assert verdict.doubts == ()


def test_explain_names_the_event() -> None:
    assert "Asked by a failed tool call." in explain("error_visible.hidden")
    assert "Asked by a kill and an effect of a tool." in explain("history_faithful")
    assert asked_by(rule_of("valid_request.V4")) == "a request to the model"
    with pytest.raises(LookupError, match=r"no row for backoff\.unheard_of"):
        rule_of("backoff.unheard_of")


def test_each_event_has_its_words_and_no_other_does() -> None:
    assert list(pairs("harness.checks.judge", "questions.tsv")) == list(EVENTS)
