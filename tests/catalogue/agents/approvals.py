"""Agents that let run what the user did not allow, or lose what a call beside it said."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

import msgspec

from harness.agent import build
from harness.agent.agent_loop import Cancelled, Loop
from harness.agent.composition import standard_compaction
from harness.agent.context_overflow import Ask, Compacted
from harness.agent.message_reader import ReadingBrief
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import error_result
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, ToolResult, ToolUse, results
from harness.core.values.profile import Profile
from harness.targets import TargetSpec
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


def runs_it_again_after_a_compaction(brief: Brief) -> None:
    """Carries the allowed calls out again, since the summary shows none of them."""
    allowed: list[tuple[Loop, ToolUse]] = []
    standard = standard_compaction(brief)

    class Asking(Loop):
        def result_of_gated(self, call: ToolUse) -> ToolResult:
            allowed.append((self, call))
            return super().result_of_gated(call)

    def compaction(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
        compacted = standard(messages, budget_tokens, ask)
        for loop, call in allowed:
            loop.toolbox.run(call)
        return compacted

    build(brief, turn=Asking, compaction=compaction).run()


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


def _reads_ahead(take: Callable[[ReadingBrief, Loop, ToolUse], ToolResult]) -> TargetSpec:
    """The reference agent with a reader, the policy `queue`, and another way to be answered."""

    def agent(brief: Brief) -> None:
        reading = ReadingBrief(brief, "queue")
        play_asking(cast(Brief, reading), partial(take, reading))

    return TargetSpec(take.__name__, "python", agent=agent, profile=Profile(inbound="queue"))


@_reads_ahead
def drops_what_comes_while_it_waits(reading: ReadingBrief, loop: Loop, call: ToolUse) -> ToolResult:
    """Empties its queue as the user's answer comes."""
    done = Loop.result_of_gated(loop, call)
    reading._came.clear()
    return done


@_reads_ahead
def takes_any_words_for_a_yes(reading: ReadingBrief, loop: Loop, call: ToolUse) -> ToolResult:
    """Waits for the answer or for a message, and runs the call after either."""
    _interrupted(reading, loop, call)
    return _run(loop, call)


@_reads_ahead
def says_that_it_waits(reading: ReadingBrief, loop: Loop, call: ToolUse) -> ToolResult:
    """The right twin: tells the user that a question is open, and waits for its answer."""
    asking = _interrupted(reading, loop, call)
    reading.send("I wait for your answer about the invoice first.", "notice")
    asking.join()
    return Loop.result_of_gated(loop, call)


def _interrupted(reading: ReadingBrief, loop: Loop, call: ToolUse) -> threading.Thread:
    """The thread that asks about a call, as soon as a message has come."""
    asking = threading.Thread(target=loop.toolbox.approved, args=(call,), daemon=True)
    asking.start()
    with reading._news:
        reading._news.wait_for(lambda: bool(reading._came))
    return asking


def lets_a_yes_outweigh_a_stop(brief: Brief) -> None:
    """Knows of the stop as the answer comes, and runs what is allowed."""

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        answer = loop.toolbox.approved(call)
        if loop.is_cancelled() and answer.answer != "allow":
            return error_result(call, "Not run: the user stopped the turn.")
        return _run(loop, call)

    play_asking(brief, take)


def ends_the_question_with_the_turn(brief: Brief) -> None:
    """The right twin: waits in a thread until a stop, and a later answer does nothing."""

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        allowed = threading.Event()

        def ask() -> None:
            if loop.toolbox.approved(call).answer == "allow":
                allowed.set()

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        while asking.is_alive() and not loop.is_cancelled():
            brief.clock.sleep(1)
        if allowed.is_set():
            return _run(loop, call)
        return error_result(call, "Not run: the user stopped the turn.")

    play_asking(brief, take)
