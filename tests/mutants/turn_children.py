"""The sub-agents of a turn: wrong agents that lose count of them, or of what they said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.task_tool import TaskTranscript
from harness.agent.turn_policy import BudgetedModel, Policy, open_budget
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse, assistant
from tests.mutants import mutant
from tests.mutants.children_handled import play_telling


def own_account(
    brief: Brief, transcript: Any, paid: BudgetedModel, *parts: Any, **more: Any
) -> Loop:
    """A loop whose model is paid from an account that was opened for it alone."""
    account = open_budget(Policy(), brief.clock.now_ms)
    return Loop(transcript, BudgetedModel(paid._model, account), *parts, **more)


@mutant(
    breaks="turn",
    statement="Sub-agents each kept to their budget, and cost six times the message's (87, 90)",
    scenario="children-spend-the-budget",
    killed_by="budget_ceiling.tokens",
)
def children_have_their_own_account(brief: Brief) -> None:
    """Each sub-agent has its own budget, and the turn pays for none of them.

    The reference agent whose family does not share.
    """
    build(brief, turn=partial(own_account, brief), spawns=True).run()


class _Loop(Loop):
    def check(self) -> None:
        """Learn of a cancel, and go on where this is a child."""
        if isinstance(self.transcript, TaskTranscript):
            self.is_cancelled()
        else:
            super().check()


def _right_children_outlive_their_turn(brief: Brief) -> None:
    """The reference agent with children, which end with their turn."""
    build(brief, spawns=True).run()


@mutant(
    breaks="turn",
    statement="A stop reaches the parent and no child (agentscope-java #2408, codex #15732)",
    scenario="cancelled-with-a-child",
    killed_by="child_cancelled.goes_on",
    look_alike=_right_children_outlive_their_turn,
)
def children_outlive_their_turn(brief: Brief) -> None:
    """The user cancels a turn, and the children that it waits for work on.

    The reference agent whose children see a cancel and go on.
    """
    build(brief, turn=_Loop, spawns=True).run()


class _Trusted(Loop):
    def result_of_gated(self, call: ToolUse) -> ToolResult:
        """Ask the user, but not for a child."""
        if isinstance(self.transcript, TaskTranscript):
            return self.watched(call, self.toolbox.run(call))
        return super().result_of_gated(call)


@mutant(
    breaks="turn",
    statement="Tools that need an approval run unasked in a child (auxilia #301, kronos #25)",
    scenario="child-that-needs-an-approval",
    killed_by="approval.not_asked",
    look_alike=_right_children_outlive_their_turn,
)
def children_ask_nobody(brief: Brief) -> None:
    """A child runs each call at once, and its parent asks the user.

    The reference agent whose children do not ask.
    """
    build(brief, turn=_Trusted, spawns=True).run()


@mutant(
    breaks="turn",
    statement="A parent reads 1/1 succeeded in place of its child's words (pi-subagents #25)",
    scenario="result-of-a-child",
    killed_by="child_result.lost",
)
def counts_its_children(brief: Brief) -> None:
    """Each child is told by whether it succeeded, and not by what it said.

    The reference agent whose children leave a number.
    """

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        return ToolResult(call.id, "0/1 succeeded" if result.is_error else "1/1 succeeded")

    play_telling(brief, tell)


def _right_cuts_its_children(brief: Brief) -> None:
    """The reference agent that cuts what its children say, and says so."""

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        return ToolResult(call.id, f"{result.text[:100]} [cut]", result.is_error)

    play_telling(brief, tell)


@mutant(
    breaks="turn",
    statement="A parent reads the first 100 characters of a child (earendil-works/pi#4710)",
    scenario="result-of-a-child",
    killed_by="child_result.part",
    look_alike=_right_cuts_its_children,
)
def cuts_its_children(brief: Brief) -> None:
    """The words of a child are cut, and nothing says so.

    The reference agent that cuts what its children say.
    """

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        return ToolResult(call.id, result.text[:100], result.is_error)

    play_telling(brief, tell)


def _right_each_child_succeeds(brief: Brief) -> None:
    """The reference agent that tells of a failed child in words alone."""

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        told = f"It did not get there: {result.text}" if result.is_error else result.text
        return ToolResult(call.id, told)

    play_telling(brief, tell)


@mutant(
    breaks="turn",
    statement="A stuck child counts as completed (software-agent-sdk #3703, claude-code #73372)",
    scenario="child-that-does-not-finish/fails",
    killed_by="child_result.told_as_done",
    look_alike=_right_each_child_succeeds,
)
def each_child_succeeds(brief: Brief) -> None:
    """A child that did not finish is told as one that did.

    The reference agent whose children always succeed.
    """

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        return ToolResult(call.id, "Task completed." if result.is_error else result.text)

    play_telling(brief, tell)


@mutant(
    breaks="turn",
    statement="Results are kept by tool, so each call gets the first one",
    scenario="result-of-a-child",
    killed_by="child_result.another",
)
def first_child_speaks_for_all(brief: Brief) -> None:
    """The result of the first child is given to the calls of all.

    The reference agent that knows one result.
    """

    first: list[str] = []

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        first.append(result.text)
        return ToolResult(call.id, first[0], result.is_error)

    play_telling(brief, tell)


class _BeginsAFailedChildAgain(Loop):
    """Takes a child that failed for a request that failed."""

    def result_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> ToolResult:
        """The result of a call; a child that failed gets its prompt a second time."""
        result = super().result_of(call, earlier)
        if call.name != "task" or not result.is_error:
            return result
        again = super().result_of(ToolUse(f"{call.id}-again", call.name, call.input), earlier)
        return ToolResult(call.id, again.content, again.is_error)


@mutant(
    breaks="turn",
    statement="A failed child is started again from its prompt, and acts twice",
    scenario="child-that-does-not-finish/fails-after-it-acted",
    killed_by="effect_once.effect",
    look_alike=_right_each_child_succeeds,
)
def begins_a_failed_child_again(brief: Brief) -> None:
    """A child whose model failed begins again from its prompt, and what it did is done twice.

    The reference agent that retries its children.
    """
    build(brief, turn=_BeginsAFailedChildAgain, spawns=True).run()


def _right_fills_in_for_a_silent_child(brief: Brief) -> None:
    """The reference agent that says of an empty answer that nothing was said."""

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        text = "The task has ended, and nothing was said." if result.is_error else result.text
        return ToolResult(call.id, text)

    play_telling(brief, tell)


@mutant(
    breaks="turn",
    statement="A child ends without a text, and its parent reads `Task completed.` (mastra #21042)",
    scenario="child-that-does-not-finish/empty-answer",
    killed_by="child_result.told_as_done",
    look_alike=_right_fills_in_for_a_silent_child,
)
def fills_in_for_a_silent_child(brief: Brief) -> None:
    """A child that said nothing at its end is told as one that did its work.

    The reference agent with a word for such a child.
    """
    each_child_succeeds(brief)


class _FirstWords(Loop):
    def run(self) -> Outcome:
        """End with the first words of a child, even if it did not finish."""
        outcome = super().run()
        if not isinstance(self.transcript, TaskTranscript):
            return outcome
        said = [m for m in self.transcript.messages if m.role == "assistant" and m.text]
        return Outcome("ok", assistant(said[0].text)) if said else outcome

    def conclude(self, why: str) -> Outcome:
        """Ask the model for no last words."""
        return Outcome("failed", assistant(why))


@mutant(
    breaks="turn",
    statement="A child at its limit hands up what it said on the way (claude-code #73372)",
    scenario="child-that-does-not-finish/at-its-limit",
    killed_by="child_result.told_as_done",
)
def hands_up_first_words(brief: Brief) -> None:
    """The first words of a child are its result, even if it was stopped at its limit.

    The reference agent whose children end with their first words.
    """
    build(brief, turn=_FirstWords, spawns=True).run()


@mutant(
    breaks="turn",
    statement="A parent reads an announcement of its child and not what it found (opencode #32132)",
    scenario="result-of-a-child/with-words-on-the-way",
    killed_by="child_result.lost",
)
def hands_up_an_announcement(brief: Brief) -> None:
    """A child announces its work, does it and tells what it found; the announcement is handed up.

    The reference agent whose children end with their first words.
    """
    hands_up_first_words(brief)


@mutant(
    breaks="turn",
    statement="A child gets a text of the program in place of the task of its call",
    scenario="result-of-a-child/with-words-on-the-way",
    killed_by="child_result.unasked",
)
def gives_each_child_one_task(brief: Brief) -> None:
    """Each child begins with the same words.

    The reference agent whose children do not know what they are for.
    """
    build(brief, turn=_Uninformed, spawns=True).run()


class _Uninformed(Loop):
    """A loop that gives a child one text, and no other."""

    def __init__(self, transcript: Any, *parts: Any, **more: Any) -> None:
        if isinstance(transcript, TaskTranscript):
            transcript = TaskTranscript("Please help me with it.")
        super().__init__(transcript, *parts, **more)
