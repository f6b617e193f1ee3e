"""Armed faults: when a fault fires, how often, and what comes after.

The knobs are the same for all faults. `when` is a call number, a list of them, `{after: N}` (a
number, or a call's key), or a probability `{p: X}`; `often` is `once`, a number or `forever`;
`then` says what happens to later calls: `ok` leaves them alone, `same` and `escalate` go on
(escalate: harder each time, by the `firing` number that the fault is given). Draws go by the
call's key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from harness.core.calls import Call
from harness.core.draws import Draws
from harness.core.history import History
from harness.core.past import Past
from harness.core.plans import Plan
from harness.core.ports import FaultFunction, Moment
from harness.core.scenario import FaultSpec, When
from harness.core.script import FOREVER

Stage = Literal["value", "bytes"]

ON = ("model", "tool", "main", "compact", "aux", "inbox", "outbox")
"""What a fault's `on` may name, beside `tool:NAME`."""


class ArmedFault:
    """A fault function with its knobs; counts how often it changed a plan."""

    def __init__(self, spec: FaultSpec, function: FaultFunction, stage: Stage) -> None:
        self.spec, self.stage = spec, stage
        self.function = function
        self._seam, _, self._tool = spec.on.partition(":")
        self._when = msgspec.convert(spec.when, type=int | tuple[int, ...] | When)
        self._limit = _limit(spec)
        self.fired = 0

    @property
    def silent(self) -> bool:
        """Whether the fault was owed and never fired."""
        return self.spec.must_fire and not self.fired

    def is_due(self, call: Call, past: Past, draws: Draws) -> bool:
        """Whether the fault has a say in this call; in all others it leaves the plan as it is."""
        return self.fired < self._limit and self._hits(call, past, draws)

    def bend(self, call: Call, past: Past, draws: Draws, plan: Plan) -> Plan:
        """The plan as this fault leaves it."""
        if not self.is_due(call, past, draws):
            return plan
        firing = self.fired + 1 if self.spec.then == "escalate" else 1
        bent = self.function(Moment(call, past, draws, firing), plan, **self.spec.settings)
        if bent != plan:
            self.fired += 1
        return bent

    def _hits(self, call: Call, past: Past, draws: Draws) -> bool:
        """Whether the call is one that `on` and `when` name; repeats follow the first one."""
        ordinal = self._ordinal(call, past)
        if not ordinal:
            return False
        match self._when:
            case int(first):
                return ordinal >= first if self._limit > 1 else ordinal == first
            case tuple(numbers):
                return ordinal in numbers
            case When(p=float(p)):
                return draws.random("fault", self.spec.kind, call.key).random() < p
            case When(after=str(key)):
                return key in past.answered
            case When(after=int(number)):
                return ordinal > number
        return False

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
        return len(spec.when) if isinstance(spec.when, (list, tuple)) else 1
    return spec.often


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
            if bent is not plan and bent != plan:
                changed.append(fault.spec.kind)
            plan = bent
    return plan, tuple(changed)
