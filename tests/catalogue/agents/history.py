"""Agents that keep or send a history that no provider takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpx2
import msgspec

from harness.agent import build
from harness.agent.agent_loop import Cancelled, Loop
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.agent.conversation.projection import NO_OUTCOME, NO_TEXT, project
from harness.agent.gateway import Gateway
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import (
    Block,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)


def _changed(rows: Sequence[Message], change: Callable[[Block], Iterable[Block]]) -> list[Message]:
    """The request of the reference agent with each block changed."""
    wire = [Message(m.role, tuple(c for b in m.blocks for c in change(b))) for m in project(rows)]
    return [message for message in wire if message.blocks]


def _unstubbed(rows: Sequence[Message]) -> list[Message]:
    def change(block: Block) -> Iterable[Block]:
        stub = isinstance(block, ToolResult) and block.content == NO_OUTCOME
        return () if stub else (block,)

    return _changed(rows, change)


class _Stopped(Loop):
    """Leaves a turn in the middle of its calls."""

    keeps_results = False

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Run calls until the user stops."""
        done: list[ToolResult] = []
        for call in calls:
            if self.is_cancelled():
                if done and self.keeps_results:
                    self.transcript.append(results(*done))
                raise Cancelled
            done.append(self.result_of(call, ()))
        if self.is_cancelled() and not self.keeps_results:
            raise Cancelled
        self.transcript.append(results(*done))
        return None


def keeps_calls_without_results(brief: Brief) -> None:
    """Stores a call before its result, and stops between them."""
    build(brief, turn=_Stopped, projection=_unstubbed).run()


class _PartlyStopped(_Stopped):
    keeps_results = True


def keeps_the_results_so_far(brief: Brief) -> None:
    """Stores all calls, and after an early return the results of some."""
    build(brief, turn=_PartlyStopped, projection=_unstubbed).run()


class _Silent(RowTranscript):
    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store no reply of a turn that was stopped."""
        if outcome.status != "cancelled":
            super().close(inbound, outcome)


def ends_with_a_result(brief: Brief) -> None:
    """Leaves a result as the last row of a stopped turn, and sends rows as they are."""
    build(brief, transcript=_Silent, projection=list).run()


class _Keeping(RowTranscript):
    def keep(self, message: Message) -> None:
        """Store a message for the next turn."""
        self._store.append(self._session, message)


class _KeepsNothingAsText(Loop):
    kept: tuple[Block, ...] = (Text(""),)

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Keep an answer of which nothing came."""
        assert isinstance(self.transcript, _Keeping)
        self.transcript.keep(Message("assistant", self.kept))
        super().recover(failure, times)


class _KeepsNothing(_KeepsNothingAsText):
    kept = ()


def keeps_a_failed_stream_as_text(brief: Brief) -> None:
    """Stores a stream that failed as an empty text."""
    build(brief, turn=_KeepsNothingAsText, transcript=_Keeping, projection=list).run()


def keeps_an_interrupted_answer(brief: Brief) -> None:
    """Stores a partial answer without content."""
    build(brief, turn=_KeepsNothing, transcript=_Keeping, projection=list).run()


class _KeepsEmptyAnswers(Loop):
    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """Keep an answer without words."""
        outcome = super().finish(answer)
        if outcome is None:
            self.transcript.append(assistant(""))
        return outcome


def sends_empty_answers_back(brief: Brief) -> None:
    """Writes an empty answer as an empty text, and sends it with the next request."""
    build(brief, turn=_KeepsEmptyAnswers, projection=list).run()


def sends_empty_results(brief: Brief) -> None:
    """Sends the result of a tool that returned nothing as an empty text."""

    def change(block: Block) -> Iterable[Block]:
        blank = isinstance(block, ToolResult) and block.text == NO_TEXT
        return (msgspec.structs.replace(block, content=""),) if blank else (block,)

    build(brief, projection=lambda rows: _changed(rows, change)).run()


class _AcceptsNothing(Gateway):
    def receive(self, inbound: Inbound) -> None:
        """Take a message without words for a question."""
        if inbound.text.strip():
            return super().receive(inbound)
        transcript = self.transcript_of(inbound.session)
        transcript.open(inbound)
        return self.turn(inbound, transcript)


def asks_with_nothing(brief: Brief) -> None:
    """Passes the empty output of another agent on as a question."""
    build(brief, gateway=_AcceptsNothing, projection=list).run()


def puts_a_blank_summary_first(brief: Brief) -> None:
    """Makes a blank while a request is put together: a summary without words opens it."""

    def blank(messages: Sequence[Message], budget: int, ask: Ask) -> Compacted | None:
        return compact(messages, budget, ask) or Compacted(user(" "), 1)

    build(brief, compaction=blank, projection=list).run()


def sends_calls_twice(brief: Brief) -> None:
    """Writes each call twice into its message."""

    def change(block: Block) -> Iterable[Block]:
        return (block, block) if isinstance(block, ToolUse) else (block,)

    build(brief, projection=lambda rows: _changed(rows, change)).run()


def measures_pictures_raw(brief: Brief) -> None:
    """Measures a picture before base64, and the API after it."""

    def fits(part: Block) -> Block:
        data = part.value["source"]["data"] if isinstance(part, Opaque) else ""
        return Text("(too large)") if len(data) * 3 // 4 > 5 * 1024 * 1024 else part

    def measured(message: Message) -> Message:
        return Message(message.role, tuple(map(change, message.blocks)))

    def change(block: Block) -> Block:
        if not isinstance(block, ToolResult) or isinstance(block.content, str):
            return block
        return msgspec.structs.replace(block, content=tuple(map(fits, block.content)))

    build(brief, projection=lambda rows: [measured(row) for row in rows]).run()


def rebuilds_thinking(brief: Brief) -> None:
    """Trims the text of signed thinking."""

    def change(block: Block) -> Iterable[Block]:
        trims = isinstance(block, Thinking)
        return (msgspec.structs.replace(block, text=block.text.strip()) if trims else block,)

    build(brief, projection=lambda rows: _changed(rows, change)).run()


def sends_reasoning_alone(brief: Brief) -> None:
    """Keeps the reasoning of an answer and leaves out what it led to."""

    def alone(rows: Sequence[Message]) -> list[Message]:
        return [_thought(message) for message in project(rows)]

    build(brief, projection=alone).run()


def _thought(message: Message) -> Message:
    thoughts = tuple(block for block in message.blocks if isinstance(block, Thinking))
    return Message(message.role, thoughts) if thoughts and not message.tool_uses else message


def asks_before_the_message(brief: Brief) -> None:
    """Sends a resumed history as it ends: with an answer, and without the new message."""

    def ended(rows: Sequence[Message]) -> list[Message]:
        wire = project(rows)
        resumed = len(wire) == 3 and wire[-2].role == "assistant"
        return wire[:-1] if resumed else wire

    build(brief, projection=ended).run()


def adds_a_filler(brief: Brief) -> None:
    """Ends each request with the empty answer that another API needs."""
    build(brief, projection=lambda rows: [*project(rows), assistant("")]).run()


def forwards_the_last_words(brief: Brief) -> None:
    """Puts the text of a sub-agent at the end of the request, as its own words."""

    def forwarded(rows: Sequence[Message]) -> list[Message]:
        wire = project(rows)
        said = [result.text for result in wire[-1].tool_results]
        return [*wire, assistant(said[-1])] if said else wire

    build(brief, projection=forwarded).run()


class _RawNames(Toolbox):
    def __init__(self, brief: Brief) -> None:
        super().__init__(brief.tools)
        self._tools = {tool.name: tool for tool in brief.tools}


def offers_names_as_they_are(brief: Brief) -> None:
    """Offers the tools of others under the names that they have there."""
    build(brief, tools=_RawNames(brief)).run()


def summarises_with_an_orphan(brief: Brief) -> None:
    """Cuts the request for a summary from the front, and makes the same one three times."""

    def cut(messages: Sequence[Message], budget: int, ask: Ask) -> Compacted | None:
        query = Query((*messages[:-1], user("Summarise this.")), purpose="compact")
        for _attempt in range(3):
            try:
                ask(query)
            except ModelFailure:
                continue
        return None

    build(brief, compaction=cut).run()


def sends_back_as_it_came(brief: Brief) -> None:
    """A loop of Chat Completions that keeps each answer to the letter, half an emoji too."""
    http = httpx2.Client(transport=brief.transport, base_url=brief.base_url)
    tools = {tool.name: tool for tool in brief.tools}
    said: list[dict[str, Any]] = []
    for inbound in brief.inbox():
        said.append({"role": "user", "content": inbound.text})
        answer = _answer(http, said, [*tools])
        while calls := answer.get("tool_calls"):
            for call in calls:
                result = tools[call["function"]["name"]].call({}, id=call["id"])
                said.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})
            answer = _answer(http, said, [*tools])
        brief.send(answer["content"], "final", inbound.session, inbound.id)


def _answer(http: httpx2.Client, said: list[dict[str, Any]], tools: list[str]) -> dict[str, Any]:
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    body = json.dumps({"model": "gpt-5", "messages": said, "tools": offered}).encode()
    response = http.post(
        "/v1/chat/completions", content=body, headers={"content-type": "application/json"}
    )
    if response.status_code >= 400:
        return {"content": "The request was refused."}
    answer: dict[str, Any] = response.json()["choices"][0]["message"]
    said.append(answer)
    return answer
