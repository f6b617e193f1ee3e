"""Generated scenarios: what nobody thought of writing down.

`grammar` says what there is, as a function of a sequence of small numbers that index tables: that
is several times as fast as strategies of text and dictionaries, and a smaller number is a simpler
thing, so failures shrink well. `strategies` are its face for Hypothesis, and `session_machine` is
an agent, or a store, as a state machine.

The names below are public. Each is imported from its home when it is first used, for Hypothesis
costs more to import than most runs of the command line take.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.fuzz.grammar import Options as Options
    from harness.fuzz.grammar import scenario_of as scenario_of
    from harness.fuzz.machines.session import session_machine as session_machine
    from harness.fuzz.machines.store import store_machine as store_machine
    from harness.fuzz.strategies import chunkings as chunkings
    from harness.fuzz.strategies import conversations as conversations
    from harness.fuzz.strategies import crash_points as crash_points
    from harness.fuzz.strategies import damaged_conversations as damaged_conversations
    from harness.fuzz.strategies import fault_sets as fault_sets
    from harness.fuzz.strategies import inbound_traffic as inbound_traffic
    from harness.fuzz.strategies import model_scripts as model_scripts
    from harness.fuzz.strategies import scenarios as scenarios
    from harness.fuzz.strategies import tool_outcomes as tool_outcomes

_HOMES = {
    "Options": "harness.fuzz.grammar",
    "chunkings": "harness.fuzz.strategies",
    "conversations": "harness.fuzz.strategies",
    "crash_points": "harness.fuzz.strategies",
    "damaged_conversations": "harness.fuzz.strategies",
    "fault_sets": "harness.fuzz.strategies",
    "inbound_traffic": "harness.fuzz.strategies",
    "model_scripts": "harness.fuzz.strategies",
    "scenario_of": "harness.fuzz.grammar",
    "scenarios": "harness.fuzz.strategies",
    "session_machine": "harness.fuzz.machines.session",
    "store_machine": "harness.fuzz.machines.store",
    "tool_outcomes": "harness.fuzz.strategies",
}


def __getattr__(name: str) -> object:
    """Import a public name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
