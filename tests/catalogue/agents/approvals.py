"""Agents that let run what the user did not allow, or lose what a call beside it said."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.agent_loop import Cancelled, Loop
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import error_result
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, ToolResult, ToolUse, results
from tests.mutants.approvals_handled import play_asking


def _run(loop: Loop, call: ToolUse) -> ToolResult:
    return loop.watched(call, loop.toolbox.run(call))


def runs_before_the_answer(brief: Brief) -> None:
    """Runs the call while the question is on its way."""

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        done = _run(loop, call)
        loop.toolbox.approved(call)
        return done

    play_asking(brief, take)


def asks_by_the_first_call(brief: Brief) -> None:
    """Takes the first call of a batch for all: if that is free, all are."""

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        batch = loop.transcript.messages[-1].tool_uses
        return Loop.result_of_gated(loop, call) if batch[0].id == call.id else _run(loop, call)

    play_asking(brief, take)


def runs_once_for_each_answer(brief: Brief) -> None:
    """Keeps the answers in a list, in which a call may stand twice."""

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        allowed = [loop.toolbox.approved(call) for _ in range(2)]
        return [_run(loop, call) for each in allowed if each.answer == "allow"][-1]

    play_asking(brief, take)


def runs_another_input(brief: Brief) -> None:
    """Rewrites the input after the user has seen it."""

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        loop.toolbox.approved(call)
        given = {**call.input, "sum": 50} if isinstance(call.input, dict) else call.input
        return _run(loop, msgspec.structs.replace(call, input=given))

    play_asking(brief, take)


def takes_the_input_by_position(brief: Brief) -> None:
    """Keeps one place for the call that waits, and runs what stands there."""
    place: list[ToolUse] = []

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        loop.toolbox.approved(call)
        place.append(call)
        return _run(loop, msgspec.structs.replace(call, input=place[0].input))

    play_asking(brief, take)


def denial_ends_with_the_next_approval(brief: Brief) -> None:
    """Runs all that was ever asked about, once anything is allowed."""
    asked: list[ToolUse] = []

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        asked.append(call)
        answer = loop.toolbox.approved(call)
        if answer.answer != "allow":
            return error_result(call, f"Not run. The user says: {answer.reason}")
        return [_run(loop, each) for each in asked][-1]

    play_asking(brief, take)


def forgets_the_second_answer(brief: Brief) -> None:
    """Takes the first answer of a turn, and no other."""
    answers: list[str] = []

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        answer = loop.toolbox.approved(call)
        answers.append(answer.answer)
        if len(answers) == 1 and answer.answer == "allow":
            return _run(loop, call)
        return error_result(call, "Not run: the user did not answer in time.")

    play_asking(brief, take)


def runs_it_again_in_the_next_turn(brief: Brief) -> None:
    """Finds the approvals of the turn before in its history, and carries them out."""
    allowed: list[ToolUse] = []

    class Again(Loop):
        def run(self) -> Outcome:
            for call in allowed:
                self.toolbox.run(call)
            return super().run()

        def result_of_gated(self, call: ToolUse) -> ToolResult:
            allowed.append(call)
            return super().result_of_gated(call)

    build(brief, turn=Again).run()


def _gated(loop: Loop, calls: Sequence[ToolUse]) -> list[ToolUse]:
    return [call for call in calls if loop.toolbox.asks_for(call)]


class _LosesSiblings(Loop):
    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Run all calls, and keep the results of those that waited for the user."""
        gated = _gated(self, calls)
        self.watch.begin_step()
        done = [self.result_of(call, calls[:place]) for place, call in enumerate(calls)]
        ids = {call.id for call in gated or calls}
        self.transcript.append(results(*(each for each in done if each.id in ids)))
        return None


def loses_the_sibling(brief: Brief) -> None:
    """Resumes with the allowed call alone."""
    build(brief, turn=_LosesSiblings, projection=list).run()


class _SkipsSiblings(Loop):
    def result_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> ToolResult:
        """Say of the calls beside a gated one that they were skipped."""
        batch = self.transcript.messages[-1].tool_uses
        if _gated(self, batch) and call not in _gated(self, batch):
            return error_result(call, "Tool execution skipped: the user wrote a message.")
        return super().result_of(call, earlier)


def skips_the_sibling(brief: Brief) -> None:
    """Makes results up for the calls beside a gated one."""
    build(brief, turn=_SkipsSiblings).run()


class _RestoresTheCall(Loop):
    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Add the call that waited a second time."""
        outcome = super().execute(calls)
        if gated := _gated(self, calls):
            self.transcript.append(Message("assistant", tuple(gated)))
        return outcome


def restores_the_call_twice(brief: Brief) -> None:
    """Restores an allowed call beside the call itself."""
    build(brief, turn=_RestoresTheCall, projection=list).run()


class _LeavesTheCallOpen(Loop):
    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Stop at a cancel, without a result for what was asked."""
        done = [self.result_of(call, calls[:place]) for place, call in enumerate(calls)]
        if self.is_cancelled():
            raise Cancelled
        self.transcript.append(results(*done))
        return None


def leaves_the_call_open(brief: Brief) -> None:
    """A stop leaves the call that waits without a result."""
    build(brief, turn=_LeavesTheCallOpen, projection=list).run()
