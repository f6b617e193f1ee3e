"""The messages that a turn sends: wrong agents that add to them, or lose some."""

from __future__ import annotations

import re

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.failures import ModelFailure
from harness.agent.toolbox import error_result
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text, ToolResult, ToolUse, assistant, user
from tests.mutants import mutant
from tests.mutants.approvals_handled import play_asking
from tests.mutants.changed_messages import ChangedMessages
from tests.mutants.early import Early


class AppendsAgain(Loop):
    """Adds the message that began the turn to each request after the first."""

    def messages(self) -> tuple[Message, ...]:
        """The messages, with the user's own at the end again."""
        messages = super().messages()
        own = [m for m in messages if m.role == "user" and not m.tool_results]
        return messages if messages[-1] in own else (*messages, own[-1])


@mutant(
    breaks="turn",
    statement="The function that asks the model also appends the message, so it stands there twice",
    scenario="one-of-many-fails@openai-chat",
    killed_by="inbound_exactly_once.doubled",
)
def adds_the_message_again(brief: Brief) -> None:
    """Each step of a turn adds the user's message again.

    The reference agent that adds the message again.
    """
    build(brief, turn=AppendsAgain).run()


class Cutting(Early):
    """Cuts by message count."""

    def shorten(self, summary: str) -> None:
        """Keep one message."""
        asked = [m for m in self.transcript.messages if m.role == "user" and m.text]
        words = (user(summary).blocks[0], *asked[-1].blocks)
        self.transcript.compact(Message("user", words), keep=1)


@mutant(
    breaks="turn",
    statement="A cut by message count goes through a call and its result (OpenHands #6357)",
    scenario="in-good-time",
    killed_by="compaction_preserves.open_call",
)
def compacts_open_calls(brief: Brief) -> None:
    """A compaction keeps the last message, which is a result, and not the call before it.

    The reference agent that compacts in the middle of a call.
    """
    build(brief, turn=Cutting).run()


class Forgetting(Early):
    """Keeps the last call with its result, and nothing else."""

    def shorten(self, summary: str) -> None:
        """The summary stands for the question."""
        self.transcript.compact(user(summary), keep=2)


@mutant(
    breaks="turn",
    statement="The question of the turn is summed up with the rest (OpenHands #6357)",
    scenario="in-good-time",
    killed_by="compaction_preserves.last_message",
)
def compacts_the_question(brief: Brief) -> None:
    """A compaction sums up what the user asks, too.

    The reference agent that no longer knows what it was asked.
    """
    build(brief, turn=Forgetting).run()


class Dropping(Early):
    """Drops first and looks afterwards."""

    def shorten(self, summary: str) -> None:
        """Keep the question and the last two messages, for any summary."""
        asked = [m for m in self.transcript.messages if m.role == "user" and m.text]
        self.transcript.compact(Message("user", asked[-1].blocks), keep=2)


@mutant(
    breaks="turn",
    statement="An empty summary replaces a history that was not refused (seed 61)",
    scenario="in-good-time/without-a-summary",
    killed_by="compaction_preserves.failed",
)
def compacts_without_a_summary(brief: Brief) -> None:
    """The summary is empty, and the history is dropped all the same.

    The reference agent that takes nothing for a summary.
    """
    build(brief, turn=Dropping).run()


class HalfReplyHasLastWord(Loop):
    """Wants the model to go on where it was."""

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Try again, behind what was said."""
        super().recover(failure, times)
        self.transcript.append(assistant("Ada is"))


@mutant(
    breaks="turn",
    statement="A request ends with the assistant, as newer models refuse (incidents 33, 34)",
    scenario="reply-before-a-retry+stream",
    killed_by="ends_with_user.assistant",
)
def half_reply_has_last_word(brief: Brief) -> None:
    """What came of a broken reply is kept as a message before the request is made again.

    The reference agent that goes on with half a reply.
    """
    build(brief, turn=HalfReplyHasLastWord).run()


class KeepsARefusedPicture(Loop):
    """A loop that takes a refused picture for a refused request."""

    def recover(self, failure: ModelFailure, times: int) -> None:
        """End the turn, and leave the history as it is."""
        if failure.kind == "picture":
            raise failure
        super().recover(failure, times)


@mutant(
    breaks="turn",
    statement="Each message is refused for the same picture (anthropics/claude-code#15478)",
    scenario="refused-picture",
    killed_by="no_blind_resend.same_content",
)
def keeps_a_refused_picture(brief: Brief) -> None:
    """A picture that the provider refused stays in each later request.

    The reference agent that keeps each picture.
    """
    build(brief, turn=KeepsARefusedPicture).run()


@mutant(
    breaks="turn",
    statement="The edited input is lost on the way (pydantic/pydantic-ai#3274)",
    scenario="allowed-payment",
    killed_by="approval.input",
)
def loses_the_users_edit(brief: Brief) -> None:
    """The user edits the input of a call, and the input of the model runs.

    The reference agent that takes a yes or a no from the answer, and nothing else.
    """

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        approval = loop.toolbox.approved(call)
        if approval.answer != "allow":
            return error_result(call, f"Not run: the user denied it. {approval.reason}")
        return loop.watched(call, loop.toolbox.run(call))

    play_asking(brief, take)


class Obeys(Loop):
    """Adds the newest result to each request, as an instruction."""

    def messages(self) -> tuple[Message, ...]:
        """The messages; results are followed by a hint."""
        *before, last = super().messages()
        said = [result.text for result in last.tool_results]
        hint = [Text(f"Follow these instructions exactly: {said[-1]}")] if said else []
        return (*before, Message(last.role, (*last.blocks, *hint)))


@mutant(
    breaks="turn",
    statement="A hint with the newest result gives the words of a page the voice of the user",
    scenario="what-the-tools-said/a-table",
    killed_by="result_carried.voiced",
)
def obeys_its_tools(brief: Brief) -> None:
    """What a tool said is told again as a message of the user.

    The reference agent that repeats results as instructions.
    """
    build(brief, turn=Obeys).run()


class Formatted(ChangedMessages):
    """A prompt that is formatted with nothing."""

    def changed(self, text: str) -> str:
        """The text without what a template would fill."""
        return re.sub(r"\{\w+\}", "", text)


@mutant(
    breaks="gateway",
    statement="A message is a template to the prompt: names in braces are filled with nothing",
    scenario="pasted-into-the-chat/markup-and-quotes",
    killed_by="inbound_exactly_once.changed",
)
def takes_messages_for_templates(brief: Brief) -> None:
    """Of `{name}` in a message, the model reads nothing.

    The reference agent that formats each text.
    """
    build(brief, gateway=Formatted).run()
