"""The calls of a turn: wrong agents that run, allow or drop the wrong ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.model_call import ModelAnswer
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import error_result
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text, ToolResult, ToolUse, canonical, user
from tests.mutants import mutant
from tests.mutants.approvals_handled import play_asking


@mutant(
    breaks="turn",
    statement="An approval is kept for the tool, and not for its call (agent-framework#6851)",
    scenario="allowed-payment/two-at-once",
    killed_by="approval.not_asked",
)
def asks_once_for_all_calls(brief: Brief) -> None:
    """The first approval of a tool counts for all its later calls.

    The reference agent that takes the first `allow` for good.
    """
    allowed = set[str]()

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        if call.name not in allowed:
            loop.toolbox.approved(call)
            allowed.add(call.name)
        return loop.watched(call, loop.toolbox.run(call))

    play_asking(brief, take)


@mutant(
    breaks="turn",
    statement="A denial ends the batch, and its other calls are told as denied (claude-code)",
    scenario="denied-beside-a-free-call/answered-in-another-order",
    killed_by="approval.untold",
)
def denies_the_rest_of_a_batch(brief: Brief) -> None:
    """The user denies one call, and the calls behind it are told as denied without a question."""
    denied, one_at_a_time = list[str](), threading.Lock()

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        with one_at_a_time:
            answer = None if denied else loop.toolbox.approved(call)
        if answer and answer.answer == "allow":
            return loop.watched(call, loop.toolbox.run(call))
        denied.append(answer.reason if answer else denied[0])
        return error_result(call, f"The user declined this call: {denied[0]}")

    play_asking(brief, take)


class Restless(Loop):
    """Goes on once it has an answer."""

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """Take the answer for half of one, thirty times."""
        self.counts["continued"] += 1
        if self.counts["continued"] > 30:
            return super().finish(answer)
        self.transcript.append(answer.message)
        self.transcript.append(user("continue from previous state"))
        return None


@mutant(
    breaks="turn",
    statement="A plugin said 'continue' thirty times, for the last word was the assistant's (98)",
    scenario="continue-from-where",
    killed_by="reload_equivalence.duplicate",
)
def continues_from_an_answer(brief: Brief) -> None:
    """A history that ends with an answer is taken for a turn that was cut off.

    The reference agent that never rests.
    """
    build(brief, turn=Restless).run()


class ByStopReason(Loop):
    """Ends the turn whenever the model says that it is over."""

    def query(self, tools_withdrawn: bool = False) -> ModelAnswer:
        """The answer, without its calls unless it stopped for them."""
        answer = super().query(tools_withdrawn)
        if answer.stop in ("tool_use", "tool_calls") or not answer.message.text.strip():
            return answer
        said = tuple(block for block in answer.message.blocks if isinstance(block, Text))
        return ModelAnswer(Message("assistant", said), answer.stop, answer.tokens)


@mutant(
    breaks="turn",
    statement="`stop` stands beside whole calls, and the announcement is the answer (unseen, A)",
    scenario="end-told-beside-a-call",
    killed_by="truthful_outcome.dropped",
)
def drops_calls_at_an_end(brief: Brief) -> None:
    """A stop reason that ends the turn is believed, and the calls beside it are dropped.

    The reference agent that looks at the stop reason alone.
    """
    build(brief, turn=ByStopReason).run()


@mutant(
    breaks="turn",
    statement="An edited input is merged into the model's, and not taken in its place (lovia#40)",
    scenario="allowed-payment/a-part-taken-out",
    killed_by="approval.input",
)
def merges_the_edit(brief: Brief) -> None:
    """What the user has taken out of an input comes back.

    The reference agent that adds the user's fields to those of the model.
    """

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        edited = loop.toolbox.approved(call).input
        merged = msgspec.structs.replace(call, input={**call.input, **edited})
        return loop.watched(call, loop.toolbox.run(merged))

    play_asking(brief, take)


@mutant(
    breaks="turn",
    statement="A question that fails counts as allowed (extra-org/extra#139)",
    scenario="answers-that-go-wrong",
    killed_by="approval.denied",
)
def pays_without_an_answer(brief: Brief) -> None:
    """The channel to the user fails, and the call runs.

    The reference agent that asks, and goes on after an error.
    """

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        assert loop.toolbox._ask is not None
        with suppress(TimeoutError):
            loop.toolbox._ask(call.name, call.input, id=call.id)
        return loop.watched(call, loop.toolbox.run(call))

    play_asking(brief, take)


class _TakesTheFirst(Loop):
    """Asks about all calls of an answer at once, and takes the answers as they come."""

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Ask about each gated call in another thread, and then run the calls."""
        gated = [call for call in calls if self.toolbox.asks_for(call)]
        with ThreadPoolExecutor() as pool:
            asked = [pool.submit(self.toolbox.approved, call) for call in gated]
            self._came = [each.result() for each in as_completed(asked)]
        return super().execute(calls)

    def result_of_gated(self, call: ToolUse) -> ToolResult:
        """The result by the next answer, of any call."""
        approval = self._came.pop(0)
        if approval.answer == "allow":
            return self.watched(call, self.toolbox.run(call))
        return error_result(call, f"Not run: the user denied it. {approval.reason}")


class _TakesItsOwn(_TakesTheFirst):
    def result_of_gated(self, call: ToolUse) -> ToolResult:
        """The result by the answer about this call."""
        self._came.sort(key=lambda approval: approval.id != call.id)
        return super().result_of_gated(call)


def _right_takes_answers_as_they_come(brief: Brief) -> None:
    """The reference agent that asks at once, and looks whose answer it is."""
    build(brief, turn=_TakesItsOwn).run()


@mutant(
    breaks="turn",
    statement="A decision counts for the call that is open, of any id (mastra #19633)",
    scenario="denied-beside-a-free-call/answered-in-another-order",
    killed_by="approval.denied",
    look_alike=_right_takes_answers_as_they_come,
)
def takes_answers_as_they_come(brief: Brief) -> None:
    """Two calls are asked about at once, and the first answer counts for the first call.

    The reference agent that looks at no id.
    """
    build(brief, turn=_TakesTheFirst).run()


@mutant(
    breaks="turn",
    statement="A denied call runs all the same (extra-org/extra#139)",
    scenario="denied-beside-a-free-call",
    killed_by="approval.denied",
)
def runs_denied_calls(brief: Brief) -> None:
    """The user is asked, and the call runs after any answer.

    The reference agent that asks and does not look at the answer.
    """

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        loop.toolbox.approved(call)
        return loop.watched(call, loop.toolbox.run(call))

    play_asking(brief, take)


class RunsEach(Loop):
    """Runs what stands in an answer, as often as it stands there."""

    def refusal_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> ToolResult | None:
        """The result of a call that may not run; the calls before it are not looked at."""
        return super().refusal_of(call, ())


@mutant(
    breaks="turn",
    statement="A proxy made two of one call, and both ran (catalogue, incident 22)",
    scenario="same-call-twice",
    killed_by="effect_once.again",
)
def runs_doubled_calls(brief: Brief) -> None:
    """A call that stands twice in an answer, under one id, is run twice.

    The reference agent that takes each block for a call.
    """
    build(brief, turn=RunsEach).run()


def _take(loop: Loop, call: ToolUse, *, kept: Path, by_call: bool = False) -> ToolResult:
    """Ask, and go by the first answer that was ever given to such a question."""
    assert loop.toolbox._ask is not None
    said = loop.toolbox._ask(call.name, call.input, id=call.id)
    known = json.loads(kept.read_text()) if kept.exists() else {}
    place = call.id if by_call else f"{call.name} {canonical(call.input)}"
    answer = known.setdefault(place, said.answer)
    kept.write_text(json.dumps(known))
    if answer == "allow":
        return loop.watched(call, loop.toolbox.run(call))
    return ToolResult(call.id, f"The user denied it. {said.reason}", is_error=True)


def _right_serves_the_first_answer(brief: Brief) -> None:
    """One that keeps them by the id of the call."""
    kept = Path(brief.session_dir) / "answers.json"
    play_asking(brief, partial(_take, kept=kept, by_call=True))


@mutant(
    breaks="turn",
    statement="A second resume is served the value of the first (langgraph#6663)",
    scenario="asked-again-decided-otherwise",
    killed_by="approval.denied",
    look_alike=_right_serves_the_first_answer,
)
def serves_the_first_answer(brief: Brief) -> None:
    """The user's answer is kept by the call's words, and served when the same call is asked again.

    The reference agent that keeps answers by what was asked.
    """
    play_asking(brief, partial(_take, kept=Path(brief.session_dir) / "answers.json"))


class DeniesTheBatch(Loop):
    """Tells each call of a stopped turn as not run, also those that ran."""

    def result_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> ToolResult:
        """A refusal once the user has stopped the turn."""
        result = super().result_of(call, earlier)
        denied = ToolResult(call.id, "Not run: the user cancelled the turn.", is_error=True)
        return denied if self.is_cancelled() else result


def _right_tells_what_ran_before_the_stop(brief: Brief) -> None:
    """Adds to a result that the user stopped the turn after it."""
    build(brief, turn=TellsTheStop).run()


class TellsTheStop(Loop):
    """Says at each call of a stopped turn that it was stopped."""

    def result_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> ToolResult:
        """The result, with the words that the rest of its batch will not run."""
        result = super().result_of(call, earlier)
        if result.is_error or not self.is_cancelled():
            return result
        return ToolResult(call.id, f"{result.text}\n[The user cancelled the turn after this call.]")


@mutant(
    breaks="turn",
    statement="After a stop a call that ran is told as not run (anthropics/claude-code#64095)",
    scenario="cancel/between-tools",
    killed_by="result_carried.failed",
    look_alike=_right_tells_what_ran_before_the_stop,
)
def stopped_batches_are_not_run(brief: Brief) -> None:
    """After a stop the model reads of each call of the batch that it did not run.

    The reference agent that answers the whole batch by its stop.
    """
    build(brief, turn=DeniesTheBatch).run()


class FillsIn(Loop):
    """Writes a result for each call that a stop leaves over."""

    def refusal_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> ToolResult | None:
        """A result that reads like a success."""
        return ToolResult(call.id, "Done.") if self.is_cancelled() else None


@mutant(
    breaks="turn",
    statement="After a stop the calls that never ran are told as done (Zoo-Code-Org/Zoo-Code#1716)",
    scenario="cancel/between-tools",
    killed_by="result_carried.invented",
)
def stopped_calls_are_done(brief: Brief) -> None:
    """The calls that a stop leaves over get a result so that the API takes the history: "Done.".

    The reference agent that closes what a stop leaves open.
    """
    build(brief, turn=FillsIn).run()


@mutant(
    breaks="turn",
    statement="Answers are taken in their order, and not by their call (langgraph#6533)",
    scenario="allowed-payment/about-another-call",
    killed_by="approval.another",
)
def takes_any_approval(brief: Brief) -> None:
    """An answer about another call is taken for the answer about this one.

    The reference agent that asks once and compares no ids.
    """

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        assert loop.toolbox._ask is not None
        loop.toolbox._ask(call.name, call.input, id=call.id)
        return loop.watched(call, loop.toolbox.run(call))

    play_asking(brief, take)


@mutant(
    breaks="turn",
    statement="A call is asked about at its plan and again at its run (curie-eng/curie#430)",
    scenario="allowed-payment",
    killed_by="approval.again",
)
def asks_twice_for_one_call(brief: Brief) -> None:
    """The user allows a call, and the tool that runs it asks again.

    The reference agent with two gates.
    """

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        loop.toolbox.approved(call)
        return Loop.result_of_gated(loop, call)

    play_asking(brief, take)
