"""Histories of generated runs, on which a check must keep its laws.

Each number names one run by the reference or the careless agent, cached in the process.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random

import msgspec
from hypothesis import strategies as st

from harness.contracts.careless_agent import HABITS, careless
from harness.core.history.history import History, decode, encode
from harness.core.scenario.scenario import Limits, Scenario
from harness.fuzz.choice_sequence import ChoiceSequence
from harness.fuzz.scenario_grammar import Options, scenario_of
from harness.runner import run
from harness.targets.output_capture import captured
from harness.targets.spec import of_callable, resolve

RUNS = 48
"""The number of runs to draw from."""

_OPTIONS = Options(faults=("*",), kills=False, limits=Limits(model_calls=40, real_s=20.0))


def histories() -> st.SearchStrategy[History]:
    """Histories of whole runs; each draw is a new object, because a wrong check may change it."""
    return st.integers(0, RUNS - 1).map(lambda number: decode(played(number)))


@lru_cache(maxsize=RUNS)
def played(number: int) -> bytes:
    """The lines of the history of the run with this number."""
    scenario = scenario_of(ChoiceSequence((), Random(number)), _OPTIONS)
    with captured("fd"):
        return encode(_run(scenario, number).events)


def _run(scenario: Scenario, number: int) -> History:
    if number % 3 == 0:
        return run(scenario, resolve("reference")).history
    scenario = msgspec.structs.replace(scenario, stream=False)
    habits = Random(number).randrange(1 << len(HABITS))
    return run(scenario, of_callable(careless), options={"habits": habits}).history


def prefix(history: History, part: float) -> History:
    """The first part of a history, from empty (0) to complete (1)."""
    lines = encode(history.events).splitlines(keepends=True)
    return decode(b"".join(lines[: round(part * len(lines))]))
