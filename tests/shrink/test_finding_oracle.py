"""Whether the finding is still there: the same one, of the agent, in a run without doubt.

Its shape is what two runs of one mistake have in common, and others have not.
"""

from __future__ import annotations

import msgspec
import pytest

from harness.core.history.history import History
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.calls import ModelRequest, ToolRequest
from harness.core.values.verdict import CrashPlace, Finding, Verdict
from harness.runner import run
from harness.shrink import FindingOracle, shrink
from harness.shrink.finding_oracle import NotShown, chosen, shape
from harness.shrink.scenario_size import turns_of
from harness.targets.spec import of_callable
from tests.shrink.agents import crashes_on_oslo, has_no_guards, right


def _history() -> History:
    history = History()
    history.called(key="model#1", seam="model", request=ModelRequest("m", ()))
    history.called(key="tool:a", seam="tool", request=ToolRequest("a", "look"))
    history.answered("tool:a", "tool")
    history.ended(how="crashed")
    return history


def _shape(code: str, message: str, *events: int) -> str:
    return shape(Finding(code, message, events), _history())


def test_a_shape_is_the_code_and_the_seams() -> None:
    assert _shape("no_progress_stop.cycle", "a and b run", 3, 2, 1) == (
        "no_progress_stop.cycle (model, tool)"
    )
    assert _shape("run.unplayed_turn", "never played: turn 1", 4) == "run.unplayed_turn (ended)"
    assert _shape("valid_request.V4", "no event") == "valid_request.V4 ()"


SAME = [
    (
        "no_progress_stop.same_call",
        "look runs again with the same input and result, 3 times",
        "read_file runs again with the same input and result, 5 times",
    ),
    (
        "target.crashed",
        "the target crashed: ValueError: no number: 'a' (in parse)",
        "the target crashed: ValueError: no number: 'bcd' (in parse)",
    ),
    (
        "expect.calls",
        "the tool look is called 7 times, expected at most 4",
        "the tool read is called 5 times, expected at most 3",
    ),
    (
        "expect.waits",
        "the waits are 1 s, 2 s, expected 4 s",
        "the waits are 3 s, expected 4 s, 8 s",
    ),
]

OTHER = [
    (
        "target.crashed",
        "the target crashed: ValueError: no number (in parse)",
        "the target crashed: KeyError: no number (in parse)",
    ),
    (
        "expect.calls",
        "the model is called 7 times, expected at most 4",
        "the model is called 2 times, expected at least 4",
    ),
    (
        "expect.outcome",
        "the outcome is limit, expected completed",
        "the outcome is none, expected completed",
    ),
]


@pytest.mark.parametrize(("code", "one", "other"), SAME)
def test_the_same_mistake_has_one_shape(code: str, one: str, other: str) -> None:
    assert _shape(code, one, 1) == _shape(code, other, 1)


def test_a_crash_in_the_user_s_code_is_known_by_its_function_and_error_and_not_by_its_line() -> (
    None
):
    def crash(line: int, function: str, error: str) -> str:
        place = CrashPlace("a.py", line, function, error)
        return shape(Finding("target.crashed", "crashed", (1,), place=place), _history())

    assert crash(1, "f", "KeyError") == crash(9, "f", "KeyError")
    assert len({crash(1, *of) for of in (("f", "E"), ("g", "E"), ("f", "F"))}) == 3


@pytest.mark.parametrize(("code", "one", "other"), OTHER)
def test_another_mistake_has_another(code: str, one: str, other: str) -> None:
    assert _shape(code, one, 1) != _shape(code, other, 1)


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
    assert keeping.shape == "target.crashed: ValueError in crashes_on_oslo (ended)"
    one = msgspec.structs.replace(TOWNS, script=turns_of(TOWNS)[:1])
    assert keeping(_said(one, "Oslo"))
    assert not keeping(_said(one, "Bergen"))
    assert not keeping(_said(one, "Rome"))


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


def test_none_is_said_with_those_that_there_are() -> None:
    with pytest.raises(
        NotShown, match=r"n: no finding 'a\.c', but run.*, a\.b, c\.d; did you mean"
    ):
        chosen(VERDICT, "a.c", "n")
    with pytest.raises(NotShown, match="nothing to keep"):
        FindingOracle(LOOP, of_callable(right), "no_progress_stop")
