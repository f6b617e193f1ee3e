from __future__ import annotations

import math
import pickle

import msgspec
import pytest
from hypothesis import given

from harness.core.scenario.scenario import InboxItem, Limits, Scenario, Turn
from harness.strategies import scenarios
from tests.scenarios.all_runs import all_runs


def sent(scenario: Scenario) -> Scenario:
    """The scenario as a worker gets it."""
    return pickle.loads(pickle.dumps(scenario))


@given(scenarios())
def test_a_worker_says_of_a_drawn_scenario_what_is_said_here(scenario: Scenario) -> None:
    there = sent(scenario)
    assert there == scenario
    assert msgspec.to_builtins(there) == msgspec.to_builtins(scenario)


def test_a_worker_says_of_every_file_what_is_said_here() -> None:
    for scenario in all_runs():
        there = sent(scenario)
        assert there == scenario
        assert msgspec.to_builtins(there) == msgspec.to_builtins(scenario)


@pytest.mark.parametrize(
    "value",
    [Turn(), Turn(say="x", purpose="compact"), Limits(virtual_s=1e4), InboxItem(id="m", text="x")],
)
def test_what_is_stated_stays_stated(value: Turn | Limits | InboxItem) -> None:
    assert pickle.loads(pickle.dumps(value)) == value


def test_what_a_file_says_of_a_default_stays_said() -> None:
    text = b'{"kind": "message", "id": "m", "text": "x"}'
    item = msgspec.json.decode(text, type=InboxItem)
    there = pickle.loads(pickle.dumps(item))
    assert msgspec.to_builtins(there) == msgspec.to_builtins(item)


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf, 1.1e9, 1e300, 10**400])
@pytest.mark.parametrize("name", ["real_s", "virtual_s"])
def test_no_file_states_a_time_that_a_clock_cannot_hold(seconds: float, name: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({name: seconds}, type=Limits)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"text": "x", "when": {"ms": 10**40}}, type=InboxItem)
