"""What the gateway sends to a user: wrong agents that send other words, or to another chat."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, Text, Thinking, user
from tests.mutants import mutant
from tests.mutants.changed_replies import ChangedReplies


class Joined(ChangedReplies):
    """Joins the text that was shown and the final."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The answer, and the answer again."""
        return outcome.text + outcome.text


@mutant(
    breaks="gateway",
    statement="The user reads the answer twice in one message",
    scenario="reply-as-the-model-said-it",
    killed_by="reply_carried.doubled",
)
def doubles_replies(brief: Brief) -> None:
    """The streamed text and the final are joined into one message.

    The reference agent that doubles each reply.
    """
    build(brief, gateway=Joined).run()


class FooterOfAnotherSession(Gateway):
    """Keeps one last reply for all sessions."""

    last = ""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Say how a turn ended, and what was said before."""
        text, self.last = f"{outcome.text}\n\n{self.last}".strip(), outcome.text
        return super().send(inbound, msgspec.structs.replace(outcome, told=text))


@mutant(
    breaks="gateway",
    statement="A field of the gateway keeps what belongs to one session (seed 14)",
    scenario="words-of-another-user",
    killed_by="session_isolation.reply",
)
def footer_of_another_session(brief: Brief) -> None:
    """A reply ends with the last one that the agent gave, to this user or to another.

    The reference agent with that footer.
    """
    build(brief, gateway=FooterOfAnotherSession).run()


class FirstBlock(ChangedReplies):
    """Sends `content[0].text`."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The first text of the answer."""
        texts = [b.text for b in outcome.message.blocks if isinstance(b, Text)]
        return texts[0] if texts else outcome.text


@mutant(
    breaks="gateway",
    statement="Only the first text block of an answer is delivered",
    scenario="reply-as-the-model-said-it/in-several-blocks",
    killed_by="reply_carried.blocks",
)
def sends_the_first_block(brief: Brief) -> None:
    """The first content block is taken for the answer.

    The reference agent that sends the first block.
    """
    build(brief, gateway=FirstBlock).run()


class OneBehind(ChangedReplies):
    """Sends the reply at the place before the last."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The reply of the turn before."""
        before = getattr(self, "_before", outcome.text)
        self._before = outcome.text
        return before


@mutant(
    breaks="gateway",
    statement="The answer of the turn before is delivered in place of this one",
    scenario="reply-as-the-model-said-it/said-before",
    killed_by="reply_carried.other",
)
def sends_the_reply_before(brief: Brief) -> None:
    """The list of replies is read by a place that is one behind.

    The reference agent that is one reply behind.
    """
    build(brief, gateway=OneBehind).run()


class Thoughts(ChangedReplies):
    """Sends the text of each block."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The thoughts and the answer."""
        blocks = outcome.message.blocks
        return "".join(b.text for b in blocks if isinstance(b, Text | Thinking)) or outcome.text


@mutant(
    breaks="gateway",
    statement="What the model thought is delivered as the beginning of its answer",
    scenario="signature-lost",
    killed_by="reply_carried.thought",
)
def sends_the_thoughts(brief: Brief) -> None:
    """All blocks of an answer are taken for its text.

    The reference agent that sends the model's thoughts.
    """
    build(brief, gateway=Thoughts).run()


class FirstText(ChangedReplies):
    """Sends the first words that the model said in the turn."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The words beside the last call, where there are some."""
        messages = [row.message for row in self.store.load(inbound.session)]
        asking = [m for m in messages if m.tool_uses and m.text]
        return asking[-1].text if asking else outcome.text


@mutant(
    breaks="gateway",
    statement="The words beside a tool call are delivered in place of the answer",
    scenario="reply-as-the-model-said-it/beside-a-call",
    killed_by="reply_carried.before_call",
)
def sends_the_words_before_a_call(brief: Brief) -> None:
    """The first text of the turn is taken for the answer.

    The reference agent that sends the words before a call.
    """
    build(brief, gateway=FirstText).run()


class Template(ChangedReplies):
    """Sends the text of a template whose field is missing."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The same words each time."""
        return "Your request was processed."


@mutant(
    breaks="gateway",
    statement="The user reads something else than the model answered",
    scenario="reply-as-the-model-said-it",
    killed_by="reply_carried.replaced",
)
def says_something_else(brief: Brief) -> None:
    """A template takes the place of the answer.

    The reference agent that sends a template without the answer.
    """
    build(brief, gateway=Template).run()


class ErrorAsWordsOfTheUser(Gateway):
    """Notes what went wrong in the only role that it stores."""

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Store the reply of a turn, and its error behind it."""
        super().settle(inbound, transcript, outcome)
        if outcome.status == "failed":
            self.store.append(inbound.session, self.noted(outcome))

    def noted(self, outcome: Outcome) -> Message:
        """The row of a failure."""
        return user(outcome.text)


class Noting(ErrorAsWordsOfTheUser):
    """Says that it is a note, and what became of the message."""

    def noted(self, outcome: Outcome) -> Message:
        """The row of a failure."""
        return user(f"(Note of the program: the message above has no answer. {outcome.text})")


def _right_error_as_words_of_the_user(brief: Brief) -> None:
    """One that stores them as a note."""
    build(brief, gateway=Noting).run()


@mutant(
    breaks="gateway",
    statement="The error of a turn is stored as words of the user (unseen, A)",
    scenario="one-turn-of-four-fails",
    killed_by="turn_closed.error",
    look_alike=_right_error_as_words_of_the_user,
)
def error_as_words_of_the_user(brief: Brief) -> None:
    """The text of an error is stored as a message of the user.

    The reference agent that stores errors as the user's words.
    """
    build(brief, gateway=ErrorAsWordsOfTheUser).run()


class Detailed(Gateway):
    """Tells the settings of the client."""

    key = ""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the end of a turn; an error with its details."""
        if outcome.status == "failed":
            text = f"{outcome.text} (timeout=60, api_key={self.key!r})"
            outcome = msgspec.structs.replace(outcome, told=text)
        return super().send(inbound, outcome)


@mutant(
    breaks="gateway",
    statement="A user reads the key of the agent in the words of a failure",
    scenario="overloaded",
    killed_by="key_kept.reply",
)
def tells_its_key(brief: Brief) -> None:
    """A failure is told with all that the client was made of, and so with its key.

    The reference agent whose errors have details.
    """
    Detailed.key = brief.api_key
    build(brief, gateway=Detailed).run()


class NamesTheLastOne(Gateway):
    """Keeps the id that replies name, and renews it too late."""

    named = ""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send under the id of the message before."""
        name, self.named = self.named or inbound.id, inbound.id
        return super().send(replace(inbound, id=name), outcome)


@mutant(
    breaks="gateway",
    statement="A reply stands under another message than the one that it answers (unseen, A)",
    scenario="life-after-the-limit",
    killed_by="outbound_once.misnamed",
)
def names_the_message_before(brief: Brief) -> None:
    """The reply to a message names the message before it.

    The reference agent that names messages one turn late.
    """
    build(brief, gateway=NamesTheLastOne).run()


class OneChat(Gateway):
    """Knows one address."""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send to the main chat."""
        self.brief.send(outcome.text, kind=outcome.kind, session="main")
        return True


class Telling(Gateway):
    """Tells the main chat that another one has been answered."""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the reply, and a notice with it to the main chat."""
        note = f"{inbound.session} was told: {outcome.text}"
        self.brief.send(note, kind="notice", session="main")
        return super().send(inbound, outcome)


def _right_replies_to_the_main_chat(brief: Brief) -> None:
    """One whose main chat belongs to the owner, who is told what others read."""
    build(brief, gateway=Telling).run()


@mutant(
    breaks="gateway",
    statement="Answers of all sessions go to the main chat (unseen, A)",
    scenario="words-of-another-user",
    killed_by="session_isolation.reply",
    look_alike=_right_replies_to_the_main_chat,
)
def replies_to_the_main_chat(brief: Brief) -> None:
    """All replies go to one chat. The reference agent that answers in the main chat."""
    build(brief, gateway=OneChat).run()


class Buffered(ChangedReplies):
    """Sends all that it has ever sent."""

    _said = ""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The replies so far, and the answer."""
        self._said += f"{outcome.text}\n"
        return self._said


@mutant(
    breaks="gateway",
    statement="Each reply begins with the replies of the turns before",
    scenario="reply-as-the-model-said-it",
    killed_by="reply_carried.stale",
)
def repeats_earlier_replies(brief: Brief) -> None:
    """The buffer of the reply is never emptied.

    The reference agent with one buffer for all replies.
    """
    build(brief, gateway=Buffered).run()


WITHHELD = "I may not talk about this."


FORBIDDEN = ("yeast", "<script>")
"""The word of the scenario, and markup that campaigns draw."""


class Guarded(Gateway):
    """Sends a fixed text in place of an answer with a forbidden word."""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the end of a turn; the stored answer is not changed."""
        if any(word in outcome.text for word in FORBIDDEN):
            outcome = msgspec.structs.replace(outcome, status="refused", told=WITHHELD)
        return super().send(inbound, outcome)


@mutant(
    breaks="gateway",
    statement="An answer that a guardrail blocked stays in the session as said",
    scenario="reply-as-the-model-said-it",
    killed_by="reply_carried.blocked",
)
def keeps_blocked_answers(brief: Brief) -> None:
    """A guardrail withholds an answer from the user, and leaves it in the conversation.

    The reference agent whose guardrail looks at replies alone.
    """
    build(brief, gateway=Guarded).run()
