"""Sets of faults, drawn from all that the harness has; new ones are in as soon as they exist.

Each layer has one number, which says the fault and all its knobs. So a set holds at most one fault
of a layer, and the shrinker takes each away with that number. A layer is hit as often as it has
faults: every fault is as likely as every other one. `knobs` are the tables of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import groupby

from harness import faults
from harness.core.scenario.scenario import FaultSpec
from harness.faults import Fault
from harness.fuzz.choose import Choose, sometimes
from harness.fuzz.knobs import KNOBS, told

HIDING = ("context.", "http.", "model.", "sse.", "transport.")
"""Layers that put something else in the place of an answer: of a refusal, too, of which the agent
then cannot know, or which tells of another window."""

NEED_A_WORD = (
    "gateway.session_key_collides",
    "persistence.second_agent",
    "tools.interrupts",
    "tools.raises_base",
)
"""Faults of which a scenario has to say what it expects: by a history alone, what they do looks as
if the agent had done it, or they end the agent with an exception that it should not catch."""

UNREAD = (
    "sse.error_event_after_the_end",
    "transport.content_length_too_large",
    "transport.extra_bytes_in_chunk",
)
"""Faults behind the last event of a stream: whoever stops reading there, as the openai SDK does,
cannot meet them."""


def faults_of(
    choose: Choose,
    patterns: Sequence[str] = ("*",),
    *,
    wire: str = "anthropic",
    tools: bool = True,
    kills: bool = True,
    mean: float = 1.0,
) -> tuple[FaultSpec, ...]:
    """A set of the faults whose kinds match one of the patterns, `mean` of them on average.

    `tools`: the scenario has some. `kills`: also those that end the agent.
    """
    layers = _layers(tuple(patterns), wire, tools, kills)
    whole = sum(map(len, layers))
    drawn = []
    for layer in layers:
        nothing = max(1, round(whole / mean) - len(layer))
        number = sometimes(choose, len(layer) * KNOBS, nothing * KNOBS)
        if number is not None:
            knobs, place = divmod(number, len(layer))
            drawn.append(told(layer[place], knobs))
    return tuple(drawn)


def met(struck: Sequence[FaultSpec], wire: str, stream: bool) -> tuple[FaultSpec, ...]:
    """The faults that a client of this wire can meet."""
    stops_early = stream and wire.startswith("openai")
    return tuple(spec for spec in struck if not (stops_early and spec.kind in UNREAD))


def fault_of(choose: Choose, fault: Fault) -> FaultSpec:
    """One fault with its knobs: where, when, how often, and what it is told."""
    return told(fault, choose(KNOBS))


def matching(
    patterns: Sequence[str], wire: str = "anthropic", tools: bool = True, kills: bool = True
) -> tuple[Fault, ...]:
    """The faults whose kind matches a pattern (`http.*`), and that can strike in such a run."""
    return tuple(
        fault
        for fault in faults.faults().values()
        if any(fnmatchcase(fault.kind, pattern) for pattern in patterns)
        and fault.kind not in NEED_A_WORD
        and (not fault.wires or wire in fault.wires)
        and (tools or fault.seams != ("tool",))
        and (kills or not fault.kills)
    )


@cache
def _layers(
    patterns: tuple[str, ...], wire: str, tools: bool, kills: bool
) -> tuple[tuple[Fault, ...], ...]:
    found = matching(patterns, wire, tools, kills)
    return tuple(tuple(of) for _, of in groupby(found, lambda f: f.kind.partition(".")[0]))
