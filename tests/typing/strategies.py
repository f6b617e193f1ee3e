"""The strategies and machines as a user writes them: checked by `mypy --strict`, not run."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

from hypothesis import given
from hypothesis.strategies import SearchStrategy

from harness import Brief, Scenario
from harness.core.scenario.scenario import FaultSpec, InboxItem, SeedMessage, ToolTurn, Turn
from harness.stores.sqlite import SqliteStore
from harness.strategies import (
    Options,
    chunkings,
    conversations,
    crash_points,
    damaged_conversations,
    fault_sets,
    inbound_traffic,
    model_scripts,
    scenario_of,
    scenarios,
    session_machine,
    store_machine,
    tool_outcomes,
)

assert_type(scenarios(faults=("http.*",), wire="openai-chat"), SearchStrategy[Scenario])
assert_type(conversations(max_rounds=2), SearchStrategy[tuple[SeedMessage, ...]])
assert_type(damaged_conversations(), SearchStrategy[tuple[SeedMessage, ...]])
assert_type(model_scripts(max_turns=3), SearchStrategy[tuple[Turn, ...]])
assert_type(tool_outcomes(), SearchStrategy[tuple[ToolTurn, ...]])
assert_type(inbound_traffic(cancels=False), SearchStrategy[tuple[InboxItem, ...]])
assert_type(fault_sets(("tools.*",), mean=2), SearchStrategy[tuple[FaultSpec, ...]])
assert_type(crash_points(), SearchStrategy[FaultSpec])
assert_type(chunkings(b"data: {}"), SearchStrategy[tuple[bytes, ...]])
assert_type(scenario_of(lambda n: 0, Options(faults=("*",))), Scenario)


@given(scenarios())
def uses(scenario: Scenario) -> None:
    """A test of a user's."""
    assert_type(scenario.run_name, str)


def agent(brief: Brief) -> None:
    """An agent of a user's."""


def open_store(folder: Path) -> SqliteStore:
    """A store of a user's."""
    return SqliteStore(folder / "session.db")


SessionTest = session_machine(agent, options={"stream": True}).TestCase
StoreTest = store_machine(open_store).TestCase
