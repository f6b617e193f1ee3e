"""Sets of faults, drawn from all that the harness has; new ones are in as soon as they exist.

Each layer has one number, so a set holds at most one fault of a layer, and the shrinker takes each
away by itself. A layer is hit as often as it has faults: every fault is as likely as every other
one. What each fault may be told is read off its settings: the value that it has by default, and
simple others that its type allows, one setting at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import groupby
from typing import Any, Literal, get_args, get_origin

import msgspec

from harness import faults
from harness.campaign.choose import Choose, pick, sometimes
from harness.core.arming import seam_of
from harness.core.messages import Json
from harness.core.scenario import FaultSpec, Times, When
from harness.faults import Fault

WHEN: tuple[int | tuple[int, ...] | When, ...] = (
    *(1, 2, 3, 1, 2, 4, 5, 7),
    (1, 3),
    When(after=1),
    When(p=0.3),
)
"""On which of the calls it strikes."""

OFTEN: tuple[tuple[Times | Literal["once"], Literal["ok", "same", "escalate"]], ...] = (
    ("once", "ok"),
    ("once", "ok"),
    (2, "ok"),
    (3, "ok"),
    ("forever", "ok"),
    ("once", "same"),
    ("once", "escalate"),
)
"""How often, and what comes then."""

TAMED: dict[str, dict[str, Json]] = {
    "gateway.attachment_too_large": {"characters": 50_000},
    "model.huge_text": {"size_bytes": 20_000},
    "persistence.large_session": {"rows": 50, "size_bytes": 100},
    "tools.huge": {"size_bytes": 20_000},
    "tools.image_too_big": {"size_bytes": 20_000},
    "tools.many_parts": {"count": 200},
    "transport.informational_storm": {"answers": 10},
}
"""Faults whose usual size takes long to make: what they are told first, and what also will do."""

TOLD: dict[str, tuple[dict[str, Json], ...]] = {
    "clock.overloaded_session": ({"session": "side"},),
    "http.status": tuple(
        {"status": status} for status in (400, 401, 402, 403, 404, 408, 409, 413, 429, 500, 503)
    ),
    "http.retry_after": tuple({"retry_after": s} for s in (0, 20.0, 3600.0, "soon", "-1", "nan")),
    "model.spawns_itself": ({"tool": "ping"},),
    "model.unknown_tool": ({"name": "Ping"},),
    "tools.fails": ({"message": ""}, {"message": "not found"}),
}
"""Settings that no type tells, by the kind of the fault."""

HINDERING = ("gateway.", "persistence.")
"""Layers that may keep a message from the agent, the agent from asking the model, or an answer from
the user. They strike a few times only: for ever, no agent could do anything about it."""

HIDING = ("context.", "http.", "model.", "sse.", "transport.")
"""Layers that put something else in the place of an answer: of a refusal, too, of which the agent
then cannot know, or which tells of another window."""

NEED_A_WORD = (
    "gateway.session_key_collides",
    "persistence.second_agent",
    "persistence.second_writer",
    "tools.interrupts",
    "tools.raises_base",
)
"""Faults of which a scenario has to say what it expects: by a history alone, what they do looks as
if the agent had done it, or they end the agent with an exception that it should not catch."""

LONG_S = 600
"""What takes ten minutes and more never escalates: the fifth time it would take a day."""

UNREAD = ("transport.content_length_too_large",)
"""Faults behind the last event of a stream: whoever stops reading there, as the openai SDK does,
cannot meet them."""

_EVERYWHERE = ("clock.", "gateway.")
"""Layers that may strike away from home. The seams of a Python target beside the model are plain
calls: there is no status to answer, and no connection to break."""


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
        number = sometimes(choose, len(layer), max(1, round(whole / mean) - len(layer)))
        if number is not None:
            drawn.append(fault_of(choose, layer[number]))
    return tuple(drawn)


def met(struck: Sequence[FaultSpec], wire: str, stream: bool) -> tuple[FaultSpec, ...]:
    """The faults that a client of this wire can meet."""
    stops_early = stream and wire.startswith("openai")
    return tuple(spec for spec in struck if not (stops_early and spec.kind in UNREAD))


def fault_of(choose: Choose, fault: Fault) -> FaultSpec:
    """One fault with its knobs: where, when, how often, and what it is told."""
    often, then = pick(choose, OFTEN[:3] if fault.kind.startswith(HINDERING) else OFTEN)
    on, when = pick(choose, places(fault)), pick(choose, WHEN)
    settings = pick(choose, variations(fault.kind))
    return FaultSpec(
        kind=fault.kind,
        on=on,
        when=when,
        often=often,
        then="ok" if _lasts({**fault.defaults, **settings}) else then,
        must_fire=False,
        settings=settings,
    )


def _lasts(settings: Mapping[str, Json]) -> bool:
    """Whether a fault lasts so long that one which doubles it is over in no agent's time."""
    seconds = (value for name, value in settings.items() if name.endswith("_s"))
    return any(isinstance(value, int | float) and value >= LONG_S for value in seconds)


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


def places(fault: Fault) -> tuple[str, ...]:
    """Where a fault may strike in a Python target: mostly where it is at home."""
    return _places(fault.kind)


@cache
def _places(kind: str) -> tuple[str, ...]:
    fault = faults.by_kind(kind)
    home = fault.on or fault.seams[0]
    elsewhere = fault.seams if kind.startswith(_EVERYWHERE) and fault.stage == "value" else ()
    others = [seam for seam in elsewhere if seam not in (seam_of(home), "tool")]
    return (*(home,) * 6, *others, *(["compact"] if home == "model" else []))


@cache
def variations(kind: str) -> tuple[dict[str, Json], ...]:
    """What a fault may be told, its usual settings first."""
    fault, usual = faults.by_kind(kind), TAMED.get(kind, {})
    if usual:
        return (usual,)
    settings = fault.settings
    read = (
        {name: value}
        for name, default in fault.defaults.items()
        for value in _others(settings[name], default)
    )
    return ({}, *TOLD.get(kind, ()), *read)


def _others(type: Any, default: Any) -> Iterator[Json]:
    """Other values of a setting."""
    if get_origin(type) is Literal:
        yield from (value for value in get_args(type) if value != default)
    elif default in (True, False) and isinstance(default, bool):
        yield not default
    elif isinstance(default, int | float):
        for value in (default * 4, default // 4, 0, 1):
            if value != default and _fits(value, type):
                yield value


def _fits(value: Json, type: Any) -> bool:
    try:
        msgspec.convert(value, type)
    except msgspec.ValidationError:
        return False
    return True
