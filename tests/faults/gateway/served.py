"""A brief with two messages and one gateway fault, and what an agent does with it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.clock import VirtualClock
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, ToolScript, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.calls import Inbound
from harness.core.values.draws import Draws
from harness.faults import arm
from harness.providers import by_name
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief

START_MS = 5_000


class Served:
    """A brief with two messages and one fault; what an agent can do with it."""

    def __init__(
        self, kind: str, *, when: Any = 1, on: str = "", often: Any = "once", **settings: Any
    ) -> None:
        spec = FaultSpec(kind=kind, on=on, when=when, often=often, settings=settings)
        turns = (Turn(say="Good morning to you.", times="forever"),)
        scenario = Scenario(
            name="served",
            stream=True,
            tools={"look": ToolScript()},
            inbox=(InboxItem(text="one"), InboxItem(text="two")),
            faults=(spec,),
        )
        self.run = Transition(
            scenario,
            by_name("anthropic"),
            TurnScript(turns, Draws(0)),
            History(),
            faults=[arm(spec)],
        )
        self.clock, self.killed = VirtualClock(START_MS), 0
        self.brief = InProcessBrief(
            Dispatcher(self.run, self.clock, on_kill=self._die), Path("/nowhere")
        )

    def _die(self) -> None:
        self.killed += 1

    @property
    def fired(self) -> list[str]:
        """The faults that struck."""
        return [kind for event in self.run.history.events for kind in getattr(event, "faults", ())]

    def messages(self) -> Iterable[Inbound]:
        """What the inbox gives, each answered by its own text."""
        for inbound in self.brief.inbox(cancels=True):
            yield inbound
            self.brief.send(f"You said: {inbound.text}", session=inbound.session)

    def ask(self, stream: bool = False) -> Any:
        """One request to the model."""
        client = self.brief.anthropic(max_retries=0)
        asked: dict[str, Any] = {
            "model": "m",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": "hi"}],
        }
        if not stream:
            return client.messages.create(**asked)
        with client.messages.stream(**asked) as events:
            return events.get_final_message()
