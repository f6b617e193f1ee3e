"""The outcome of a turn, and its text for the user, which never claims more than happened. Pure."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.agent.models.failures import FailureKind, ModelFailure
from harness.core.values.calls import OutboundKind
from harness.core.values.messages import Message, Text, ToolUse, assistant

Status = Literal["ok", "failed", "refused", "truncated", "cancelled"]

EXHAUSTED = "all_attempts_exhausted"
NO_ANSWER = (
    "The model gave no answer, also when it was asked again. Nothing was decided or promised."
)

PARKED = (
    "This message was interrupted twice while it was worked on, so it was not tried again. "
    "What had been started may be done in part."
)

OVERTAKEN = (
    "This message has no answer of its own, because the store failed. It stands in the "
    "conversation, so the answer to a later message can take it up."
)

LOST = (
    "The stored conversation is gone, with your message in it, so this was not finished. What had "
    "been started may be done in part. Please say again what I should do."
)

AGAIN = "(I was interrupted while I sent this reply, so you may have it already.)"

TAKEN = (
    "Another agent of this session has taken your message, and works on it. I do nothing about it, "
    "so that it is not done twice."
)

ECHO = "This message is my own last reply, which came back several times. It gets no new answer."

BLANK = "The message was empty, so there is nothing to answer. (empty_prompt)"

_TEXTS: dict[FailureKind, str] = {
    "overflow": "The conversation is too long for the model, also after it was made shorter. "
    "Please start a new one, or send less at once.",
    "picture": "The model cannot read a picture of this conversation, so this was not done: {text}",
    "transient": "The model could not be reached, also after several attempts: {text}",
    "permanent": "The model refused the request, so this was not done: {text}",
    "budget": "I stopped here, because one message may not cost more: {text}",
    "broken_stream": "The model's answer broke off and was not used: {text}",
}

_CODES: dict[FailureKind, tuple[str, bool]] = {
    "overflow": (EXHAUSTED, False),
    "picture": ("picture_refused", False),
    "transient": ("model_unavailable", True),
    "permanent": ("request_refused", False),
    "budget": ("budget_spent", False),
    "broken_stream": ("answer_broke_off", True),
}
"""The code of each failure for programs, and whether the same message may succeed later."""


class Outcome(msgspec.Struct, frozen=True):
    """The end of a turn. `message` is stored as its reply. Its text is delivered, or `told` if the
    user has read a part of it. `also` names further messages that it answers."""

    status: Status
    message: Message
    kind: OutboundKind = "final"
    told: str = ""
    also: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text for the user."""
        return self.told or self.message.text


def answered(message: Message, stop: str) -> Outcome | None:
    """The outcome of an answer without calls; None for an empty answer, which needs another
    request."""
    if stop == "refusal":
        return Outcome("refused", _or(_words(message), "The model declined to answer this."))
    if stop == "max_tokens":
        cut = Text("[The answer was cut off at the length limit.]")
        return Outcome("truncated", Message("assistant", (*message.blocks, cut)))
    if stop == "tool_use" or not message.text.strip():
        return None
    return Outcome("ok", message)


def concluded(message: Message | None, reason: str) -> Outcome:
    """The outcome of a turn that was stopped: the model's last text, else the agent's own."""
    said = _words(message) if message is not None else Message("assistant")
    return Outcome("failed", _or(said, f"I could not finish this: {reason}"))


def failed(text: str, code: str = "", retryable: bool = False) -> Outcome:
    """The outcome of a failed turn, with the agent's own text and a code for programs. `retryable`:
    the same message may succeed later."""
    words = ", ".join([code] * bool(code) + ["retryable"] * retryable)
    return Outcome("failed", assistant(f"{text} ({words})" if words else text), "error")


def gave_up(failure: ModelFailure) -> Outcome:
    """The outcome after a model call that failed permanently."""
    text = _TEXTS[failure.kind].format(text=failure.text[:500])
    return failed(text, *_CODES[failure.kind])


def broke(error: Exception) -> Outcome:
    """The outcome of a turn in which the agent itself failed."""
    text = f"Something went wrong on our side, and this was not finished: {_named(error)}"
    return failed(text, "internal_error")


def unstored(what: str, error: Exception) -> Outcome:
    """The outcome of work that could not be stored, and so does not count as done."""
    text = f"{what} could not be stored, so it was dropped: {_named(error)}"
    return failed(text, "not_stored", retryable=True)


def restored(text: str, status: str, kind: str) -> Outcome:
    """The outcome of a turn that an earlier run stored. That run ended during the delivery, so the
    text says that the reply may have arrived before.

    Raises msgspec.ValidationError for an unknown status or kind.
    """
    told = f"{AGAIN}\n\n{text}"
    fields = {"status": status, "message": assistant(text), "kind": kind, "told": told}
    return msgspec.convert(fields, type=Outcome)


def cancelled(seen: str = "") -> Outcome:
    """The outcome of a turn that the user cancelled: a notice without an answer. The part of the
    answer that was `seen` is stored with it, because the user may refer to it later."""
    notice = "The turn was cancelled before it was finished."
    words = (seen, notice) if seen.strip() else (notice,)
    return Outcome("cancelled", assistant(*words), "notice", told=notice)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _or(message: Message, text: str) -> Message:
    return message if message.text.strip() else assistant(text)


def _words(message: Message) -> Message:
    """The message without its calls, because they get no results."""
    return Message("assistant", tuple(b for b in message.blocks if not isinstance(b, ToolUse)))
