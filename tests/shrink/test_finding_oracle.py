"""Whether the finding is still there: the same one, of the agent, in a run without doubt.

Code, place and cause are what two runs of one mistake have in common, and others have not.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings

from harness.checks import judge
from harness.core.history.history import History
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.verdict import Cause, CrashPlace, Finding, FindingKey, Verdict
from harness.runner import run
from harness.runner.run import Run
from harness.shrink import FindingOracle, shrink
from harness.shrink.finding_oracle import NotShown, chosen, is_same
from harness.shrink.scenario_size import turns_of
from harness.strategies import scenarios
from harness.targets.spec import of_callable
from harness.verdicts.result import finding_key, summarize
from tests.shrink.agents import crashes_on_oslo, has_no_guards, right


def _found(code: str, **cause: str) -> Finding:
    return Finding(code, "words that differ", cause=Cause(**cause))


SAME = (
    _found("no_progress_stop.same_call", tool="look"),
    Finding("no_progress_stop.same_call", "x", (1, 2), cause=Cause("look")),
)
OTHER = [
    (
        _found("effect_once.again", tool="pay", fault="http.529"),
        _found("effect_once.again", tool="pay"),
    ),
    (SAME[0], msgspec.structs.replace(SAME[0], seam="tool")),
    (SAME[0], msgspec.structs.replace(SAME[0], session="side")),
    (
        _found("no_progress_stop.same_call", tool="look"),
        _found("no_progress_stop.cycle", tool="look"),
    ),
    (
        _found("no_progress_stop.same_call", tool="look"),
        _found("no_progress_stop.same_call", tool="read"),
    ),
    (_found("target.crashed", error="ValueError"), _found("target.crashed", error="KeyError")),
    (_found("expect.outcome", subject="limit"), _found("expect.outcome", subject="none")),
]


def test_the_same_mistake_is_known_by_its_key_and_not_by_its_words_and_numbers() -> None:
    assert is_same(*SAME)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_mistake_is_another(one: Finding, other: Finding) -> None:
    assert not is_same(one, other)


def _crash(line: int, function: str, error: str) -> Finding:
    history = History()
    history.started(run="a", scenario="a", world="simulate")
    place = CrashPlace("a.py", line, function, error)
    history.ended(how="crashed", text=f"{error}: no number: {line}", place=place)
    (found,) = (f for f in judge(history).findings if f.check == "target")
    return found


def test_a_crash_in_the_user_s_code_is_known_by_its_function_and_error_and_not_by_its_line() -> (
    None
):
    assert is_same(_crash(1, "f", "KeyError"), _crash(9, "f", "KeyError"))
    assert not is_same(_crash(1, "f", "E"), _crash(1, "g", "E"))
    assert not is_same(_crash(1, "f", "E"), _crash(1, "f", "F"))


TOWNS = Scenario(
    name="towns",
    inbox=(InboxItem(text="I live in Rome."), InboxItem(text="I live in Oslo, not in Bergen.")),
    script=(Turn(say="Good."), Turn(say="Nice.")),
)
LOOP = Scenario(
    name="loop",
    inbox=(InboxItem(text="Read it."),),
    tools={"read": ToolScript(script=(ToolTurn(error="no file", times="forever"),))},
    script=(
        Turn(use="read", input={"path": "a"}, times=20),
        Turn(say="I cannot read it.", when="ended"),
    ),
)


def _said(scenario: Scenario, text: str) -> Scenario:
    return msgspec.structs.replace(scenario, inbox=(InboxItem(text=text),))


def test_a_crash_of_another_kind_is_another_finding() -> None:
    keeping = FindingOracle(TOWNS, of_callable(crashes_on_oslo), "target.crashed")
    cause, at = keeping.finding.cause, keeping.finding.place
    assert at is not None
    assert (cause.error, cause.source) == ("ValueError", f"{at.file}:crashes_on_oslo")
    one = msgspec.structs.replace(TOWNS, script=turns_of(TOWNS)[:1])
    assert keeping(_said(one, "Oslo"))
    assert not keeping(_said(one, "Bergen"))
    assert not keeping(_said(one, "Rome"))


CARELESS = of_callable(has_no_guards)


@pytest.mark.real
@settings(max_examples=4, derandomize=True, deadline=None)
@given(
    scenarios(
        faults=("http.status", "tools.fails"),
        wire="openai-chat",
        damaged=False,
        cancels=False,
        windows=False,
    )
)
def test_each_kept_step_has_the_whole_key(scenario: Scenario) -> None:
    """A finding with another cause, place or wire is not kept, for each that a run has."""
    played = run(scenario, CARELESS)
    for finding in played.verdict.failing[:1]:
        keeps = FindingOracle(scenario, CARELESS, finding.code)
        wanted = _key(played, keeps.finding)
        small = shrink(scenario, keeps, tries_max=30).scenario
        again = run(small, CARELESS)
        assert wanted in {_key(again, each) for each in again.verdict.findings}


def _key(played: Run, finding: Finding) -> FindingKey:
    return finding_key(summarize(played, None), finding)


def test_a_finding_that_becomes_one_of_the_scenario_is_not_kept() -> None:
    """After four calls the script is over, and no agent could end the turn well."""
    keeping = FindingOracle(LOOP, of_callable(has_no_guards), "no_progress_stop.same_failure")
    assert keeping(_times(LOOP, 6))
    four = run(_times(LOOP, 4), has_no_guards)
    assert keeping.is_shown(four)
    assert not keeping(four.scenario)


def _times(scenario: Scenario, times: int) -> Scenario:
    first, *rest = turns_of(scenario)
    script = (msgspec.structs.replace(first, times=times), *rest)
    return msgspec.structs.replace(scenario, script=script)


def test_the_reference_agent_passes_what_is_left() -> None:
    small = shrink(LOOP, FindingOracle(LOOP, of_callable(has_no_guards), "no_progress_stop"))
    assert run(small.scenario, right).verdict.verdict == "pass"
    assert run(small.scenario, has_no_guards).verdict.verdict == "fail"
    assert len(turns_of(small.scenario)) <= 2


def test_a_run_that_cannot_be_made_keeps_nothing() -> None:
    keeping = FindingOracle(LOOP, of_callable(has_no_guards), "no_progress_stop")
    assert not keeping(msgspec.structs.replace(LOOP, dialect="no-such"))


def test_a_run_in_doubt_keeps_nothing() -> None:
    keeping = FindingOracle(LOOP, of_callable(has_no_guards), "no_progress_stop")
    in_doubt = msgspec.structs.replace(LOOP, checks={"no_such_check": {}})
    assert run(in_doubt, has_no_guards).verdict.doubts
    assert not keeping(in_doubt)


FINDINGS = (
    Finding("run.unplayed_turn", "a"),
    Finding("x.y", "x", class_="advice"),
    Finding("a.b", "b", class_="defect"),
    Finding("c.d", "c", class_="weakness"),
)
VERDICT = Verdict("fail", findings=FINDINGS)


def test_which_finding_is_meant() -> None:
    assert chosen(VERDICT, "c.d", "n").code == "c.d"
    assert chosen(VERDICT, "c", "n").code == "c.d"
    assert chosen(VERDICT, "run", "n").code == "run.unplayed_turn"
    assert chosen(VERDICT, "", "n").code == "a.b"
    assert chosen(Verdict("fail", findings=FINDINGS[:1]), "", "n").code == "run.unplayed_turn"


def test_advice_is_meant_only_by_its_name() -> None:
    advised = Verdict("pass", findings=FINDINGS[1:2])
    assert chosen(advised, "x.y", "n").code == "x.y"
    with pytest.raises(NotShown, match=r"no finding fails the run; found is x\.y, which --keep"):
        chosen(advised, "", "n")
    assert chosen(Verdict("fail", findings=FINDINGS[1:2], fail_on="advice"), "", "n").check == "x"


def test_the_one_that_is_alike_is_meant_then_the_worst_that_follows_from_no_other() -> None:
    one, other = (Finding("a.b", "x", cause=Cause(tool=tool)) for tool in ("x", "y"))
    alike = Verdict("fail", findings=(one, other))
    assert chosen(alike, "a.b", "n", Finding("a.b", "z", cause=Cause("y", "http.529"))) is other
    assert chosen(alike, "a.b", "n") is one
    after = msgspec.structs.replace(FINDINGS[2], follows="c.d")
    assert chosen(Verdict("fail", findings=(FINDINGS[3], after)), "", "n").code == "c.d"


def test_none_is_said_with_those_that_there_are() -> None:
    with pytest.raises(
        NotShown, match=r"n: no finding 'a\.c', but run.*, a\.b, c\.d; did you mean"
    ):
        chosen(VERDICT, "a.c", "n")
    with pytest.raises(NotShown, match="no finding"):
        FindingOracle(LOOP, of_callable(right), "no_progress_stop")
