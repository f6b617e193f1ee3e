"""The knobs of a fault as tables: where it strikes, when, how often, and what it is told.

All of them are one number, so that the shrinker takes a fault away with a single one. What a fault
may be told is read off its settings: the value that it has by default, and simple others that its
type allows, one setting at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin

import msgspec

from harness import faults
from harness.core.scenario.scenario import FaultSpec, Times, When
from harness.core.transition.arming import seam_of
from harness.core.values.messages import Json
from harness.faults import Fault

_T = TypeVar("_T")

WHEN: tuple[int | tuple[int, ...] | When, ...] = (
    *(1, 2, 3, 1, 2, 4, 5, 7),
    (1, 3),
    When(after=1),
    When(p=0.3),
)
"""On which of the calls it strikes."""

Then: TypeAlias = Literal["ok", "same", "escalate"]

OFTEN: tuple[tuple[Times | Literal["once"], Then], ...] = (
    ("once", "ok"),
    ("once", "ok"),
    (2, "ok"),
    (3, "ok"),
    ("forever", "ok"),
    ("once", "same"),
    ("once", "escalate"),
)
"""How often, and what comes then."""

BRIEFLY: tuple[tuple[Times | Literal["once"], Then], ...] = (
    *(("once", "ok"),) * 2,
    *((2, "ok"), (3, "ok")),
)
"""The same for layers that hinder, and not on: the agent is ended three times at most, and a
channel fails twice."""

STUBBORN: tuple[tuple[Times | Literal["once"], Then], ...] = (*BRIEFLY, (4, "ok"), (6, "ok"))
"""The same where a store refuses the rows or the reply of a turn: longer than an agent tries."""

KNOBS = 1 << 16
"""In how many ways a fault may strike, at least: the rows of the tables multiplied."""

TAMED: dict[str, dict[str, Json]] = {
    "gateway.attachment_too_large": {"characters": 50_000},
    "model.huge_text": {"size_bytes": 20_000},
    "model.parallel_calls": {"count": 20},
    "persistence.large_session": {"rows": 50, "size_bytes": 100},
    "tools.huge": {"size_bytes": 20_000},
    "tools.image_too_big": {"size_bytes": 20_000},
    "tools.many_parts": {"count": 200},
    "transport.informational_storm": {"answers": 10},
}
"""Faults that take long at their usual size, or more than a run allows at another: what will do."""

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

LONG_S = 600
"""What takes ten minutes and more never escalates: the fifth time it would take a day."""

_PARTS = {"model": ("compact",), "store:write": ("store:append", "store:reply")}
"""Calls of a seam that an agent makes at a point of its own, where a fault shows something else."""

_EVERYWHERE = ("clock.", "gateway.")
"""Layers that may strike away from home. The seams of a Python target beside the model are plain
calls: there is no status to answer, and no connection to break."""


def told(fault: Fault, knobs: int) -> FaultSpec:
    """The fault of a number from 0 to KNOBS - 1; 0 leaves everything as it is by default."""
    knobs, on = _row(knobs, places(fault))
    knobs, (often, then) = _row(knobs, _often(fault, on))
    knobs, when = _row(knobs, WHEN)
    _, settings = _row(knobs, variations(fault.kind))
    return FaultSpec(
        kind=fault.kind,
        on=on,
        when=when,
        often=often,
        then="ok" if _lasts({**fault.defaults, **settings}) else then,
        must_fire=False,
        settings=settings,
    )


def _row(number: int, table: Sequence[_T]) -> tuple[int, _T]:
    """The row of a table that a number says, and what the number says beside it."""
    rest, place = divmod(number, len(table))
    return rest, table[place]


def _often(fault: Fault, on: str) -> Sequence[tuple[Times | Literal["once"], Then]]:
    if not fault.kind.startswith(HINDERING):
        return OFTEN
    if fault.kind.startswith("gateway.") and not fault.kills:
        return BRIEFLY[:3]
    return STUBBORN if on in _PARTS["store:write"] and not fault.kills else BRIEFLY


def _lasts(settings: Mapping[str, Json]) -> bool:
    """Whether a fault lasts so long that one which doubles it is over in no agent's time."""
    seconds = (value for name, value in settings.items() if name.endswith("_s"))
    return any(isinstance(value, int | float) and value >= LONG_S for value in seconds)


def places(fault: Fault) -> tuple[str, ...]:
    """Where a fault may strike in a Python target: mostly where it is at home."""
    return _places(fault.kind)


@cache
def _places(kind: str) -> tuple[str, ...]:
    fault = faults.by_kind(kind)
    home = fault.on or fault.seams[0]
    elsewhere = fault.seams if kind.startswith(_EVERYWHERE) and fault.stage == "value" else ()
    others = [seam for seam in elsewhere if seam not in (seam_of(home), "tool")]
    parts = _PARTS.get(home, ())
    return (*(home,) * (3 * len(parts) or 6), *others, *parts)


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
