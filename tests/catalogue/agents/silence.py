"""Agents that wait without an end, or take a silence for an end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import standard_model
from harness.agent.gateway import Gateway
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief, ToolError
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, ToolResult, ToolUse, assistant
from tests.mutants.second_model import SecondModel, Show


def _patient(client: Any) -> Any:
    return client.with_options(timeout=None)


def waits_without_a_timeout(brief: Brief) -> None:
    """Has no time-out for the bytes of an answer."""
    build(brief, model=standard_model(brief, _patient)).run()


class _Swallowing(SecondModel):
    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """End the flow of pieces in order, however the socket ended."""
        came: list[str] = []
        try:
            return self.inner.query(query, came.append)
        except ModelFailure as failure:
            if failure.kind != "broken_stream" or not came:
                raise
            return ModelAnswer(assistant("".join(came)), "end_turn")


def swallows_a_broken_socket(brief: Brief) -> None:
    """Takes the part that came before a socket broke for the whole answer."""
    build(brief, model=_Swallowing(standard_model(brief, _patient))).run()


class _Idle(Loop):
    sleep: Callable[[float], None]
    idle_s = 900.0

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Run the calls, and do nothing for a while where something is wrong."""
        outcome = super().execute(calls)
        if self.is_stuck(self.transcript.messages[-1]):
            self.sleep(self.idle_s)
        return outcome

    def is_stuck(self, answered: Message) -> bool:
        """Whether the results of the last calls stop it."""
        return True


def idles_before_the_end(brief: Brief) -> None:
    """Is alive between its last tool and the end of the turn, and calls no model."""
    idle = type("Idle", (_Idle,), {"sleep": staticmethod(brief.clock.sleep)})
    build(brief, turn=idle).run()


class _Wedged(_Idle):
    def is_stuck(self, answered: Message) -> bool:
        """Whether a result is an error."""
        return any(result.is_error for result in answered.tool_results)


def wedges_after_an_error(brief: Brief) -> None:
    """Does nothing more once a result is an error."""
    idle = type("Wedged", (_Wedged,), {"sleep": staticmethod(brief.clock.sleep)})
    build(brief, turn=idle).run()


class _Pending(Toolbox):
    sleep: Callable[[float], None]

    def run(self, call: ToolUse) -> ToolResult:
        """Let the call wait its minute, for the reader's error reaches no waiter."""
        result = super().run(call)
        if result.is_error:
            self.sleep(60.0)
        return result


def waits_for_a_dead_helper(brief: Brief) -> None:
    """Knows that a helper is dead, and waits a minute for it at each call."""
    tools = _Pending(brief.tools)
    tools.sleep = brief.clock.sleep
    build(brief, tools=tools).run()


class _Raising(Toolbox):
    def run(self, call: ToolUse) -> ToolResult:
        """The result of a call, or what the tool raises."""
        return ToolResult(call.id, str(self._call(self._tools[call.name], call)))


class _Standing(Gateway):
    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on one message; no code catches a tool's error."""
        with suppress(ToolError, OSError):
            self.settle(inbound, transcript, self.loop_for(inbound, transcript).run())


def lets_tool_errors_out(brief: Brief) -> None:
    """Makes no result of what a tool's server raises: the turn stands still."""
    build(brief, tools=_Raising(brief.tools), gateway=_Standing).run()
