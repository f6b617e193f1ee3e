"""Parts of an agent that the reference agent has no switch for, each replaced through `build`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from harness.agent.agent_loop import Loop
from harness.agent.conversation.content import text_of
from harness.agent.conversation.projection import Projection
from harness.agent.guards.guard_protocol import signature
from harness.agent.models.timeouts import retry_after_s
from harness.agent.sessions import turn_outcome as ends
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Tool
from harness.core.values.calls import Inbound
from harness.core.values.messages import (
    Block,
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    canonical,
    results,
)
from harness.stores import SessionRow, SessionStore

FINAL_ANSWER = "final_answer"
_FINAL_SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What the user reads."}},
    "required": ["text"],
}


def saying_nothing_more(loop: type[Loop]) -> type[Loop]:
    """The loop, which ends a turn without asking the model for a last word."""

    class SaysNothingMore(loop):  # type: ignore[misc, valid-type]
        def conclude(self, reason: str) -> Outcome:
            return ends.concluded(None, reason)

    return SaysNothingMore


class InThreads(Loop):
    """Runs the calls of one reply side by side; guards are asked before and after all of them.

    Equal calls run one after the other, as their results may repeat; so do calls of which the user
    is asked.
    """

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Run the calls; each gets its result, whether it was run or not."""
        is_asked = any(map(self.toolbox.asks_for, calls))
        if is_asked or len({signature(call.name, call.input) for call in calls}) < len(calls):
            return super().execute(calls)
        self.watch.begin_step()
        refused = [self.refusal_of(call, calls[:place]) for place, call in enumerate(calls)]
        with ThreadPoolExecutor(len(calls)) as pool:
            answered = list(pool.map(self._run, calls, refused))
        seen = [
            refusal or self.watched(call, result)
            for call, refusal, result in zip(calls, refused, answered, strict=True)
        ]
        self.transcript.append(results(*seen))
        return self.conclude(self.ended) if self.ended else None

    def _run(self, call: ToolUse, refusal: ToolResult | None) -> ToolResult:
        return refusal or self.toolbox.run(call)


def ending_by_a_tool(loop: type[Loop]) -> type[Loop]:
    """The loop, which ends its turn when the model calls `final_answer`."""

    class EndsByTool(loop):  # type: ignore[misc, valid-type]
        def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
            outcome: Outcome | None = super().execute(calls)
            if outcome is not None or self.is_cancelled():
                return outcome
            (newest,) = self.transcript.messages[-1:]
            good = {result.id for result in newest.tool_results if not result.is_error}
            said = [c for c in calls if c.name == FINAL_ANSWER and c.id in good]
            return (
                ends.answered(assistant(str(said[-1].input["text"])), "end_turn") if said else None
            )

    return EndsByTool


def with_final_answer(tools: Toolbox) -> Toolbox:
    """The tools, and the one that ends a turn."""

    def take(input: dict[str, Any], *, id: str) -> str:
        if not str(input.get("text", "")).strip():
            raise ValueError("the answer has no text")
        return "taken"

    return tools.with_tool(Tool(FINAL_ANSWER, "Answer the user.", _FINAL_SCHEMA, take))


def with_text_results(project: Projection) -> Projection:
    """The projection with calls and results as text, for a model that knows no tool blocks."""

    def told(rows: Sequence[Message]) -> list[Message]:
        return [Message(m.role, tuple(map(_as_words, m.blocks))) for m in project(rows)]

    return told


def _as_words(block: Block) -> Block:
    if isinstance(block, ToolUse):
        return Text(f"(I call {block.name} with {canonical(block.input)})")
    if isinstance(block, ToolResult):
        return Text(f"{'Error' if block.is_error else 'Result'} of the tool: {text_of(block)}")
    return block


def dropping_failed_turns() -> Callable[[SessionStore, str, Projection], RowTranscript]:
    """A transcript whose turns that failed are not shown to the model again. One in which a tool
    ran is shown: what the tool did outside stays done, and nothing else would say so."""
    failed: set[tuple[str, str]] = set()

    class WithoutFailedTurns(RowTranscript):
        def load(self) -> list[SessionRow]:
            """The history without the turns that failed."""
            return [*self._worked(super().load())]

        def rebuild(self, budget_tokens: int) -> None:
            """What fits of the turns that did not fail."""
            from harness.agent.conversation.history_size import fit

            stored = [row.message for row in self._worked(self._store.rows(self._session))]
            self._rows = [SessionRow("", message) for message in fit(stored, budget_tokens)]

        def close(self, inbound: Inbound, outcome: Outcome) -> None:
            """Store the reply, and remember that the turn failed."""
            super().close(inbound, outcome)
            if outcome.status == "failed":
                failed.add((inbound.session, inbound.id))

        def _worked(self, rows: Sequence[SessionRow]) -> list[SessionRow]:
            turns: list[list[SessionRow]] = [[]]
            for row in rows:
                if row.inbound:
                    turns.append([])
                turns[-1].append(row)
            return [row for turn in turns if not self._is_dropped(turn) for row in turn]

        def _is_dropped(self, turn: Sequence[SessionRow]) -> bool:
            ran = any(row.message.tool_results for row in turn)
            return not ran and any((self._session, row.inbound) in failed for row in turn)

    return WithoutFailedTurns


def waiting_at_most(seconds: float) -> Callable[[Any, Callable[[Any], Any]], Any]:
    """Middleware of an SDK: an answer that asks for a longer wait is final."""

    def once(request: Any, call_next: Callable[[Any], Any]) -> Any:
        response = call_next(request)
        if response.status_code >= 400 and retry_after_s(response.headers) > seconds:
            response.headers["x-should-retry"] = "false"
        return response

    return once
