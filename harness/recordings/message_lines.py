"""Messages of Claude Code on lines: each block of a message may stand on its own line.

Lines of one message share its `message.id`, also where other lines stand between them. The results
of a batch come one by one. `LoggedMessages` restores what the API saw: one message with the calls,
one with the results.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.core.values.messages import Block, Json, Message, ToolResult
from harness.providers.anthropic.blocks import message_from
from harness.providers.anthropic.request import recorded_block
from harness.providers.shared.reader import Malformed

ROLES = ("user", "assistant")

_SYNTHETIC = "<synthetic>"
"""The model of what the program itself says in place of an answer."""


class LoggedMessage(msgspec.Struct):
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
        return _only_results(self.role, self.blocks)


class LoggedMessages:
    """The messages of one session so far, and the model that was named first."""

    def __init__(self) -> None:
        self.found: list[LoggedMessage] = []
        self.model = ""
        self._by_id: dict[str, LoggedMessage] = {}

    def take(self, message: Message, value: dict[str, Json], id_: str) -> None:
        """Take in the message of the line `id_`; `value` is it as it was logged."""
        draft = self._draft(message, value.get("id"), id_)
        draft.blocks.extend(message.blocks)
        if isinstance(value.get("stop_reason"), str):
            draft.stop = value["stop_reason"]
        model = value.get("model")
        if isinstance(model, str) and model != _SYNTHETIC and not self.model:
            self.model = model

    def _draft(self, message: Message, shared: Json, id_: str) -> LoggedMessage:
        """The message of a line: the one with its id, the results before it, or a new one."""
        known = self._by_id.get(shared) if isinstance(shared, str) and shared else None
        if message.role == "assistant" and known is not None:
            return known
        last = self.found[-1] if self.found else None
        more = _only_results(message.role, message.blocks)
        if more and last is not None and last.only_results:
            return last
        draft = LoggedMessage(message.role, id_)
        self.found.append(draft)
        if message.role == "assistant" and isinstance(shared, str):
            self._by_id[shared] = draft
        return draft


def _only_results(role: str, blocks: Sequence[Block]) -> bool:
    return role == "user" and bool(blocks) and all(isinstance(b, ToolResult) for b in blocks)


def logged_message(value: Json) -> tuple[Message | None, str]:
    """The message that a line holds, or None with the reason."""
    try:
        message = message_from(value)
    except Malformed as error:
        at = f"message{'' if error.path[:1] in ('', '.') else '.'}{error.path}"
        what = "is missing" if error.missing else f"should be {error.wanted}"
        return None, f"{at} {what}"
    role = message.role if message.role in ROLES else "user"
    return Message(role, tuple(map(recorded_block, message.blocks))), ""
