"""A scenario that goes another way at one answer is as it was up to there."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.naive_agent import agent as naive
from harness import Fault, InboxItem, Scenario, ToolScript, ToolTurn, Turn, run
from harness.core.history.events import Answered, Called
from harness.core.history.history import History
from harness.core.scenario.scenario import Expect, RequestText
from harness.core.values.errors import InputError
from harness.diagnosis.forked_scenario import answer_at, forked
from harness.diagnosis.redraws import open_ended

LOOK = Turn(use="look", input={}, times=4)
SCENARIO = Scenario(
    name="looks",
    policy="open",
    tools={"look": ToolScript(script=(ToolTurn(ok="dark", times=3), ToolTurn(ok="light")))},
    inbox=(InboxItem(text="Look until it is there."), InboxItem(id="b", text="And now?")),
    script=(LOOK, Turn(say="It is light."), Turn(say="It is.")),
)


def _played(scenario: Scenario = SCENARIO) -> History:
    return run(scenario, naive).history


def _other(key: str, scenario: Scenario = SCENARIO, **given: Any) -> Scenario:
    history = _played(scenario)
    return forked(scenario, history, answer_at(history, key), given)


def _answers(history: History, seam: str) -> list[str]:
    """What the world said, in order: the text of an answer, the calls of a model as their names."""
    said = []
    for event in history.events:
        if isinstance(event, Answered) and event.seam == seam:
            blocks = history.messages[event.blocks] if event.blocks else None
            value = event.value if isinstance(event.value, dict) else {}
            tools = ", ".join(use.name for use in blocks.tool_uses) if blocks else ""
            said.append((tools or blocks.text) if blocks else str(value.get("content", "")))
    return said


def test_an_entry_is_divided_where_its_answer_was() -> None:
    script = _other("main/model#3", say="It is dark.").script
    assert script == (
        msgspec.structs.replace(LOOK, times=2),
        Turn(say="It is dark."),
        msgspec.structs.replace(LOOK, times=1),
        *SCENARIO.script[1:],  # type: ignore[index]
    )


@given(number=st.integers(1, 6))
def test_what_the_model_said_before_stays(number: int) -> None:
    before = _answers(_played(), "model")
    other = open_ended(_other(f"main/model#{number}", say="Enough."))
    after = _answers(_played(other), "model")
    assert after[: number - 1] == before[: number - 1]
    assert after[number - 1] == "Enough."


@given(number=st.integers(1, 4))
def test_what_a_tool_said_before_stays(number: int) -> None:
    before = _answers(_played(), "tool")
    after = _answers(_played(open_ended(_other(f"main/tool#{number}", ok="fog"))), "tool")
    assert after[: number - 1] == before[: number - 1]
    assert after[number - 1] == "fog"


def test_a_message_may_be_another_one() -> None:
    inbox = _other("main/inbox#1", text="Do nothing.").inbox
    assert [item.text for item in inbox] == ["Do nothing.", "And now?"]


def test_an_event_names_a_call_by_its_number_too() -> None:
    history = _played()
    call = next(e for e in history.events if isinstance(e, Called) and e.key == "main/model#3")
    assert answer_at(history, f"#{call.n}") == answer_at(history, "main/model#3")
    assert answer_at(history, f"{answer_at(history, 'main/model#3').n}").key == "main/model#3"


def test_a_turn_under_a_condition_stays_one() -> None:
    first = Turn(use="look", input={}, when=RequestText(has="until"))
    scenario = msgspec.structs.replace(SCENARIO, script=(first, *SCENARIO.script[1:]))  # type: ignore[index]
    assert _other("main/model#1", scenario, say="No.").script[0].when == first.when  # type: ignore[index]


def test_the_other_course_has_no_expectations() -> None:
    strict = msgspec.structs.replace(SCENARIO, expect=Expect(outcome="completed", fail_on="advice"))
    assert _other("main/model#1", strict, say="No.").expect == Expect(fail_on="advice")


FAULTY = msgspec.structs.replace(SCENARIO, faults=(Fault("http.invalid_request", when=2),))


@pytest.mark.parametrize(
    ("scenario", "key", "given", "said"),
    [
        (SCENARIO, "main/model#99", {"say": "x"}, "no answer 'main/model#99' in this run"),
        (SCENARIO, "main/model#1", {"sy": "x"}, "not an answer of main/model#1"),
        (SCENARIO, "main/tool#1", {"say": "x"}, "not an answer of main/tool#1"),
        (SCENARIO, "main/inbox#1", {"say": "x"}, "not a message"),
        (SCENARIO, "main/inbox#3", {"text": "x"}, "no message of the scenario"),
        (FAULTY, "main/model#2", {"say": "x"}, "the fault http.invalid_request gave this answer"),
    ],
)
def test_what_no_entry_says_is_refused(
    scenario: Scenario, key: str, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        _other(key, scenario, **given)
