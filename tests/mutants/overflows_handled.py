"""What follows a request that is too long: wrong agents that compact at the wrong time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import standard_model
from harness.agent.context_overflow import Ask, Compacted, Compaction, Escalation, compact
from harness.agent.conversation.history_size import begins_turn, clip, estimate_tokens
from harness.agent.conversation.projection import project
from harness.agent.gateway import Gateway
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import LanguageModel, ModelAnswer, Query
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Block, Message, ToolResult, canonical, user
from tests.mutants import mutant


class Anxious(Loop):
    """Makes the history shorter before it asks."""

    def query(self, tools_withdrawn: bool = False) -> ModelAnswer:
        """The answer to what a compaction leaves."""
        if len(self.transcript.messages) > 1 and not self.counts["model calls"]:
            self.overflow.shrink(self.transcript, "", self.model.query)
        return super().query(tools_withdrawn)


@mutant(
    breaks="overflow",
    statement='A conversation is compacted after "hi" (incident 44)',
    scenario="compaction-after-hi/far-below-the-window",
    killed_by="compaction_due.early",
)
def compacts_after_hi(brief: Brief) -> None:
    """The limit of the model is not configured, so that each conversation is over it.

    The reference agent with a limit of nothing.
    """
    small = partial(compact, saves_enough=lambda *_: True)
    build(brief, turn=Anxious, compaction=small).run()


@mutant(
    breaks="overflow",
    statement="When one session is too long, the long results of all others are cleared too",
    scenario="overflow-in-a-tool-loop/beside-another-session",
    killed_by="append_only_prefix.messages",
)
def clears_results_of_all_sessions(brief: Brief) -> None:
    """What one session needed stands for the agent, so another one loses what it had room for.

    The reference agent whose bound of results is not kept by session.
    """
    refusals = list[str]()

    class Marking(Escalation):
        def shrink(self, transcript: SessionTranscript, refusal: str, ask: Ask) -> bool:
            refusals.append(refusal)
            return super().shrink(transcript, refusal, ask)

    def cleared(block: Block) -> Block:
        is_long = refusals and isinstance(block, ToolResult) and len(block.text) > 999
        return replace(block, content="(cleared to save room)") if is_long else block

    def projection(rows: Sequence[Message]) -> list[Message]:
        return [replace(row, blocks=tuple(map(cleared, row.blocks))) for row in project(rows)]

    build(brief, overflow=Marking, projection=projection).run()


class Repeating(Escalation):
    """Builds the query of an attempt on what the last attempt left."""

    def shrink(self, transcript: SessionTranscript, refusal: str, ask: Ask) -> bool:
        """Ask again, in writing."""
        question = [message for message in transcript.messages if begins_turn(message)][-1]
        shrunk = super().shrink(transcript, refusal, ask)
        transcript.append(question)
        return shrunk


@mutant(
    breaks="overflow",
    statement="The history is not rolled back before the next attempt (AutoGPT #12413)",
    scenario="overflow-shapes",
    killed_by="inbound_exactly_once.doubled",
)
def asks_again_in_history(brief: Brief) -> None:
    """Each attempt adds the question to the history again.

    The reference agent that repeats the question.
    """
    build(brief, overflow=Repeating).run()


class Late(Gateway):
    """Makes the history shorter between turns."""

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on one message, and then look at the size."""
        loop = self.loop_for(inbound, transcript)
        outcome = loop.run()
        self.settle(inbound, transcript, outcome)
        if outcome.status == "failed":
            compacted = compact(transcript.messages, 1_000, loop.model.query)
            if compacted is not None:
                transcript.compact(compacted.summary, compacted.keep)


@mutant(
    breaks="overflow",
    statement="The window fills up inside a tool loop, and nothing looks there (incident 50)",
    scenario="checked-only-between-turns",
    killed_by="compaction_due.missed",
)
def compacts_between_turns(brief: Brief) -> None:
    """The size of the conversation is looked at when a turn is over, and at no other time.

    The reference agent that lets a turn run into the window.
    """
    build(brief, gateway=Late, overflow=partial(Escalation, stages=())).run()


class _ClearsResults:
    """A model whose requests have a note in place of each result, after a refusal for size.

    `kept` results at the end stay."""

    def __init__(self, model: LanguageModel, kept: int = 0) -> None:
        self._model, self._kept, self._cleared = model, kept, 0

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        try:
            return self._model.query(self._sent(query), show)
        except ModelFailure as failure:
            self._cleared = max(len(query.messages) - self._kept, 0)
            if failure.kind != "overflow" or query.purpose == "compact":
                raise
            return self._model.query(self._sent(query), show)

    def _sent(self, query: Query) -> Query:
        cleared = [_noted(m) for m in query.messages[: self._cleared]]
        return replace(query, messages=(*cleared, *query.messages[self._cleared :]))


def _noted(message: Message) -> Message:
    note = "(older results are omitted)"
    blocks = (ToolResult(b.id, note) if isinstance(b, ToolResult) else b for b in message.blocks)
    return Message(message.role, tuple(blocks))


def _right_keeps_the_unread(brief: Brief) -> None:
    """The agent that clears all results but the last, which no model has read."""
    build(brief, model=_ClearsResults(standard_model(brief), kept=1)).run()


@mutant(
    breaks="overflow",
    statement="After a refusal for size all results are cleared, also the one that is not read yet",
    scenario="checked-only-between-turns",
    killed_by="result_carried.clipped",
    look_alike=_right_keeps_the_unread,
)
def clears_what_was_refused(brief: Brief) -> None:
    """The model asked for a result, and reads that older results are omitted.

    The reference agent that clears results by their age, and not by whether they were read.
    """
    build(brief, model=_ClearsResults(standard_model(brief))).run()


def _compact_again(compaction: Compaction) -> Escalation:
    return Escalation(compaction, ("compact", "compact", "compact"))


@mutant(
    breaks="overflow",
    statement="A compaction that was not enough is compacted again (AutoGPT #12413, first draft)",
    scenario="prompt-too-long/compacted-still-too-long",
    killed_by="compaction_progress",
)
def compacts_twice(brief: Brief) -> None:
    """The last attempt compacts again in place of dropping the history.

    The reference agent with compaction at every stage.
    """
    build(brief, overflow=_compact_again).run()


class AtOnce(Escalation):
    """Compacts whenever it is told that the prompt is too long."""

    def shrink(self, transcript: SessionTranscript, refusal: str, ask: Ask) -> bool:
        """Begin with a compaction each time."""
        self._left, self._taken = ["compact"], []
        return super().shrink(transcript, refusal, ask)


def _barely(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    compacted = compact(messages, budget_tokens, ask, saves_enough=lambda *_: True)
    if compacted is None:
        return None
    told = "\n".join(canonical(message) for message in messages)
    spare = estimate_tokens(messages) * 9 // 10 - estimate_tokens(messages[-compacted.keep :])
    return Compacted(user(clip(told, max(spare, 1) * 4)), compacted.keep)


@mutant(
    breaks="overflow",
    statement="A target just under the trigger compacts again at once (AutoGPT #12625)",
    scenario="overflow-in-a-tool-loop/fills-up-slowly",
    killed_by="compaction_progress",
)
def just_under_the_trigger(brief: Brief) -> None:
    """Each compaction saves as little as it can.

    The reference agent without room after a compaction.
    """
    build(brief, overflow=AtOnce, compaction=_barely).run()


class Replaying(Escalation):
    """Starts the turn again, tools and all."""

    def __init__(self, brief: Brief, compaction: Compaction) -> None:
        super().__init__(compaction)
        self._tools = {tool.name: tool for tool in brief.tools}

    def shrink(self, transcript: SessionTranscript, refusal: str, ask: Ask) -> bool:
        """Run what was run."""
        for message in transcript.messages:
            for call in message.tool_uses:
                self._tools[call.name].call(call.input, id=call.id)
        return super().shrink(transcript, refusal, ask)


@mutant(
    breaks="overflow",
    statement="A retry after tool events runs side effects twice, in silence (AutoGPT #12413)",
    scenario="overflow-in-a-tool-loop",
    killed_by="effect_once.again",
)
def replays_tools(brief: Brief) -> None:
    """Before the second attempt the calls of the turn are carried out again.

    The reference agent that does its work twice.
    """
    build(brief, overflow=lambda compaction: Replaying(brief, compaction)).run()
