"""Hypothesis strategies and state machines for tests of your own agent or store. Public.

    from harness.strategies import scenarios, session_machine

    @given(scenarios(faults=("http.*", "sse.*")))
    def test_my_agent(scenario):
        assert harness.run(scenario, my_agent).verdict.findings == ()

    SessionTest = session_machine(my_agent).TestCase

Each strategy draws the numbers that index the tables of a grammar, so an example is cheap and
shrinks to the simplest rows. A strategy holds no state, so every feature of Hypothesis works with
it. Faults of loaded plug-ins are drawn too. `scenario_of` is for your own driver, and `shrink` for
your own predicate; `FindingOracle` is the predicate of `harness shrink`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TypeVar

from hypothesis import strategies as st

from harness.core.scenario.scenario import (
    DEFAULT_WIRE,
    FaultSpec,
    InboxItem,
    Limits,
    Scenario,
    SeedMessage,
    ToolTurn,
    Turn,
)
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.fuzz.choice_sequence import Choose
from harness.fuzz.fault_grammar import FaultRange, fault_of, faults_of, matching
from harness.fuzz.inbox_grammar import inbox_of
from harness.fuzz.machines.session_machine import session_machine
from harness.fuzz.machines.store_machine import store_machine
from harness.fuzz.scenario_grammar import LIMITS, Options, scenario_of
from harness.fuzz.script_grammar import TOOLS, outcomes_of, script_of
from harness.fuzz.session_grammar import session_of
from harness.shrink import FindingOracle, ShrinkStep, Shrunk, shrink

__all__ = [
    "FindingOracle",
    "Options",
    "ShrinkStep",
    "Shrunk",
    "chunkings",
    "conversations",
    "crash_points",
    "damaged_conversations",
    "drawn",
    "fault_sets",
    "inbound_traffic",
    "model_scripts",
    "scenario_of",
    "scenarios",
    "session_machine",
    "shrink",
    "store_machine",
    "tool_outcomes",
]
_T = TypeVar("_T")


@st.composite
def drawn(draw: st.DrawFn, make: Callable[[Choose], _T]) -> _T:
    """The strategy for the values of a grammar; `make` makes its choices with the `Choose`."""
    return make(lambda n: draw(_below(n)) if n > 1 else 0)


@cache
def _below(n: int) -> st.SearchStrategy[int]:
    return st.integers(0, n - 1)


def conversations(*, max_rounds: int = 3) -> st.SearchStrategy[tuple[SeedMessage, ...]]:
    """Stored sessions that every dialect accepts after the next user message.

    A round is a user message and all that the assistant does for it. `max_rounds` >= 0.
    """
    return drawn(lambda choose: session_of(choose, max_rounds, damaged=False))


def damaged_conversations(*, max_rounds: int = 3) -> st.SearchStrategy[tuple[SeedMessage, ...]]:
    """Stored sessions as they occur in practice: valid, or with some of the mutations."""
    return drawn(lambda choose: session_of(choose, max_rounds))


def model_scripts(
    *, max_turns: int = 8, wire: str = DEFAULT_WIRE
) -> st.SearchStrategy[tuple[Turn, ...]]:
    """The turns of a scripted model: optional turns, one that repeats forever, and a summary.

    The calls are to the tools `ping` and `look_up`, and to one that does not exist.
    """
    return drawn(lambda choose: script_of(choose, max_turns, wire))


def tool_outcomes() -> st.SearchStrategy[tuple[ToolTurn, ...]]:
    """The answers of one tool, call by call; the last of up to three outcomes repeats forever."""
    return drawn(outcomes_of)


def chunkings(data: bytes, *, max_cuts: int = 8) -> st.SearchStrategy[tuple[bytes, ...]]:
    """The bytes of a stream in pieces, cut anywhere; whole if it is simple. No piece is empty."""
    if len(data) < 2:
        return st.just((data,) if data else ())

    def cut(places: set[int]) -> tuple[bytes, ...]:
        return tuple(data[start:end] for start, end in pairwise([0, *sorted(places), len(data)]))

    return st.sets(st.integers(1, len(data) - 1), max_size=max_cuts).map(cut)


def inbound_traffic(
    *, max_messages: int = 5, bursts: bool = True, cancels: bool = True
) -> st.SearchStrategy[tuple[InboxItem, ...]]:
    """One or more messages in two sessions, with blank and repeated ones.

    `bursts`: some arrive while a turn is open. `cancels`: some cancel a turn.
    """
    return drawn(lambda choose: inbox_of(choose, max_messages, bursts=bursts, cancels=cancels))


def fault_sets(
    faults: Sequence[str] = ("*",),
    *,
    wire: str = DEFAULT_WIRE,
    tools: bool = True,
    kills: bool = True,
    mean: float = 1.0,
) -> st.SearchStrategy[tuple[FaultSpec, ...]]:
    """Sets of faults, at most one of a layer and `mean` on average, of the kinds that match.

    A fault of the set need not fire. Raises InputError for a pattern that matches nothing.
    """
    _check(faults, wire, tools, kills)
    among = FaultRange(patterns=tuple(faults), wire=wire, tools=tools, kills=kills, mean=mean)
    return drawn(lambda choose: faults_of(choose, among))


def crash_points(
    faults: Sequence[str] = ("*",), *, wire: str = DEFAULT_WIRE, tools: bool = True
) -> st.SearchStrategy[FaultSpec]:
    """Faults that end an agent with SIGKILL and restart it on its stored state, one at a time.

    Raises InputError for patterns without such a fault.
    """
    found = tuple(fault for fault in matching(faults, wire, tools) if fault.kills)
    if not found:
        raise InputError(f"no fault that ends the agent matches {', '.join(faults)}", "faults")
    return drawn(lambda choose: fault_of(choose, found[choose(len(found))]))


def scenarios(
    *,
    faults: Sequence[str] = (),
    wire: str = DEFAULT_WIRE,
    tools: Mapping[str, Mapping[str, Json]] = TOOLS,
    max_rounds: int = 3,
    max_messages: int = 5,
    max_turns: int = 8,
    damaged: bool = True,
    bursts: bool = True,
    cancels: bool = True,
    pushed: bool = False,
    approvals: bool = False,
    windows: bool = True,
    spirals: bool = True,
    odd: bool = True,
    mean_faults: float = 1.0,
    kills: bool = True,
    limits: Limits = LIMITS,
) -> st.SearchStrategy[Scenario]:
    """Whole scenarios within `grammar.Options`; without faults if none are named.

    Raises InputError for a pattern of faults that matches nothing.
    """
    _check(faults, wire, bool(tools), kills)
    options = Options(
        wire=wire, tools=tools, max_rounds=max_rounds, max_messages=max_messages,
        max_turns=max_turns, damaged=damaged, bursts=bursts, cancels=cancels, pushed=pushed,
        approvals=approvals, windows=windows, spirals=spirals, odd=odd, faults=tuple(faults),
        mean_faults=mean_faults, kills=kills, limits=limits,
    )  # fmt: skip
    return drawn(lambda choose: scenario_of(choose, options))


def _check(patterns: Sequence[str], wire: str, tools: bool, kills: bool) -> None:
    for pattern in patterns:
        if not matching((pattern,), wire, tools, kills):
            what = f"no fault that can strike here matches {pattern!r}; see `harness list faults`"
            raise InputError(what, "faults")
