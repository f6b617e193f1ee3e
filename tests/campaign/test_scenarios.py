"""Generated scenarios: they owe nothing, and what comes again is the same message."""

from __future__ import annotations

from hypothesis import given

from harness.agent import agent
from harness.campaign.scenarios import scenarios
from harness.campaign.words import BLANKS, WORDS
from harness.core.history import encode
from harness.core.scenario import CassetteScript, InboxItem, Scenario
from harness.runner import run


@given(scenarios())
def test_no_turn_is_owed_and_the_model_always_has_an_answer(scenario: Scenario) -> None:
    assert not isinstance(scenario.script, CassetteScript)
    assert all(turn.optional for turn in scenario.script)
    for purpose in ("main", "compact"):
        assert [t.times for t in scenario.script if t.purpose == purpose][-1] == "forever"
    assert all(tool.script[-1].times == "forever" for tool in scenario.tools.values())


@given(scenarios())
def test_a_message_that_comes_again_is_the_same(scenario: Scenario) -> None:
    first: dict[str, InboxItem] = {}
    for item in scenario.inbox:
        assert first.setdefault(item.id, item) == item
        assert item.text in WORDS + BLANKS
    assert scenario.inbox[0].text.strip()


@given(scenarios())
def test_a_scenario_gives_the_same_history_each_time(scenario: Scenario) -> None:
    first, second = (run(scenario, agent).history.events for _ in range(2))
    assert encode(first) == encode(second)
