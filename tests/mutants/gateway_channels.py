"""Between a chat and the agent: keys of messages, replies that a channel refuses, white space."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

import msgspec

from harness.agent import build
from harness.agent.composition import standard_model
from harness.agent.gateway import Gateway
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import assistant
from tests.mutants import mutant
from tests.mutants.changed_replies import ChangedReplies


class Folded(ChangedReplies):
    """Folds white space."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The answer on one line."""
        return " ".join(outcome.text.split())


@mutant(
    breaks="gateway",
    statement="White space of a reply is folded, and code in it does not run (getnao/nao#1606)",
    scenario="reply-as-the-model-said-it/with-code",
    killed_by="reply_carried.code",
)
def folds_replies(brief: Brief) -> None:
    """A block of code goes out on one line. The reference agent that folds each reply."""
    build(brief, gateway=Folded).run()


class OneSpeaker(ChangedReplies):
    """Takes the name of a speaker for the end."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The answer up to the first line that begins with a speaker."""
        return re.split(r"(?m)^(?:User|Human|Assistant):", outcome.text)[0]


@mutant(
    breaks="gateway",
    statement="A reply ends where a line begins with `User:` (nexu-io/open-design#3247)",
    scenario="reply-as-the-model-said-it/with-words-that-programs-look-for",
    killed_by="reply_carried.cut",
)
def ends_replies_at_a_speaker(brief: Brief) -> None:
    """A dialogue that the model quotes is cut as if the model had spoken for the user.

    The reference agent that cuts each reply at the name of a speaker.
    """
    build(brief, gateway=OneSpeaker).run()


class Silence(ChangedReplies):
    """Takes a word out of each reply."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The answer without the word by which the model says nothing."""
        return outcome.text.replace("NO_REPLY", "").strip() or outcome.text


@mutant(
    breaks="gateway",
    statement="A sentence about `NO_REPLY` loses the word (openclaw's word for no reply)",
    scenario="reply-as-the-model-said-it/with-words-that-programs-look-for",
    killed_by="reply_carried.cut",
)
def cuts_the_word_for_silence(brief: Brief) -> None:
    """The word that keeps a reply back is cut out of sentences that speak about it.

    The reference agent that takes the word out of each reply.
    """
    build(brief, gateway=Silence).run()


class FromOne(ChangedReplies):
    """Numbers lists."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The answer with the items of its lists numbered from 1."""
        lines, number = list[str](), 0
        for line in outcome.text.splitlines():
            item = re.match(r"\d+\. ", line)
            number = number + 1 if item else 0
            lines.append(f"{number}. {line[item.end() :]}" if item else line)
        return "\n".join(lines)


@mutant(
    breaks="gateway",
    statement="A list that begins with step 3 is numbered from 1, beside words about step 3",
    scenario="reply-as-the-model-said-it/with-words-that-programs-look-for",
    killed_by="reply_carried.cut",
)
def numbers_lists_from_1(brief: Brief) -> None:
    """The text speaks of steps 3 and 4, and the list of 1 and 2.

    The reference agent that numbers each list of a reply.
    """
    build(brief, gateway=FromOne).run()


class ByJoinedKey(Gateway):
    """Joins the session and the id of a message."""

    def receive(self, inbound: Inbound) -> None:
        """Skip each key that came before."""
        key = f"{inbound.session}:{inbound.id}"
        if key not in {f"{session}:{known}" for session, known in self.own_messages}:
            super().receive(inbound)


@mutant(
    breaks="gateway",
    statement="Message 2 of chat `a:1` is taken for message `1:2` of chat `a` (unseen, C)",
    scenario="chats-that-count-alike/keys-that-join-to-one",
    killed_by="inbound_exactly_once.lost",
)
def joins_the_key_of_a_message(brief: Brief) -> None:
    """A message is known by its session and its id as one text.

    The reference agent that takes a message for a copy of another chat's.
    """
    build(brief, gateway=ByJoinedKey).run()


class OneListForAllChats(Gateway):
    """Keeps what could not be sent in one list, and sends it with the next reply of any chat."""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send a reply once, after those that wait."""
        waiting = self.__dict__.setdefault("waiting", list[str]())
        for _ in range(len(waiting)):
            self.brief.send(waiting.pop(0), "notice", inbound.session)
        try:
            self.brief.send(outcome.text, outcome.kind, inbound.session, inbound.id)
        except Exception:
            waiting.append(outcome.text)
        return True


@mutant(
    breaks="gateway",
    statement="A reply that its chat refused goes out with the next one, to another chat",
    scenario="confirmation-lost/refused-while-another-chat-waits",
    killed_by="outbound_once.missing",
)
def sends_later_to_another_chat(brief: Brief) -> None:
    """Replies that could not be sent wait in one list for all chats.

    The reference agent whose list knows no chat.
    """
    build(brief, gateway=OneListForAllChats).run()


class Done:
    """Says "Done." where the model says nothing."""

    def __init__(self, brief: Brief) -> None:
        self._inner = standard_model(brief)

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The answer, and a word for an empty one."""
        answer = self._inner.query(query, show)
        if answer.message.text.strip() or answer.message.tool_uses:
            return answer
        return msgspec.structs.replace(answer, message=assistant("Done."))


@mutant(
    breaks="model",
    statement='An empty answer is told as "Done."',
    scenario="nothing-said-forty-times",
    killed_by="truthful_outcome.unfounded",
)
def says_done_for_nothing(brief: Brief) -> None:
    """The user reads "Done." where the model answered nothing.

    The reference agent with a word of its own for an empty answer.
    """
    build(brief, model=Done(brief)).run()


class StopsAtAWord(Gateway):
    """Takes a message that begins with the word for a stop."""

    def receive(self, inbound: Inbound) -> None:
        """Tell a stop, and ask no model."""
        if not inbound.text.lower().startswith(("stop", "cancel")):
            return super().receive(inbound)
        names = {"session": inbound.session, "in_reply_to": inbound.id}
        return self.brief.send("Stopped.", status="cancelled", **names)


@mutant(
    breaks="gateway",
    statement="A word at the start of a message stops the agent (openclaw/openclaw#105742)",
    scenario="pasted-into-the-chat/words-of-a-command",
    killed_by="inbound_exactly_once.lost",
)
def stops_at_a_word(brief: Brief) -> None:
    """A message whose first word is a command is taken for it.

    The reference agent that looks at the beginning of a message.
    """
    build(brief, gateway=StopsAtAWord).run()


class Escaped(ChangedReplies):
    """Escapes what goes out."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The answer as a page would hold it."""
        return escape(outcome.text)


@mutant(
    breaks="gateway",
    statement="The user reads codes in place of signs, for no page shows the reply",
    scenario="reply-as-the-model-said-it/with-markup",
    killed_by="reply_carried.escaped",
)
def escapes_replies(brief: Brief) -> None:
    """The answer is escaped for a page, and the channel shows plain text.

    The reference agent that escapes each reply.
    """
    build(brief, gateway=Escaped).run()


class AsBlock(ChangedReplies):
    """Sends the block of an answer as Python shows it."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The block that holds the answer."""
        return f"[TextBlock(citations=None, text={outcome.text!r}, type='text')]"


@mutant(
    breaks="gateway",
    statement="The user reads the block of an SDK in place of its text",
    scenario="reply-as-the-model-said-it",
    killed_by="reply_carried.object",
)
def sends_the_block(brief: Brief) -> None:
    """The content of an answer is sent, and not the text of its block.

    The reference agent that sends each reply as a list of blocks.
    """
    build(brief, gateway=AsBlock).run()
