"""Messages of a Claude Code log as their lines come in.

A message of the assistant is logged block by block, on lines that share `message.id`, and other
lines may stand between them: a parallel batch reads call, result, call, result. The API saw one
message with the calls and one with the results, so that is what a draft collects.
"""

from __future__ import annotations

import msgspec

from harness.core.values.messages import Block, Json, Message, ToolResult
from harness.providers.anthropic.blocks import message_from
from harness.providers.shared.reader import Malformed

ROLES = ("user", "assistant")

_SYNTHETIC = "<synthetic>"
"""The model of what the program itself says in the place of an answer."""


class Draft(msgspec.Struct):
    """A message so far: who says it, the id of its first line, its blocks, and its stop reason."""

    role: str
    id: str
    blocks: list[Block] = []
    stop: str = ""

    @property
    def message(self) -> Message:
        """The message."""
        return Message(self.role, tuple(self.blocks))

    @property
    def only_results(self) -> bool:
        """Whether it is nothing but results."""
        return _only_results(self.message)


class Drafts:
    """The messages of one session so far, and the model that was named first."""

    def __init__(self) -> None:
        self.found: list[Draft] = []
        self.model = ""
        self._by_id: dict[str, Draft] = {}

    def take(self, message: Message, value: dict[str, Json], id_: str) -> None:
        """Take in the message of the line `id_`; `value` is it as it was logged."""
        draft = self._draft(message, value.get("id"), id_)
        draft.blocks.extend(message.blocks)
        if isinstance(value.get("stop_reason"), str):
            draft.stop = value["stop_reason"]
        model = value.get("model")
        if isinstance(model, str) and model != _SYNTHETIC and not self.model:
            self.model = model

    def _draft(self, message: Message, shared: Json, id_: str) -> Draft:
        """The message that a line belongs to: that of its id, the results before it, a new one."""
        known = self._by_id.get(shared) if isinstance(shared, str) and shared else None
        if message.role == "assistant" and known is not None:
            return known
        last = self.found[-1] if self.found else None
        if last is not None and last.only_results and _only_results(message):
            return last
        draft = Draft(message.role, id_)
        self.found.append(draft)
        if message.role == "assistant" and isinstance(shared, str):
            self._by_id[shared] = draft
        return draft


def _only_results(message: Message) -> bool:
    blocks = message.blocks
    return (
        message.role == "user" and bool(blocks) and all(isinstance(b, ToolResult) for b in blocks)
    )


def said_on(value: Json) -> tuple[Message | None, str]:
    """The message that a line holds, or why it holds none."""
    try:
        message = message_from(value)
    except Malformed as error:
        at = f"message{'' if error.path[:1] in ('', '.') else '.'}{error.path}"
        what = "is missing" if error.missing else f"should be {error.wanted}"
        return None, f"{at} {what}"
    return (message if message.role in ROLES else msgspec.structs.replace(message, role="user")), ""
