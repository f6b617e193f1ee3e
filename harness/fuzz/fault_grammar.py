"""Sets of faults, drawn from all that the harness and the loaded plug-ins have.

Each layer or plug-in has one number for the fault and its variant, so it adds at most one fault.
All faults are equally likely, but those that end the agent come more often. Settings come from the
signature: defaults, or one setting changed to a simple value of its type; and from what the fault
says of itself in `DRAWN`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import groupby
from random import Random
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin

import msgspec

from harness import faults
from harness.core.scenario.scenario import FaultSpec, Times, When
from harness.core.transition.arming import seam_of
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.faults import Fault
from harness.fuzz.choice_sequence import Choices, Choose, sometimes
from harness.parts.loading import Plugin, loaded
from harness.providers import by_name

_T = TypeVar("_T")

WHEN: tuple[int | tuple[int, ...] | When, ...] = (
    *(1, 2, 3, 1, 2, 4, 5, 7),
    (1, 3),
    When(after=1),
    When(p=0.3),
)
"""On which of the calls it strikes."""

COMPACT_WHEN = (*WHEN[:5], *WHEN[8:])
"""The same for compactions: a run has three at most."""

KILL_WHEN = (*WHEN[:3], *(When(after="outbox#1"),) * 3, *WHEN[3:])
"""The same for faults that end the agent: often after the first answer to a user. What a restart
forgets or repeats needs that."""

Then: TypeAlias = Literal["ok", "same", "escalate"]
Repetition: TypeAlias = tuple[Times | Literal["once"], Then]

REPETITIONS: tuple[Repetition, ...] = (
    *(("once", "ok"), ("once", "ok"), (2, "ok"), (3, "ok"), ("forever", "ok")),
    *(("once", "same"), ("once", "escalate")),
)
"""How often, and what comes then."""

BRIEF_REPETITIONS: tuple[Repetition, ...] = REPETITIONS[:4]
"""The same for layers that block: the agent is ended three times at most, a channel fails twice."""

STORE_REPETITIONS: tuple[Repetition, ...] = (*BRIEF_REPETITIONS, (4, "ok"), (6, "ok"))
"""The same where a store refuses the rows or the reply of a turn: longer than an agent tries."""

VARIANTS = 1 << 16
"""In how many ways a fault may strike, at least: the rows of the tables multiplied."""

KILL_WEIGHT = 5
"""How often a fault that ends the agent is drawn, relative to another; half of them never fire."""

BLOCKING_LAYERS = ("approvals", "gateway", "persistence")
"""Layers that may keep a message from the agent, the agent from asking the model, or an answer from
the user. They strike a few times only: against one without end an agent could do nothing."""

LONG_S = 600
"""A fault that takes ten minutes or more never escalates: the fifth time it would take a day."""

_PARTS = {"model": ("compact",), "store:write": ("store:append", "store:reply")}
"""Calls of a seam that an agent makes at its own point, where a fault shows something else."""

_EVERYWHERE = ("clock", "gateway")
"""Layers that may strike away from home. The seams of a Python target beside the model are plain
calls: there is no status to answer, and no connection to break."""


def variant_of(fault: Fault, number: int) -> FaultSpec:
    """The variant of a number from 0 to VARIANTS - 1; 0 leaves everything as it is by default."""
    number, on = _row(number, places(fault))
    number, (often, then) = _row(number, _repetitions(fault, on))
    number, when = _row(number, _moments(fault, on))
    _, settings = _row(number, variations(fault.kind))
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


def _moments(fault: Fault, on: str) -> Sequence[int | tuple[int, ...] | When]:
    if fault.kills:
        return KILL_WHEN
    return COMPACT_WHEN if on == "compact" else WHEN


def _repetitions(fault: Fault, on: str) -> Sequence[Repetition]:
    if fault.layer not in BLOCKING_LAYERS:
        return REPETITIONS
    if fault.layer == "gateway" and not fault.kills:
        return BRIEF_REPETITIONS[:3]
    is_refused = on in _PARTS["store:write"] and not fault.kills
    return STORE_REPETITIONS if is_refused else BRIEF_REPETITIONS


def _lasts(settings: Mapping[str, Json]) -> bool:
    """Whether a fault lasts so long that one which doubles it is over in no agent's time."""
    seconds = (value for name, value in settings.items() if name.endswith("_s"))
    return any(isinstance(value, int | float) and value >= LONG_S for value in seconds)


def places(fault: Fault) -> tuple[str, ...]:
    """Where a fault may strike in a Python target: mostly where it is at home."""
    home = fault.on or fault.seams[0]
    elsewhere = fault.seams if fault.layer in _EVERYWHERE and fault.stage == "value" else ()
    others = [seam for seam in elsewhere if seam not in (seam_of(home), "tool")]
    parts = _PARTS.get(home, ())
    return (*(home,) * (3 * len(parts) or 6), *others, *parts)


def variations(kind: str) -> tuple[dict[str, Json], ...]:
    """The settings that a fault may have, the usual ones first."""
    return _variations(kind, loaded())


@cache
def _variations(kind: str, plugins: tuple[Plugin, ...]) -> tuple[dict[str, Json], ...]:
    fault = faults.by_kind(kind)
    given = tuple(map(dict, fault.drawn))
    if {} not in given:
        return given
    settings = fault.settings
    read = (
        {name: value}
        for name, default in fault.defaults.items()
        for value in _others(settings[name], default)
    )
    return (*given, *read)


def _others(type: Any, default: Any) -> Iterator[Json]:
    """Other values of a setting."""
    if get_origin(type) is Literal:
        yield from (value for value in get_args(type) if value != default)
    elif default in (True, False) and isinstance(default, bool):
        yield not default
    elif isinstance(default, int | float):
        for value in (default * 4, default // 4, 0, 1):
            if value != default and fits(value, type):
                yield value


def fits(value: object, type: Any) -> bool:
    """Whether a value can be given to a setting of a type."""
    try:
        msgspec.convert(value, type)
    except msgspec.ValidationError:
        return False
    return True


ANSWER_LAYERS = ("context", "http", "model", "sse", "transport")
"""Layers that put something else in place of an answer: of a refusal, too, of which the agent then
cannot know, or which tells of another window."""


class FaultRange(msgspec.Struct, frozen=True, kw_only=True):
    """The faults that may be drawn: their kinds match one of the patterns, `mean` on average.

    `tools`: the scenario has some. `kills`: also those that end the agent. `approvals`:
    also those of questions to the user.
    """

    patterns: tuple[str, ...] = ("*",)
    wire: str = "anthropic"
    tools: bool = True
    kills: bool = True
    mean: float = 1.0
    approvals: bool = False

    @property
    def layers(self) -> tuple[tuple[Fault, ...], ...]:
        """The faults by layer; at most one of each is drawn."""
        return _layers(self.patterns, self.wire, self.tools, self.kills, self.approvals, loaded())

    @property
    def nothings(self) -> list[int]:
        """How many answers of each layer draw no fault."""
        whole = sum(map(len, self.layers))
        return [max(1, round(whole / self.mean) - len(layer)) * VARIANTS for layer in self.layers]


def faults_of(choose: Choose, among: FaultRange) -> tuple[FaultSpec, ...]:
    """A set of faults."""
    drawn = []
    for layer, nothing in zip(among.layers, among.nothings, strict=True):
        number = sometimes(choose, len(layer) * VARIANTS, nothing)
        if number is not None:
            variant, place = divmod(number, len(layer))
            drawn.append(variant_of(layer[place], variant))
    return tuple(drawn)


def with_fault_due(answers: Choices, turn: int, seed: int, among: FaultRange) -> Choices:
    """Answers to `faults_of` with the fault of this turn in place of one that they draw, if any.

    Of as many turns as there are kinds, each kind has one, in an order of the seed.
    """
    layers, nothings = among.layers, among.nothings
    drawn = [n for n, nothing in enumerate(nothings) if answers[n] >= nothing]
    if not drawn:
        return answers
    kinds = sorted({fault.kind for layer in layers for fault in layer})
    kind = Random(f"{seed} faults {turn // len(kinds)}").sample(kinds, len(kinds))[
        turn % len(kinds)
    ]
    home, place = next(
        (n, place)
        for n, layer in enumerate(layers)
        for place, fault in enumerate(layer)
        if fault.kind == kind
    )
    variant = Random(f"{seed} fault {turn}").randrange(VARIANTS)
    changed = [*answers]
    changed[home if home in drawn else drawn[turn % len(drawn)]] = 0
    changed[home] = nothings[home] + variant * len(layers[home]) + place
    return tuple(changed)


def reachable(struck: Sequence[FaultSpec], wire: str, stream: bool) -> tuple[FaultSpec, ...]:
    """The faults that the SDK of this provider can meet: one stops reading at the last event."""
    stops_early = stream and not by_name(wire).traits().reads_past_the_end
    return tuple(s for s in struck if not (stops_early and faults.by_kind(s.kind).after_end))


def fault_of(choose: Choose, fault: Fault) -> FaultSpec:
    """One fault in any of its variants: where, when, how often, and with which settings."""
    return variant_of(fault, choose(VARIANTS))


def layer_of(spec: FaultSpec) -> str:
    """The layer of a fault in a scenario; a plug-in's fault declares it."""
    return faults.by_kind(spec.kind).layer


def check_names(patterns: Sequence[str]) -> None:
    """Raise InputError for a pattern that names no fault, on any wire, or none that is drawn."""
    for pattern in patterns:
        named = [f for f in faults.faults().values() if fnmatchcase(f.kind, pattern)]
        if not named:
            raise InputError("no fault has such a name; `harness list faults` lists them", pattern)
        if not any(fault.drawn for fault in named):
            raise InputError("only a scenario can place this fault: name it there", pattern)


def matching(
    patterns: Sequence[str], wire: str = "anthropic", tools: bool = True, kills: bool = True
) -> tuple[Fault, ...]:
    """The faults whose kind matches a pattern (`http.*`), and that can strike in such a run."""
    return tuple(
        fault
        for fault in faults.faults().values()
        if any(fnmatchcase(fault.kind, pattern) for pattern in patterns)
        and fault.drawn
        and (not fault.wires or wire in fault.wires)
        and (tools or fault.seams != ("tool",))
        and (kills or not fault.kills)
    )


@cache
def _layers(
    patterns: tuple[str, ...],
    wire: str,
    tools: bool,
    kills: bool,
    approvals: bool,
    plugins: tuple[Plugin, ...],
) -> tuple[tuple[Fault, ...], ...]:
    matched = matching(patterns, wire, tools, kills)
    found = [fault for fault in matched if approvals or fault.seams != ("approval",)]
    weighed = (fault for fault in found for _ in range(KILL_WEIGHT if fault.kills else 1))
    return tuple(tuple(of) for _, of in groupby(weighed, lambda f: f.kind.partition(".")[0]))
