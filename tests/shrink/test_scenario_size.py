"""The measure: every kind of reduction lowers it, and it never falls below nothing."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given

from harness.core.scenario.scenario import (
    CassetteScript,
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
    When,
)
from harness.shrink.scenario_size import ScenarioSize, extent, plain, size_of
from harness.strategies import scenarios

BASE = Scenario(
    name="base",
    inbox=(InboxItem(text="hello you"),),
    tools={"look": ToolScript(script=(ToolTurn(ok="a", times=3),))},
    script=(Turn(use="look", times=4), Turn(blocks=({"type": "text", "text": "done"},))),
    faults=(FaultSpec(kind="http.status", when=3, often=2, then="same"),),
)


def _fault(**knobs: object) -> Scenario:
    return msgspec.structs.replace(BASE, faults=(msgspec.structs.replace(BASE.faults[0], **knobs),))


def _turn(**keys: object) -> Scenario:
    turn = msgspec.structs.replace(BASE.script[0], **keys)
    return msgspec.structs.replace(BASE, script=(turn, *BASE.script[1:]))


LARGER = {
    "a turn more": msgspec.structs.replace(BASE, script=(*BASE.script, Turn(say="x"))),
    "played oftener": _turn(times=5),
    "for ever": _turn(times="forever"),
    "a block more": _turn(say="hm"),
    "a key more": _turn(optional=True),
    "a longer text": msgspec.structs.replace(BASE, inbox=(InboxItem(text="hello you two"),)),
    "a message more": msgspec.structs.replace(BASE, inbox=(*BASE.inbox, InboxItem(text="x"))),
    "a fault more": msgspec.structs.replace(BASE, faults=(*BASE.faults, FaultSpec(kind="x.y"))),
    "a later fault": _fault(when=4),
    "a fault on two calls": _fault(when=(3, 4)),
    "a fault oftener": _fault(often=3),
    "a fault for ever": _fault(often="forever"),
    "a fault that gets worse": _fault(then="escalate"),
    "a condition": _fault(when=When(after="model#3")),
    "another wire": msgspec.structs.replace(BASE, wire="openai-chat"),
    "a window": msgspec.structs.replace(BASE, window_tokens=300),
}


@pytest.mark.parametrize("what", LARGER)
def test_what_is_more_measures_more(what: str) -> None:
    assert size_of(LARGER[what]) > size_of(BASE)


def test_a_fault_once_is_less_than_two_times() -> None:
    assert size_of(_fault(often="once")) < size_of(_fault(often=1)) < size_of(BASE)


@given(scenarios())
def test_no_part_of_the_measure_is_below_zero(scenario: Scenario) -> None:
    assert isinstance(size_of(scenario), ScenarioSize)
    assert min(size_of(scenario)) >= 0


@given(scenarios())
def test_the_plain_form_is_the_scenario(scenario: Scenario) -> None:
    assert msgspec.convert(plain(scenario), type=Scenario) == scenario


def test_the_extent_counts_what_one_reads() -> None:
    assert extent(BASE)._asdict() == {
        "turns": 2, "faults": 1, "inbox": 1, "session": 0, "tools": 1
    }  # fmt: skip
    assert extent(Scenario(name="tape", script=CassetteScript(cassette="a.yaml"))).turns == 0
