"""One turn, from the user's message to an outcome: run, step, query, execute.

Every tool call gets a result in the history. A call that may be incomplete does not run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from harness.agent.context_overflow import Escalation
from harness.agent.conversation.content import holds_pictures, note_of
from harness.agent.guards import EndTurn, Guide, Proceed, Watch
from harness.agent.guards.guard_protocol import cut_off
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import LanguageModel, ModelAnswer, Query
from harness.agent.sessions import turn_outcome as ends
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import Toolbox, error_result
from harness.agent.turn_policy import Policy
from harness.core.values.messages import (
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    canonical,
    results,
)

_STOPS = frozenset({"end_turn", "stop_sequence", "tool_use", "max_tokens", "pause_turn", "refusal"})


class Cancelled(Exception):
    """The user has cancelled the turn."""


class Loop:
    """One turn of an agent. The loop calls `is_cancelled` before every request and every tool."""

    def __init__(
        self,
        transcript: SessionTranscript,
        model: LanguageModel,
        toolbox: Toolbox,
        watch: Watch,
        overflow: Escalation,
        policy: Policy,
        is_cancelled: Callable[[], bool],
        show: Callable[[str], None] | None = None,
        take_in: Callable[[bool], None] | None = None,
    ) -> None:
        self.transcript, self.model, self.toolbox = transcript, model, toolbox
        self.watch, self.overflow, self.policy = watch, overflow, policy
        self.is_cancelled, self._show, self._take_in = is_cancelled, show, take_in
        self.counts: Counter[str] = Counter()
        self.ended = self.nudge = ""
        self.seen: list[str] = []

    def run(self) -> Outcome:
        """Take steps until one ends the turn."""
        try:
            while self.counts["model calls"] < self.policy.max_model_calls - 1:
                outcome = self.step()
                if outcome is not None:
                    return outcome
            return self.conclude(f"{self.policy.max_model_calls} model calls are the limit.")
        except Cancelled:
            return ends.cancelled("".join(self.seen))
        except ModelFailure as failure:
            return ends.gave_up(failure)

    def step(self) -> Outcome | None:
        """Call the model once and carry out its answer; None if the turn continues.

        What has come meanwhile is taken in before, but never behind the model's own words.
        """
        history = self.transcript.messages
        if self._take_in is not None and history and history[-1].role != "assistant":
            self.check()  # what a cancelled turn takes in would be lost
            self._take_in(not self.counts["model calls"])
        answer = self.query()
        if not answer.message.tool_uses or answer.stop == "refusal":
            return self.finish(answer)
        self.transcript.append(answer.message)
        self.seen.clear()
        if answer.stop in self.policy.runs_calls_on:
            return self.execute(answer.message.tool_uses)
        return self.reject_cut_off(answer.message.tool_uses, answer.stop)

    def query(self, tools_withdrawn: bool = False) -> ModelAnswer:
        """Call the model, with retries for failures that may pass.

        Raises ModelFailure without a usable answer, and Cancelled after a cancel of the user.
        """
        failures: Counter[str] = Counter()
        most = self.policy.max_model_calls - (not tools_withdrawn)
        self.seen.clear()
        while True:
            self.check()
            self.counts["model calls"] += 1
            try:
                answer = self.ask(Query(self.messages(), self.toolbox.specs, tools_withdrawn))
            except ModelFailure as failure:
                self.counts["failures"] += 1
                spent = self.counts["failures"] >= self.policy.max_failures
                if spent or self.counts["model calls"] >= most:
                    raise
                failures[failure.kind] += 1
                self.recover(failure, failures[failure.kind])
            else:
                self.overflow.answered()
                return self.without_thinking(answer) if self.nudge else answer

    def messages(self) -> tuple[Message, ...]:
        """The messages of the next request. After a restart, the last row may be the model's own
        text. Then the request asks the model to continue."""
        messages = self.transcript.wire(self.nudge)
        if self.counts["model calls"] == 1 and _has_last_word(messages):
            self.nudge = "Please go on."
            messages = self.transcript.wire(self.nudge)
        return tuple(messages)

    def check(self) -> None:
        """Raise Cancelled if the user has cancelled the turn."""
        if self.is_cancelled():
            raise Cancelled

    def ask(self, query: Query) -> ModelAnswer:
        """Make one request. An answer with an unknown stop reason counts as incomplete."""
        answer = self.model.query(query, self.show)
        if answer.stop == "model_context_window_exceeded":
            raise ModelFailure("overflow", answer.stop)
        if answer.stop not in _STOPS:
            raise ModelFailure("broken_stream", f"unknown stop reason {answer.stop!r}")
        return answer

    def without_thinking(self, answer: ModelAnswer) -> ModelAnswer:
        """The answer to a nudge without its thinking. The thinking is signed for a conversation
        with the nudge; later requests lack the nudge, and the provider would refuse them."""
        self.nudge = ""
        said = tuple(b for b in answer.message.blocks if not isinstance(b, Thinking))
        return ModelAnswer(Message("assistant", said), answer.stop)

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Prepare another attempt, or raise the failure."""
        if self.seen:  # the user has read a part: a second attempt would repeat it
            raise failure
        self.check()
        if failure.kind == "overflow":
            if not self.overflow.shrink(self.transcript, failure.text, self.model.query):
                raise failure
        elif failure.kind == "picture":
            if not holds_pictures(self.messages()):
                raise failure
            self.transcript.append(note_of(self.transcript.messages))
        elif times > self.policy.retries.get(failure.kind, 0):
            raise failure

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Run the calls in their order; each gets a result, also if it was not run."""
        self.watch.begin_step()
        answered = [self.result_of(call, calls[:place]) for place, call in enumerate(calls)]
        self.transcript.append(results(*answered))
        return self.conclude(self.ended) if self.ended else None

    def result_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> ToolResult:
        """The result of one call of a batch."""
        refusal = self.refusal_of(call, earlier)
        if refusal is None and self.toolbox.asks_for(call):
            return self.result_of_gated(call)
        return refusal or self.watched(call, self.toolbox.run(call))

    def result_of_gated(self, call: ToolUse) -> ToolResult:
        """The result of a call that needs the user's approval. Its result says a denial or an
        edited input to the model, whose words in the history name the first input."""
        approval = self.toolbox.approved(call)
        reason = f" {approval.reason}" if approval.reason else ""
        if approval.answer == "expired":
            return error_result(call, f"Not run: the user did not answer in time.{reason}")
        if approval.answer == "deny":
            return error_result(call, f"Not run: the user denied it.{reason}")
        if self.is_cancelled():  # an `allow` comes too late; a denial is told all the same
            return error_result(call, "Not run: the user cancelled the turn.")
        edited = msgspec.structs.replace(call, input=approval.input)
        result = self.watched(call, self.toolbox.run(edited))
        if canonical(edited.input) == canonical(call.input):
            return result
        note = f"The user changed the input; it ran with {canonical(edited.input)}.{reason}"
        return _guided(result, note)

    def refusal_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> ToolResult | None:
        """The error result of a call that must not run; None if it may run."""
        if self.ended or self.is_cancelled():
            return error_result(call, f"Not run: {self.ended or 'the user cancelled the turn.'}")
        if any(call.id == other.id for other in earlier):
            return error_result(call, "Not run: another call of this reply has the same id.")
        decision = self.watch.before(call)
        if isinstance(decision, Proceed | Guide):
            return None
        self.ended = decision.text if isinstance(decision, EndTurn) else ""
        return error_result(call, decision.text)

    def watched(self, call: ToolUse, result: ToolResult) -> ToolResult:
        """The result of a call that ran, with the text that the guards add."""
        decision = self.watch.after(call, result)
        if isinstance(decision, EndTurn):
            self.ended = decision.text
        return _guided(result, decision.text) if isinstance(decision, Guide) else result

    def reject_cut_off(self, calls: Sequence[ToolUse], stop: str) -> Outcome | None:
        """Answer calls that may be cut off without running them; the guards see them as cut off."""
        self.watch.begin_step()
        decisions = [self.watch.before(cut_off(call)) for call in calls]
        text = (
            f"Not run: the reply ended with {stop!r}, so the call may be incomplete. Use less text."
        )
        self.transcript.append(results(*(error_result(call, text) for call in calls)))
        ends_it = [d.text for d in decisions if isinstance(d, EndTurn)]
        return self.conclude(ends_it[0]) if ends_it else None

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """The outcome of an answer without calls; None if the model must continue."""
        self.check()
        if answer.stop == "pause_turn":
            self.transcript.append(answer.message)
            self.counts["pauses"] += 1
            paused_too_often = self.counts["pauses"] > self.policy.max_pauses
            return self.conclude("the model paused too often.") if paused_too_often else None
        outcome = ends.answered(answer.message, answer.stop)
        if outcome is None:
            self.counts["empty answers"] += 1
            if self.counts["empty answers"] > self.policy.max_empty_answers:
                return ends.failed(ends.NO_ANSWER, "no_answer", retryable=True)
            self.nudge = "Please answer."
        return outcome

    def conclude(self, reason: str) -> Outcome:
        """End the turn. The model may report once what happened, and may call no tools."""
        self.nudge = (
            f"The tools are withdrawn, and this turn ends here: {reason} Tell the user what was "
            "done, what was not, and why. Do not claim success for anything that failed."
        )
        try:
            return ends.concluded(self.query(tools_withdrawn=True).message, reason)
        except ModelFailure:
            return ends.concluded(None, reason)

    def show(self, text: str) -> None:
        """Show the user a part of the streamed answer, unless the turn is cancelled."""
        self.check()
        if self._show is not None:
            self.seen.append(text)
            self._show(text)


def _has_last_word(messages: Sequence[Message]) -> bool:
    """Whether the last message is the model's, with text only; a paused answer is sent back
    unchanged."""
    if not messages or messages[-1].role != "assistant":
        return False
    return all(isinstance(block, Text | Thinking) for block in messages[-1].blocks)


def _guided(result: ToolResult, text: str) -> ToolResult:
    content = result.content
    parts = (Text(content),) if isinstance(content, str) else content
    return msgspec.structs.replace(result, content=(*parts, Text(text)))
