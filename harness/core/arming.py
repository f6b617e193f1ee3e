"""Armed faults: when a fault fires, how often, and what comes after.

The knobs are the same for all faults. `when` is a call number, a list of them, `{after: N}` or a
probability `{p: X}`; `often` is `once`, a number or `forever`; `then` says what happens to later
calls: `ok` leaves them alone, `same` and `escalate` go on (escalate: harder each time, by the
`firing` number that the fault is given). Draws go by the call's key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from harness.core.calls import Call
from harness.core.draws import Draws
from harness.core.history import History
from harness.core.messages import Json
from harness.core.past import Past
from harness.core.plans import Plan
from harness.core.ports import FaultFunction, Moment
from harness.core.scenario import FaultSpec
from harness.core.script import FOREVER

Stage = Literal["value", "bytes"]


class ArmedFault:
    """A fault function with its knobs; counts how often it changed a plan."""

    def __init__(self, spec: FaultSpec, function: FaultFunction, stage: Stage) -> None:
        self.spec, self.stage = spec, stage
        self._function = function
        self._seam, _, self._tool = spec.on.partition(":")
        self._limit = _limit(spec)
        self.fired = 0

    @property
    def silent(self) -> bool:
        """Whether the fault was owed and never fired."""
        return self.spec.must_fire and not self.fired

    def bend(self, call: Call, past: Past, draws: Draws, plan: Plan) -> Plan:
        """The plan as this fault leaves it."""
        if self.fired >= self._limit or not self._hits(call, past, draws):
            return plan
        moment = Moment(call, past, draws, self.fired + 1)
        bent = self._function(moment, plan, **self.spec.settings)
        if bent != plan:
            self.fired += 1
        return bent

    def _hits(self, call: Call, past: Past, draws: Draws) -> bool:
        ordinal = self._ordinal(call, past)
        kind = self.spec.kind
        return ordinal > 0 and _matches(self.spec.when, ordinal, call.key, kind, draws, self._limit)

    def _ordinal(self, call: Call, past: Past) -> int:
        """The number of the call among those that `on` names; 0 when it is none of them."""
        if self._tool:
            mine = call.seam == "tool" and getattr(call.request, "name", "") == self._tool
            return past.tool_calls[self._tool] if mine else 0
        if self._seam in ("main", "compact", "aux"):
            mine = call.seam == "model" and call.purpose == self._seam
            return past.purpose_calls[self._seam] if mine else 0
        return past.calls[call.seam] if call.seam == self._seam else 0


def _limit(spec: FaultSpec) -> int:
    """How many times the fault may fire."""
    if spec.then in ("same", "escalate") or spec.often == "forever":
        return FOREVER
    if spec.often == "once":
        return len(spec.when) if isinstance(spec.when, list) else 1
    return spec.often


def _matches(when: Json, ordinal: int, key: str, kind: str, draws: Draws, limit: int) -> bool:
    """Whether the call number is one that `when` names; repeats follow the first one."""
    if isinstance(when, list):
        return ordinal in when
    if isinstance(when, dict):
        knobs = msgspec.convert(when, type=Knobs)
        if knobs.p is not None:
            return draws.random("fault", kind, key).random() < knobs.p
        return ordinal > (knobs.after or 0)
    first = int(when)
    return ordinal >= first if limit > 1 else ordinal == first


def bend_all(
    faults: Sequence[ArmedFault],
    stage: Stage,
    call: Call,
    history: History,
    draws: Draws,
    plan: Plan,
) -> tuple[Plan, tuple[str, ...]]:
    """The plan after all faults of a stage, left to right, and which of them changed it."""
    changed: list[str] = []
    for fault in faults:
        if fault.stage == stage:
            bent = fault.bend(call, history.past, draws, plan)
            if bent != plan:
                changed.append(fault.spec.kind)
            plan = bent
    return plan, tuple(changed)


class Knobs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The forms of `when` that are mappings: exactly one of the two."""

    after: int | None = None
    p: float | None = None
