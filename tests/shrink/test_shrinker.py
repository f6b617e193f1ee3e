"""Shrinking as a whole: minimal, deterministic, ending, and every candidate a file that loads.

No candidate is odder than the scenario was.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.messages import canonical
from harness.files import load_scenarios
from harness.files.scenario_text import scenario_yaml
from harness.shrink import ShrinkStep, shrink
from harness.shrink.scenario_size import size_of
from harness.shrink.shrinker import REDUCTIONS, blanks, is_allowed
from harness.strategies import scenarios
from tests.shrink.drive import candidates

FAULTY = scenarios(faults=("http.*", "tools.*"))

Keeps = Callable[[Scenario], bool]


def _says(word: str) -> Keeps:
    """A turn of the script, a message or a stored one has the word."""

    def keeps(scenario: Scenario) -> bool:
        parts = (scenario.script, scenario.inbox, scenario.session)
        return word in canonical(msgspec.to_builtins(parts))

    return keeps


def _strikes(scenario: Scenario) -> bool:
    return len(scenario.faults) > 0


KEEPS: dict[str, Keeps] = {
    "always": lambda scenario: True,
    "a word": _says("hello"),
    "a call": _says('"tool_use"'),
    "a fault": _strikes,
    "a word and a fault": lambda scenario: _says("hello")(scenario) and _strikes(scenario),
    "three messages": lambda scenario: len(scenario.inbox) >= 3,
    "an odd number of stored messages": lambda scenario: len(scenario.session.messages) % 2 == 1,
}


@given(FAULTY, st.sampled_from(sorted(KEEPS)))
def test_the_result_is_minimal_and_the_same_again(scenario: Scenario, name: str) -> None:
    keeps = KEEPS[name]
    if not keeps(scenario):
        return
    found = shrink(scenario, keeps)
    assert keeps(found.scenario)
    assert found.minimal
    assert found == shrink(scenario, keeps)
    for reduction in REDUCTIONS:
        for smaller in candidates(reduction(found.scenario)):
            if size_of(smaller) < size_of(found.scenario) and is_allowed(smaller, found.scenario):
                assert not keeps(smaller), reduction


@given(FAULTY, st.sampled_from(sorted(KEEPS)))
def test_each_step_lowers_the_measure_and_loads_from_its_file(
    tmp_path_factory: pytest.TempPathFactory, scenario: Scenario, name: str
) -> None:
    folder = tmp_path_factory.mktemp("steps")
    sizes = [size_of(scenario)]
    asked: list[bytes] = []

    def seen(step: ShrinkStep) -> None:
        if step.is_kept:
            sizes.append(size_of(step.best))
            assert _loaded(step.best, folder) == step.best

    def keeps(candidate: Scenario) -> bool:
        asked.append(msgspec.json.encode(candidate))
        return KEEPS[name](candidate)

    if not KEEPS[name](scenario):
        return
    found = shrink(scenario, keeps, seen)
    assert all(later < earlier for earlier, later in pairwise(sizes))
    assert (len(sizes) - 1, len(asked)) == (found.kept, found.tried)
    assert len(set(asked)) == len(asked)


@given(scenarios(faults=("http.*", "tools.*"), wire="openai-chat"), st.booleans())
def test_no_step_is_of_another_run(scenario: Scenario, is_kept: bool) -> None:
    """A wire that goes leaves the form of a finding and takes its cause: the agent speaks no
    other."""
    for reduction in REDUCTIONS:
        for smaller in candidates(reduction(scenario), lambda _: is_kept):
            assert _run_of(smaller) == _run_of(scenario), reduction


def _run_of(scenario: Scenario) -> tuple[str, str, bool]:
    return scenario.run_name, scenario.wire, scenario.stream


def _loaded(scenario: Scenario, folder: Path) -> Scenario:
    file = folder / f"{scenario.name}.yaml"
    file.write_text(scenario_yaml(scenario), "utf-8")
    (loaded,) = load_scenarios(file)
    return msgspec.structs.replace(loaded, folder=scenario.folder, variant=scenario.variant)


LONG = Scenario(
    name="long",
    inbox=(InboxItem(id="m1", text="Please look at all of these files for me"), InboxItem(id="m2")),
    tools={
        "read": ToolScript(
            description="Read a file",
            script=tuple(ToolTurn(ok=f"file {n}") for n in range(300)),
        ),
        "idle": ToolScript(),
    },
    script=tuple(Turn(use="read", input={"path": f"{n}.py"}) for n in range(300)),
    faults=tuple(FaultSpec(kind="http.status", when=n) for n in range(1, 6)),
    window_tokens=100_000,
    dialect="strict",
    stream=True,
)


def test_a_long_scenario_becomes_what_is_asked_for_in_few_tries() -> None:
    """One call with its own outcome, out of 300, and the fault of the fourth call."""

    def keeps(scenario: Scenario) -> bool:
        text = canonical(msgspec.to_builtins(scenario))
        return '"217.py"' in text and '"file 217"' in text and '"when":4' in text

    found = shrink(LONG, keeps)
    assert found.scenario == Scenario(
        name="long",
        inbox=(),
        tools={"read": ToolScript(script=(ToolTurn(ok="file 217"),))},
        script=(Turn(use="read", input={"path": "217.py"}),),
        faults=(FaultSpec(kind="http.status", when=4),),
        stream=True,
    )
    assert found.tried < 250


def test_the_search_ends_when_the_tries_are_spent() -> None:
    found = shrink(LONG, lambda scenario: len(scenario.faults) == 5, tries_max=10)
    assert (found.tried, found.minimal) == (10, False)
    assert len(found.scenario.faults) == 5


def test_what_is_raised_in_between_ends_the_search_with_the_best_so_far_told() -> None:
    told: list[ShrinkStep] = []

    def seen(step: ShrinkStep) -> None:
        told.append(step)
        if step.kept == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shrink(LONG, lambda scenario: True, seen)
    assert size_of(told[-1].best) < size_of(LONG)


USER = SeedMessage(role="user", content="Hello")
ASSISTANT = SeedMessage(role="assistant", content="Hi.")
GOOD = Scenario(
    name="good",
    session=Session(messages=(USER, ASSISTANT)),
    inbox=(InboxItem(text="And now?"), InboxItem(kind="cancel")),
    script=(Turn(say="Now."), Turn(use="look")),
)

BAD = {
    "an empty turn": {"script": (Turn(), *GOOD.script)},
    "a blank turn": {"script": (Turn(say=" "),)},
    "a message without a word": {"inbox": (InboxItem(),)},
    "an empty stored message": {
        "session": Session(messages=(USER, SeedMessage(role="assistant", content=())))
    },
    "a session that no longer alternates": {"session": Session(messages=(USER,))},
    "a fault that there is not": {"faults": (FaultSpec(kind="http.no_such"),)},
    "a fault on tools without a tool": {"faults": (FaultSpec(kind="tools.empty"),)},
}


@pytest.mark.parametrize("what", BAD)
def test_refused(what: str) -> None:
    candidate = msgspec.structs.replace(GOOD, **BAD[what])
    assert is_allowed(GOOD, GOOD)
    assert not is_allowed(candidate, GOOD)


def test_what_was_odd_before_may_stay_so() -> None:
    odd = msgspec.structs.replace(GOOD, script=(Turn(), Turn(say="x")))
    fewer = msgspec.structs.replace(odd, script=(Turn(),))
    assert (blanks(odd), blanks(fewer), blanks(GOOD)) == (1, 1, 0)
    assert is_allowed(fewer, odd)
    damaged = msgspec.structs.replace(GOOD, session=Session(messages=(ASSISTANT, USER, USER)))
    less = msgspec.structs.replace(GOOD, session=Session(messages=(USER, USER)))
    assert is_allowed(less, damaged)
