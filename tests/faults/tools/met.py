"""A tool with one fault on it: what a caller in the process meets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.clock import VirtualClock
from harness.core.history.events import Effected
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Scenario, ToolScript, ToolTurn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.faults import arm, faults
from harness.providers import by_name
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief

TOOLS = [kind for kind in faults() if kind.startswith("tools.")]
PAY = {"pay": ToolScript(script=(ToolTurn(ok="paid", effect="payment", times="forever"),))}


def transition(kind: str, settings: dict[str, Any]) -> Transition:
    """A run with one tool and one fault on it."""
    spec = FaultSpec(kind=kind, settings=settings)
    scenario = Scenario(name="tools", tools=PAY, faults=(spec,))
    script = TurnScript((), Draws(0))
    return Transition(scenario, by_name("anthropic"), script, History(), faults=[arm(spec)])


def fired(run: Transition) -> list[str]:
    """The faults that struck."""
    return [kind for event in run.history.events for kind in getattr(event, "faults", ())]


def effects(run: Transition) -> list[str]:
    """What happened to the outside world."""
    return [event.name for event in run.history.events if isinstance(event, Effected)]


class Met:
    """One call of the tool, in process: what came back or was raised, how long it took."""

    def __init__(self, kind: str, *, timeout_s: float | None = None, **settings: Any) -> None:
        self.run = transition(kind, settings)
        self.clock = VirtualClock(limit_s=86_400)
        self.died = 0
        dispatcher = Dispatcher(self.run, self.clock, on_kill=self._die)
        self.tool = InProcessBrief(dispatcher, Path("/nowhere")).tools[0]
        self.input = {"sum": 1}
        self.result: Any = None
        self.error: BaseException | None = None
        try:
            self.result = self.tool.call(self.input, id="toolu_1", timeout_s=timeout_s)
        except BaseException as error:
            self.error = error

    def _die(self) -> None:
        self.died += 1
