"""Messages of Claude Code on lines: each block of a message may stand on its own line.

Lines of one message share its `message.id`, also where other lines stand between them. The results
of a batch come one by one. `LoggedSession` restores what the API saw: one message with the calls,
one with the results.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.core.values.messages import Block, Json, Message, ToolResult
from harness.core.values.plans import ApiError
from harness.providers.anthropic.blocks import message_from
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.request import recorded_block
from harness.providers.shared.reader import Malformed
from harness.recordings.half_read import is_of_a_tool
from harness.recordings.session_log import LogEntry, Notes, logged_error
from harness.recordings.transcripts import Transcript

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


class LoggedSession:
    """The messages of one session so far, and what its lines say of them.

    `model` is the one that an answer named first, else the one that was `announced`. `restarts` are
    the messages with which the context began again, `failures` those that the program marks as
    errors of the API.
    """

    def __init__(self, name: str) -> None:
        self.name, self.model, self.announced = name, "", ""
        self.found: list[LoggedMessage] = []
        self.restarts: dict[int, int] = {}
        self.failures: dict[int, ApiError] = {}
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

    def begin_anew(self) -> None:
        """Let the context begin again with the next message."""
        self.restarts[len(self.found)] = len(self.found)

    def fail(self, message: Message, status: Json = None, type_: Json = None) -> None:
        """Mark the last message as an error, with what its line says of it."""
        self.failures[len(self.found) - 1] = logged_error(message.text, status, type_)

    def transcript(self) -> Transcript:
        """The session as a transcript."""
        return Transcript(
            name=self.name,
            messages=tuple(draft.message for draft in self.found),
            wire=RECORD.name,
            model=self.model or self.announced,
            stops={n: draft.stop for n, draft in enumerate(self.found) if draft.stop},
            restarts={n: kept for n, kept in self.restarts.items() if n < len(self.found)},
            failures=self.failures,
            lost_result="[Tool result missing due to internal error]",
        )

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


def message_on(entry: LogEntry, notes: Notes) -> Message | None:
    """The message that a line holds; None, with a note, for one that should and does not."""
    try:
        message = message_from(entry.value.get("message"))
    except Malformed as error:
        at = f"message{'' if error.path[:1] in ('', '.') else '.'}{error.path}"
        what = "is missing" if error.missing else f"should be {error.wanted}"
        notes.lose(entry.number, f"{at} {what}, skipped")
        return None
    role = message.role if message.role in ROLES else "user"
    return Message(role, tuple(map(recorded_block, message.blocks)))


def note_type(kind: str, notes: Notes) -> None:
    """Note a type of line that is not known, and may be a call or a result."""
    if is_of_a_tool(kind, "assistant"):
        notes.unknown(f"the line type {kind!r}")
