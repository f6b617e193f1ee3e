"""How small what is drawn becomes when Hypothesis shrinks it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st

from harness.core.scenario.scenario import InboxItem
from harness.fuzz.script_grammar import CALL, LAST, SUMMARY
from harness.strategies import (
    chunkings,
    conversations,
    damaged_conversations,
    model_scripts,
    scenarios,
    tool_outcomes,
)


def _find(strategy: st.SearchStrategy[Any], wanted: Callable[[Any], bool], seed: int = 0) -> Any:
    search = settings(
        max_examples=3000,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    return find(strategy, wanted, settings=search, random=random.Random(seed))


def test_shrunk_to_one_fault_of_many() -> None:
    many = scenarios(faults=("*",), mean_faults=3)
    # Hypothesis ends after 500 shrinks, and draws constants of the modules that are loaded: what it
    # finds from one seed depends on the tests before.
    tries = (
        _find(many, lambda s: any("tools." in f.kind for f in s.faults), seed) for seed in range(5)
    )
    found = next(made for made in tries if len(made.faults) == 1)
    (fault,) = found.faults
    assert (fault.when, fault.often, fault.then) == (1, "once", "ok")
    assert found.inbox == (InboxItem(id="m1", text="hello"),)
    assert found.session.messages == ()
    assert found.script == (CALL, LAST, SUMMARY), "a fault of tools waits for a call"


def test_shrunk_to_one_turn_of_many() -> None:
    found = _find(scenarios(), lambda s: any(t.stop == "refusal" for t in s.script))
    assert len(found.script) == 3
    assert found.script[0].times == 1


def test_shrunk_to_one_message_that_comes_again() -> None:
    found = _find(scenarios(), lambda s: len({i.id for i in s.inbox}) < len(s.inbox))
    assert [item.id for item in found.inbox] == ["m1", "m1"]


def test_shrunk_to_one_round_of_a_conversation() -> None:
    found = _find(conversations(), lambda s: any("redacted" in str(m.content) for m in s))
    assert len(found) == 6
    damaged = _find(damaged_conversations(), lambda s: any(m.content == () for m in s))
    assert len(damaged) <= 2


def test_shrunk_to_one_outcome_and_one_cut() -> None:
    assert len(_find(tool_outcomes(), lambda o: any(t.raises for t in o))) == 1
    assert len(_find(model_scripts(), lambda s: len(s) > 2)) == 3
    assert _find(chunkings(b"data: {}\n\n"), lambda c: len(c) > 1) == (b"d", b"ata: {}\n\n")
