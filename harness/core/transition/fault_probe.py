"""A fault that only looks: at which calls it would change the answer, and to which plan.

A run with a probe for each fault of the catalogue says which faults can meet which calls, although
none of them strikes. Two faults that come to one plan at one call are one fault there: the agent is
given the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.core.history.past import Past
from harness.core.transition.arming import ArmedFault
from harness.core.values.calls import Call
from harness.core.values.draws import Draws
from harness.core.values.plans import Plan

Told = Callable[[Call, int, Plan], None]
"""Takes a call, its number among the calls that the fault counts, and the plan after the fault."""


class FaultProbe(ArmedFault):
    """An armed fault that tells what it would change, and changes nothing."""

    def __init__(self, told: Told, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._told = told

    def is_due(self, call: Call, past: Past, draws: Draws) -> bool:
        """Whether the fault counts this call."""
        return bool(self.ordinal(call, past))

    def bend(self, call: Call, past: Past, draws: Draws, plan: Plan) -> Plan:
        """The unchanged plan, after telling the changed one."""
        if number := self.ordinal(call, past):
            bent = self.bent(call, past, draws, plan)
            if bent != plan:
                self._told(call, number, bent)
        return plan
