"""Agents that do not know when a turn is over, or end it in another way than they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import is_on, standard_model
from harness.agent.guards import EndTurn, Guard, Guide, Proceed, Refuse
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions import turn_outcome as ends
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse, assistant, canonical, user
from tests.mutants.second_model import SecondModel

_ENDLESS = Policy(max_model_calls=500, max_failures=500)


class _Hooked(Loop):
    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """Add a message of the hook behind each last word."""
        self.transcript.append(answer.message)
        self.transcript.append(user("[stop hook] You may not stop yet. Continue."))
        return None


def hook_after_each_stop(brief: Brief) -> None:
    """A hook puts in a message each time the model stops."""
    build(brief, turn=_Hooked, policy=_ENDLESS).run()


class _NextSpeaker(Loop):
    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """Ask who speaks next: the model, as always."""
        self.transcript.append(answer.message)
        self.transcript.append(user("Please continue."))
        return None

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Fall back, and count from zero."""
        self.counts.clear()


def continues_after_each_fallback(brief: Brief) -> None:
    """Speaks to itself, and counts its tries from zero after each fallback."""
    build(brief, turn=_NextSpeaker, policy=_ENDLESS, guards=_no_guards).run()


def _no_guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return ()


class _Unsaid(Loop):
    def conclude(self, reason: str) -> Outcome:
        """End at a bound like a turn that is done."""
        done = ends.answered(assistant("That is all that I found."), "end_turn")
        assert done is not None
        return done


def stops_at_a_limit_without_a_word(brief: Brief) -> None:
    """Ends with a text that sounds like an answer when the limit of steps is reached."""
    build(brief, turn=_Unsaid, guards=_no_guards).run()


class _EqualCalls:
    """Counts only calls, without their results and without the calls between them."""

    def __init__(self) -> None:
        self._seen: list[str] = []

    def begin_step(self) -> None:
        """Nothing to do."""

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """End the turn at the fourth equal call."""
        self._seen.append(f"{call.name} {canonical(call.input)}")
        looped = self._seen.count(self._seen[-1]) > 3
        return EndTurn("you are in a loop.") if looped else Proceed()

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide | EndTurn:
        """Nothing to say."""
        return Proceed()


def ends_at_equal_calls(brief: Brief) -> None:
    """Stops ordinary work, because one of its calls is made again."""
    build(brief, guards=lambda tools: (_EqualCalls(),)).run()


class _TakesCutsForDrops(SecondModel):
    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Take an answer that ran into its limit for a line that dropped."""
        if answer.stop == "max_tokens":
            raise ModelFailure("broken_stream", "the answer is not complete")
        return answer


def asks_for_the_same_cut_again(brief: Brief) -> None:
    """Retries a degenerate answer as if the line had dropped."""
    policy = Policy(retries={"broken_stream": 5})
    build(brief, model=_TakesCutsForDrops(standard_model(brief)), policy=policy).run()


class _Whole(SecondModel):
    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Ignore the output and its stop reason."""
        is_cut = answer.stop == "max_tokens"
        return msgspec.structs.replace(answer, stop="end_turn") if is_cut else answer


def takes_any_output(brief: Brief) -> None:
    """Guards no output: a word that is repeated up to the length limit is an answer."""
    build(brief, model=_Whole(standard_model(brief))).run()


class _LimitAsAnswer(Loop):
    def conclude(self, reason: str) -> Outcome:
        """Hand the text of the limit on as the output."""
        done = ends.answered(assistant("Agent stopped due to max iterations."), "end_turn")
        assert done is not None
        return done


def answers_with_the_limit(brief: Brief) -> None:
    """Returns the text of its limit as an output of success."""
    build(brief, turn=_LimitAsAnswer).run()


def forgets_the_limit_when_it_streams(brief: Brief) -> None:
    """Knows the limit of steps in the old path of its code, and not in the one that streams."""
    build(brief, policy=_ENDLESS if is_on(brief, "stream") else Policy()).run()


def counts_one_side(brief: Brief) -> None:
    """Counts the replies of one of two sides, and lets the other go on."""

    def loop(
        transcript: Any,
        model: Any,
        tools: Any,
        watch: Any,
        overflow: Any,
        policy: Policy,
        **more: Any,
    ) -> Loop:
        said = "".join(message.text for message in transcript.messages)
        bound = policy if "took part" in said else _ENDLESS
        return Loop(transcript, model, tools, watch, overflow, bound, **more)

    build(brief, turn=loop).run()
