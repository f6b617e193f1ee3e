"""Sub-agents in the background: wrong agents that lose them, or tell the wrong chat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.agent import build
from harness.agent.composition import standard_compaction, standard_store
from harness.agent.context_overflow import Ask, Compacted
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.task_tool import BackgroundTasks
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import mutant
from tests.mutants.children_handled import play_beside


class CompactionDropsTheChildren(BackgroundTasks):
    def drop(self) -> None:
        """Drop what waits."""
        self._ended.clear()


@mutant(
    breaks="background",
    statement="A child ends, the parent is compacted, and no later request holds the result",
    scenario="child-that-ends-twice/compacted-meanwhile",
    killed_by="child_result.lost",
)
def compaction_drops_the_children(brief: Brief) -> None:
    """A compaction drops the state of a session, with the results that waited for a turn.

    The reference agent that forgets after a compaction what has ended.
    """
    store, standard = standard_store(brief), standard_compaction(brief)
    tasks = CompactionDropsTheChildren("queue", store)

    def compaction(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
        compacted = standard(messages, budget_tokens, ask)
        tasks.drop()
        return compacted

    build(brief, store=store, background=tasks, compaction=compaction).run()


class DropsWhatEndsInMidTurn(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Forget what has ended where the turn cannot take it."""
        super().take_in(transcript, session, is_first)
        if not is_first:
            self._ended.clear()


@mutant(
    breaks="background",
    statement="A notice that comes in mid-turn is dropped (claude-code#86200, #87675)",
    scenario="background-result/in-mid-turn",
    killed_by="child_result.lost",
)
def drops_what_ends_in_mid_turn(brief: Brief) -> None:
    """A child that ends while its parent works is not kept for later.

    The reference agent that is told only where it waits.
    """
    play_beside(brief, DropsWhatEndsInMidTurn)


class ForgetsItsChildren(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Take in nothing."""


@mutant(
    breaks="background",
    statement="A background result is written and no parent is told (nearai/ironclaw#4084)",
    scenario="background-result",
    killed_by="child_result.lost",
)
def forgets_its_children(brief: Brief) -> None:
    """The result of a child in the background is kept where the agent never looks.

    The reference agent that never looks for what has ended.
    """
    play_beside(brief, ForgetsItsChildren)


TASK = {
    "name": "task",
    "description": "Start a helper in the background.",
    "input_schema": {"type": "object", "properties": {"prompt": {}, "background": {}}},
}


MODEL = {"model": "claude-sonnet-5", "max_tokens": 500}


def _notes(brief: Brief, prompt: str, number: int, once: bool) -> list[str]:
    """What a child hands up: its text, `once` or at each event that ends an answer."""
    asked = [{"role": "user", "content": prompt}]
    client, text, notes = brief.child(f"child{number}").anthropic(), "", []
    with client.messages.create(messages=asked, stream=True, **MODEL) as stream:
        for event in stream:
            if event.type == "content_block_delta":
                text += event.delta.text
            elif event.type == "message_stop":
                notes.append(f"[child {number} has ended] {text}")
    return notes[:1] if once else notes


def _serve(brief: Brief, once: bool) -> None:
    client, history, notes = brief.anthropic(), list[Any](), list[str]()
    for message in brief.inbox():
        history.append({"role": "user", "content": "\n\n".join([*notes, message.text])})
        notes = []
        while True:
            reply = client.messages.create(messages=history, tools=[TASK], **MODEL)
            said = [block.model_dump(exclude_none=True) for block in reply.content]
            history.append({"role": "assistant", "content": said})
            results = []
            for call in (block for block in reply.content if block.type == "tool_use"):
                notes += _notes(brief, call.input["prompt"], len(history), once)
                begun = {"type": "tool_result", "tool_use_id": call.id, "content": "It has begun."}
                results.append(begun)
            if not results:
                break
            history.append({"role": "user", "content": results})
        brief.send(reply.content[-1].text, in_reply_to=message.id)


def _right_hands_up_a_child_at_each_end(brief: Brief) -> None:
    """A parent that takes the first end of a child alone."""
    _serve(brief, once=True)


@mutant(
    breaks="background",
    statement="The end event of a child comes twice, and so does its result (openclaw #125797)",
    scenario="child-that-ends-twice+stream",
    killed_by="child_result.doubled",
    look_alike=_right_hands_up_a_child_at_each_end,
)
def hands_up_a_child_at_each_end(brief: Brief) -> None:
    """A child in the background is handed up at each event that ends its answer.

    A parent that takes each.
    """
    _serve(brief, once=False)


class HasRoomForOneChild(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Keep the newest end only."""
        self._ended = self._ended[-1:]
        super().take_in(transcript, session, is_first)


@mutant(
    breaks="background",
    statement="Of 12 children 10 are told, as two end at one moment (claude-code #86365)",
    scenario="background-result/two-at-once",
    killed_by="child_result.lost",
)
def has_room_for_one_child(brief: Brief) -> None:
    """Of several children that end at once, the last one is kept.

    The reference agent with one place for a result.
    """
    play_beside(brief, HasRoomForOneChild)


class PrunesLostChildren(BackgroundTasks):
    def _lost(self, session: str) -> list[str]:
        return []


@mutant(
    breaks="background",
    statement="A restart drops running children, and no parent is told (openclaw/openclaw#98112)",
    scenario="lost-child",
    killed_by="child_result.untold",
)
def prunes_lost_children(brief: Brief) -> None:
    """After a restart the children that had not ended are dropped from the books.

    The reference agent that looks for no child after a restart.
    """
    play_beside(brief, PrunesLostChildren)


class TellsOfAChildTwice(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Take in each end once for each way."""
        if is_first:  # an end that waits would double with each request
            self._ended += [each for each in self._ended if each[0] == session]
        super().take_in(transcript, session, is_first)


@mutant(
    breaks="background",
    statement="A completion is captured and announced: it is read twice (openclaw #125797)",
    scenario="background-result",
    killed_by="child_result.doubled",
)
def tells_of_a_child_twice(brief: Brief) -> None:
    """Two ways lead from a child to its parent, and both are taken.

    The reference agent that announces what it has given already.
    """
    play_beside(brief, TellsOfAChildTwice)


class TellsTheMainChat(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Keep what has ended for the main chat."""
        self._ended = [("main", told) for _, told in self._ended]
        super().take_in(transcript, session, is_first)


@mutant(
    breaks="background",
    statement="Notices are routed to the session at the root (claude-code #81438)",
    scenario="result-in-its-own-chat",
    killed_by="child_result.another",
)
def tells_the_main_chat(brief: Brief) -> None:
    """The result of a child goes to the main chat, whichever chat asked for it.

    The reference agent with one place for all results.
    """
    play_beside(brief, TellsTheMainChat)


class TellsWhoeverComesFirst(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Give what has ended to the session that asks."""
        self._ended = [(session, told) for _, told in self._ended]
        super().take_in(transcript, session, is_first)


@mutant(
    breaks="background",
    statement="A completion is routed to another session (claude-code #81438)",
    scenario="background-result/two-chats",
    killed_by="child_result.another",
)
def tells_whoever_comes_first(brief: Brief) -> None:
    """The result of a child goes to the session that has the next turn.

    The reference agent that keeps results by their time.
    """
    play_beside(brief, TellsWhoeverComesFirst)
