"""Agents that lose what a model or a tool has answered."""

from __future__ import annotations

import json
from collections.abc import Sequence

import httpx2

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import standard_model
from harness.agent.gateway import Gateway
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, ToolResult, ToolUse, results
from tests.mutants.second_model import SecondModel, Show

STALE_MS = 600_000
"""So long silently, by the wall clock, and a stream counts as dead."""

COOLING_MS = 7_200_000


class _Gathering(Loop):
    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Run all calls; the first one that fails takes the results of the others with it."""
        answered = [self.result_of(call, calls[:place]) for place, call in enumerate(calls)]
        failed = any(result.is_error for result in answered)
        self.transcript.append(
            results(ToolResult("", "", is_error=True)) if failed else results(*answered)
        )
        return None


def loses_all_results_with_one(brief: Brief) -> None:
    """Leaves the loop that gathers results with the first exception."""
    build(brief, turn=_Gathering, projection=list).run()


class _WallClock(SecondModel):
    """Puts the model on a cool-down after a stream that was silent by the wall clock."""

    brief: Brief
    cools_until_ms = 0

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """Ask, and look at the clock on the wall."""
        before_ms = self.brief.clock.now_ms()
        if before_ms < self.cools_until_ms:
            raise ModelFailure("permanent", "the model is on a cool-down")
        answer = super().query(query, show)
        now_ms = self.brief.clock.now_ms()
        if now_ms - before_ms > STALE_MS:
            self.cools_until_ms = now_ms + COOLING_MS
            raise ModelFailure("permanent", "the stream was silent for too long")
        return answer


def counts_sleep_as_silence(brief: Brief) -> None:
    """Kills a live stream after a sleep of the machine, and avoids the model for hours."""
    model = _WallClock(standard_model(brief))
    model.brief = brief
    build(brief, model=model).run()


class _Unnamed(SecondModel):
    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """End with a status that says nothing."""
        raise RuntimeError("exit 1")


class _Unguarded(Gateway):
    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on one message; what breaks the turn ends the agent."""
        self.settle(inbound, transcript, self.loop_for(inbound, transcript).run())


def ends_with_exit_1(brief: Brief) -> None:
    """Ends silently when the body of an answer is not an answer."""
    build(brief, model=_Unnamed(standard_model(brief)), gateway=_Unguarded).run()


def submits_old_results(brief: Brief) -> None:
    """Finds results by the id of their call, and submits each that it ever had of that id."""

    def joined(rows: Sequence[Message]) -> list[Message]:
        wire, had = list[Message](), dict[str, list[ToolResult]]()
        for message in rows:
            for result in message.tool_results:
                had.setdefault(result.id, []).append(result)
            given = [old for result in message.tool_results for old in had[result.id]]
            wire.append(results(*given) if given else message)
        return wire

    build(brief, projection=joined).run()


def knows_one_line_end(brief: Brief) -> None:
    """Its own client, which looks for two line feeds and for `data: ` with a space."""
    http = httpx2.Client(transport=brief.transport, base_url=brief.base_url)
    said: list[dict[str, str]] = []
    for inbound in brief.inbox():
        said.append({"role": "user", "content": inbound.text})
        body = json.dumps({"model": "any", "max_tokens": 500, "stream": True, "messages": said})
        response = http.post(
            "/v1/messages",
            content=body.encode(),
            headers={"content-type": "application/json", "anthropic-version": "2023-06-01"},
        )
        events = response.text.split("\n\n")[:-1]
        datas = [line[6:] for e in events for line in e.split("\n") if line.startswith("data: ")]
        deltas = [json.loads(data).get("delta", {}) for data in datas]
        text = "".join(delta.get("text", "") for delta in deltas)
        said.append({"role": "assistant", "content": text})
        brief.send(text, "final", inbound.session, inbound.id)
