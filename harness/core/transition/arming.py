"""Armed faults: when a fault fires, how often, and its effect on later calls.

`when` is a call number, a list of them, `{after: N}` (a number or a call's key) or `{p: X}`.
`often` is `once`, a number or `forever`. `then` sets the effect on later calls: `ok` has none,
`same` repeats, `escalate` is harder each `firing`. Random draws are keyed by the call. A fault of
one provider counts and hits the calls of that provider alone. Any other one hits each provider's,
in that provider's words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.scenario.scenario import FaultSpec, When
from harness.core.scenario.script import FOREVER
from harness.core.transition.ports import FaultFunction, Moment, Provider, ProviderTraits
from harness.core.values.calls import Call, InboxRequest, ModelRequest, StoreRequest, ToolRequest
from harness.core.values.draws import Draws
from harness.core.values.plans import ApiError, Plan
from harness.core.values.tool_names import ToolNames

Stage = Literal["value", "bytes"]

PURPOSES = ("main", "compact", "aux")

CHILD = "child"
"""The model calls of sub-agents, under any name of a session: so a child fails, dies or is slow."""

POLL = "inbox:poll"
"""The agent's poll for a cancel during a turn, which does not ask for a message."""

FILES = "store:file"
"""A write to the agent's own files: a seam beside the store's, with no calls. A look before each
call finds what has changed."""

STORE_CALLS = (
    *("open", "read", "write", "file"),
    *("pending", "load", "rows"),
    *("seed", "accept", "append", "begin", "reply", "delivered", "summarise"),
)
"""The store calls that a fault may select: opening, all reads, all writes, or one method."""

ON = (
    *("model", CHILD, "tool", "approval", *PURPOSES, "inbox", POLL, "outbox", "store", "provider"),
    *(f"store:{call}" for call in STORE_CALLS),
)
"""The values of a fault's `on`, beside `tool:NAME`."""


OWN, OTHER = "own", "other"
"""A fault's provider in place of a name: that of the run's wire, and each that is not."""


def spoken_on(spec: FaultSpec, wire: str) -> str:
    """The provider whose words and rules a fault has first, in a run on a wire."""
    return wire if spec.provider in ("", OWN, OTHER) else spec.provider


def seam_of(on: str) -> str:
    """The seam of an `on`: a purpose is on the model seam, as `child` is, `tool:NAME` on the tool
    seam, `store:CALL` on the store seam. `store:file` has a seam to itself."""
    if on == FILES:
        return "file"
    return "model" if on in (CHILD, *PURPOSES) else on.partition(":")[0]


class ArmedFault:
    """A fault function with its settings; counts how often it changed a plan.

    `layer` is set for a fault of a plug-in, whose kind does not name its layer. `wires` are the
    providers that have such a thing, empty for all. `traits` are those of the run's provider,
    `others` the further providers that the run calls, and `names` the agent's names of the tools;
    the transition sets them. A `gate` replaces `when`.
    """

    def __init__(
        self,
        spec: FaultSpec,
        function: FaultFunction,
        stage: Stage,
        wire: str = "",
        refusals: Mapping[str, ApiError] | None = None,
        layer: str = "",
        wires: Sequence[str] = (),
    ) -> None:
        self.spec, self.stage, self._wire, self.layer = spec, stage, wire, layer
        self._refusals, self.traits = refusals or {}, ProviderTraits()
        self.names, self._wires = ToolNames(), wires
        self.others: Mapping[str, Provider] = {}
        self._is_of_some = bool(spec.provider or spec.models)
        self._models = spec.models or "*"
        self._first_ms: int | None = None
        self.function = function
        on = spec.on or "model"
        self.seam = seam_of(on)
        self._of, _, self._part = on.partition(":")
        self._when = msgspec.convert(spec.when, type=int | tuple[int, ...] | When)
        self._limit = limit_of(spec)
        self.gate: Callable[[Call, Past], bool] | None = None
        self.fired = 0

    @property
    def silent(self) -> bool:
        """Whether the fault was due to fire and never fired."""
        return self.spec.must_fire and not self.fired

    @property
    def is_spent(self) -> bool:
        """Whether the fault has fired as often as allowed."""
        return self.fired >= self._limit

    def is_due(self, call: Call, past: Past, draws: Draws) -> bool:
        """Whether the fault applies to this call; it leaves the plan of any other call
        unchanged."""
        if self.is_spent or self._is_over(call):
            return False
        return self.gate(call, past) if self.gate is not None else self._hits(call, past, draws)

    def _is_over(self, call: Call) -> bool:
        lasts_s = self.spec.lasts_s
        if lasts_s is None or self._first_ms is None:
            return False
        return call.at_ms >= self._first_ms + lasts_s * 1000

    def bend(self, call: Call, past: Past, draws: Draws, plan: Plan) -> Plan:
        """The plan after this fault."""
        if not self.is_due(call, past, draws):
            return plan
        bent = self.bent(call, past, draws, plan)
        if bent != plan:
            self.fired += 1
            if self._first_ms is None:
                self._first_ms = call.at_ms
        return bent

    def bent(self, call: Call, past: Past, draws: Draws, plan: Plan) -> Plan:
        """What the fault makes of a plan, whether it is due or not."""
        firing = self.fired + 1 if self.spec.then == "escalate" else 1
        asked = self.others.get(call.provider)
        wire, refusals, traits = self._wire, self._refusals, self.traits
        if asked is not None:
            wire, refusals, traits = asked.name, asked.refusals(), asked.traits()
        moment = Moment(call, past, draws, firing, wire, refusals, traits, self.names)
        return self.function(moment, plan, **self.spec.settings)

    def _hits(self, call: Call, past: Past, draws: Draws) -> bool:
        ordinal = self.ordinal(call, past)
        if not ordinal:
            return False
        match self._when:
            case int(first):
                repeats = self._limit > 1 or self.spec.on == POLL
                return ordinal >= first if repeats else ordinal == first
            case tuple(numbers):
                return ordinal in numbers
            case When(p=float(p)):
                return draws.random("fault", self.spec.kind, call.key).random() < p
            case When(after=str(key)):
                return past.is_answered(key)
            case When(after=int(number)):
                return ordinal > number
        return False

    def ordinal(self, call: Call, past: Past) -> int:
        """The call's number among the calls of `on`; 0 for any other call."""
        is_poll = isinstance(call.request, InboxRequest) and call.request.poll
        if is_poll or self.spec.on == POLL:
            return _calls_so_far(past) if is_poll and self.spec.on == POLL else 0
        if call.seam != self.seam:
            return 0
        if call.provider in self.others and self._wires and call.provider not in self._wires:
            return 0
        if self._is_of_some:
            return self._ordinal_of_some(call, past)
        if self.seam == "file":  # no past counts them: each life of the agent counts from 1
            return call.n
        if self._part:
            return self._ordinal_of_part(call, past)
        if self._of == CHILD:
            return past.child_calls if call.session in past.children else 0
        if self._of in PURPOSES:
            return past.purpose_calls[self._of] if call.purpose == self._of else 0
        return past.calls[call.seam]

    def _ordinal_of_some(self, call: Call, past: Past) -> int:
        """The number of a call among those of the fault's provider and models."""
        model = call.request.model if isinstance(call.request, ModelRequest) else ""
        if not self._is_of((call.purpose, call.provider, model)):
            return 0
        return sum(times for asked, times in past.asked_of.items() if self._is_of(asked))

    def _is_of(self, asked: tuple[str, str, str]) -> bool:
        (purpose, provider, model), wanted = asked, self.spec.provider
        if wanted == OTHER:
            is_wanted = provider != self._wire
        else:
            is_wanted = not wanted or provider == spoken_on(self.spec, self._wire)
        is_of = self._of not in PURPOSES or purpose == self._of
        return is_wanted and is_of and fnmatchcase(model, self._models)

    def _ordinal_of_part(self, call: Call, past: Past) -> int:
        request = call.request
        if isinstance(request, ToolRequest):
            return past.tool_calls[self._part] if request.name == self._part else 0
        if isinstance(request, StoreRequest):
            mine = self._part in (request.access, request.operation)
            return past.store_calls[self._part] if mine else 0
        return 0


def _calls_so_far(past: Past) -> int:
    """The number of calls so far. Polls are counted by other calls, because polls without a result
    are not recorded."""
    return sum(past.calls[seam] for seam in ("model", "tool", "inbox", "outbox"))


def limit_of(spec: FaultSpec) -> int:
    """How often a fault fires at most."""
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
