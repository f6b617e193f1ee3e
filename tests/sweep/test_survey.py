"""The list of cases: each fault at each call that it would change, and why others are left out."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness import faults
from harness.core.history.events import Answered
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.runner import run
from harness.sweep.case_runs import of_case
from harness.sweep.cases import CHANGES_NOTHING, fault_text
from harness.sweep.survey import Survey, SurveyTask, lost_survey, survey
from tests.sweep.agents import CAREFUL, one_question


def surveyed(scenario: Scenario, *patterns: str, target: str = CAREFUL) -> Survey:
    """The survey of a scenario with the faults of these patterns."""
    return survey(SurveyTask(target=target, scenario=scenario, faults=patterns))


def test_each_call_that_a_fault_would_change_is_a_case(tmp_path: Path) -> None:
    found = surveyed(one_question(tmp_path), "http.server_error", "tools.raises")
    assert [(case.fault.kind, case.call, case.fault.when) for case in found.cases] == [
        ("http.server_error", "main/model#1", 1),
        ("tools.raises", "main/tool#1", 1),
        ("http.server_error", "main/model#2", 2),
    ]
    assert [case.number for case in found.cases] == [1, 2, 3]
    assert found.run.verdict == "pass"
    assert (found.run.calls["model"], found.run.calls["tool"]) == (2, 1)


@pytest.mark.parametrize("layer", ["http", "sse", "gateway", "tools", "persistence", "clock"])
def test_a_case_strikes_at_its_call(tmp_path: Path, layer: str) -> None:
    """A fifth of the cases of a layer, on a streamed run."""
    scenario = msgspec.structs.replace(one_question(tmp_path), stream=True)
    cases = surveyed(scenario, f"{layer}.*").cases[::5]
    assert cases
    for case in cases:
        if faults.by_kind(case.fault.kind).kills:
            continue  # an agent that was killed at a call has no answer to it
        played = run(of_case(scenario, case), CAREFUL, capture="fd")
        answers = [e for e in played.history.events if isinstance(e, Answered) and e.faults]
        assert [(e.key, e.faults) for e in answers] == [(case.call, (case.fault.kind,))], case.text


def test_faults_that_give_the_same_answer_are_one_case(tmp_path: Path) -> None:
    found = surveyed(one_question(tmp_path), "http.server_error", "http.status")
    first = next(case for case in found.cases if case.fault.kind == "http.server_error")
    assert "http.status status=500" in [fault_text(fault) for fault in first.stands_for]
    shown = [(case.fault.kind, str(case.fault.settings), case.call) for case in found.cases]
    assert len(shown) == len(set(shown))


def test_what_no_case_reaches_is_said_with_its_reason(tmp_path: Path) -> None:
    found = surveyed(one_question(tmp_path), "approvals.late", "model.cut_in_key", "tools.fails")
    whys = {one.kind: one.why for one in found.not_reached}
    assert whys["approvals.late"] == "the run makes no call of the seam approval"
    assert "tools.fails" not in whys
    assert {case.fault.kind for case in found.cases} >= {"model.cut_in_key", "tools.fails"}
    silent = msgspec.structs.replace(
        one_question(tmp_path), script=(Turn(say="It rains."),), tools={}
    )
    assert surveyed(silent, "model.cut_in_key").not_reached[0].why == CHANGES_NOTHING


def test_a_probe_changes_nothing(tmp_path: Path) -> None:
    """The run with probes makes the calls of the run without them."""
    scenario = one_question(tmp_path)
    found = surveyed(scenario, "model.*", "tools.*", "gateway.*")
    plain = run(scenario, CAREFUL, capture="fd").history
    said = [e.key for e in plain.events if isinstance(e, Answered)]
    kept = {seam: count for seam, count in found.run.calls.items() if seam != "store"}
    assert sum(kept.values()) == len(said)


def test_an_agent_that_the_scenario_kills_is_surveyed_too(tmp_path: Path) -> None:
    """Its lives are processes of their own, so the probes tell by a file."""
    killed = msgspec.structs.replace(
        one_question(tmp_path), faults=(FaultSpec(kind="persistence.killed_after_effect"),)
    )
    found = surveyed(killed, "http.server_error")
    assert found.run.calls["model"] >= 2
    assert {case.call for case in found.cases} >= {"main/model#1", "main/model#2"}


def test_a_scenario_that_the_agent_cannot_be_asked_is_not_swept(tmp_path: Path) -> None:
    lost = lost_survey(SurveyTask(target=CAREFUL, scenario=one_question(tmp_path), faults=("*",)))
    assert lost.run.why
    assert lost.cases == ()
