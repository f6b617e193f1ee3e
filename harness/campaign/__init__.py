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
    from harness.campaign.grammar import Options as Options
    from harness.campaign.grammar import scenario_of as scenario_of
    from harness.campaign.machines.session import session_machine as session_machine
    from harness.campaign.machines.store import store_machine as store_machine
    from harness.campaign.strategies import chunkings as chunkings
    from harness.campaign.strategies import conversations as conversations
    from harness.campaign.strategies import crash_points as crash_points
    from harness.campaign.strategies import damaged_conversations as damaged_conversations
    from harness.campaign.strategies import fault_sets as fault_sets
    from harness.campaign.strategies import inbound_traffic as inbound_traffic
    from harness.campaign.strategies import model_scripts as model_scripts
    from harness.campaign.strategies import scenarios as scenarios
    from harness.campaign.strategies import tool_outcomes as tool_outcomes

_HOMES = {
    "Options": "harness.campaign.grammar",
    "chunkings": "harness.campaign.strategies",
    "conversations": "harness.campaign.strategies",
    "crash_points": "harness.campaign.strategies",
    "damaged_conversations": "harness.campaign.strategies",
    "fault_sets": "harness.campaign.strategies",
    "inbound_traffic": "harness.campaign.strategies",
    "model_scripts": "harness.campaign.strategies",
    "scenario_of": "harness.campaign.grammar",
    "scenarios": "harness.campaign.strategies",
    "session_machine": "harness.campaign.machines.session",
    "store_machine": "harness.campaign.machines.store",
    "tool_outcomes": "harness.campaign.strategies",
}


def __getattr__(name: str) -> object:
    """Import a public name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
