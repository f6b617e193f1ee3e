"""Calm scenarios: of these alone an answer is expected, and each piece of trouble ends the calm."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from harness.agent import agent
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    ToolScript,
    Turn,
)
from harness.fuzz.completion_oracle import PASSING, TOO_LONG, is_benign
from harness.fuzz.scenario_grammar import benign_scenario
from harness.fuzz.script_grammar import LAST, TOOLS
from harness.runner import run
from harness.strategies import Options, drawn, scenarios


@given(scenarios(faults=("*",)))
def test_of_calm_scenarios_alone_an_answer_is_expected(scenario: Scenario) -> None:
    if scenario.expect.outcome is None:
        assert scenario.expect == Scenario(name="").expect
        return
    assert scenario.expect.outcome == "completed"
    assert is_benign(scenario)
    assert {spec.kind for spec in scenario.faults} <= PASSING | TOO_LONG


@settings(max_examples=40)
@given(drawn(lambda choose: benign_scenario(choose, Options(faults=("*",)))))
def test_the_reference_agent_answers_in_calm_scenarios(scenario: Scenario) -> None:
    assert run(scenario, agent).verdict.findings == ()


TWICE: tuple[Turn, ...] = (Turn(use="ping"), Turn(use="ping"), LAST)

LESS: tuple[dict[str, Any], ...] = (
    {"type": "text"},
    {"type": "tool_use", "name": "ping"},
    {"type": "tool_use", "input": {}},
)
"""Blocks that have lost a field to shrinking."""

ASKED = SeedMessage(role="user", content="hello")

DISTURBED: tuple[dict[str, Any], ...] = (
    {"window_tokens": 400},
    {"inbox": (InboxItem(text=" "),)},
    {"inbox": (InboxItem(text="hello"), InboxItem(kind="cancel"))},
    {"faults": (FaultSpec(kind="http.overloaded", often=2),)},
    {"faults": (FaultSpec(kind="http.key_rotated"),)},
    {"faults": (FaultSpec(kind="http.too_large"),)},
    {"session": Session(messages=(ASKED,))},
    {"script": (Turn(say=""), LAST)},
    {"script": (Turn(say="hello", stop="max_tokens"), LAST)},
    {"script": (Turn(use="no_such_tool"), LAST)},
    {"script": (Turn(use="look_up"), LAST)},
    {"script": (Turn(use="ping"), *TWICE)},
    {"script": TWICE[:2]},
    *({"script": (Turn(blocks=(block,)), LAST)} for block in LESS),
    {
        "session": Session(
            messages=(ASKED, SeedMessage(role="assistant", content=({"type": "text"},)))
        )
    },
)
"""What takes the calm out of a scenario, a piece at a time."""


@pytest.mark.parametrize("disturbed", DISTURBED, ids=str)
def test_each_piece_of_trouble_takes_the_calm_away(disturbed: dict[str, Any]) -> None:
    tools = {name: ToolScript(input_schema=schema) for name, schema in TOOLS.items()}
    calm = Scenario(name="calm", inbox=(InboxItem(text="hello"),), tools=tools, script=TWICE)
    assert is_benign(calm)
    assert not is_benign(msgspec.structs.replace(calm, **disturbed))
