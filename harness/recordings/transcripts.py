"""Transcripts: the common result of every format.

A transcript is a whole session of a log, or one recorded exchange. Readers repair nothing: a
recording may be invalid, and the checks must see it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from harness.core.history.history import History
from harness.core.transition.ports import Parsed
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    ToolResult,
    ToolSpec,
    ToolUse,
    side,
    user,
)
from harness.core.values.plans import ApiError
from harness.providers.shared.json_fields import UNREAD_CALL, RecordedRequest

SERVER_CALLS = frozenset((
    "server_tool_use", "mcp_tool_use", "web_search_call", "file_search_call", "mcp_call",
    "code_interpreter_call", "image_generation_call", "tool_search_call", "executable_code",
))  # fmt: skip
"""The kinds of blocks with which a provider says that it ran a tool itself."""


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """One list of messages, with what the recording says around it.

    `stops` gives the stop reason of the assistant messages that have one, by their index.
    `restarts` gives the messages with which the context began again. For each it gives the first
    message before it that was kept, or itself when none was. `roles`: who spoke is recorded; a list
    of tool spans only says what was called. `exchange`: the messages are one request, followed by
    its answer when `answered`; else they are a log, in which every assistant message was an answer.
    `complete` and `error` are those of the last answer; `name` is unique in a recording. `task`:
    what the user asked for, where a recording keeps it beside its steps; it is not a message of the
    list, and stands before all of them. `failures` gives the assistant messages that the log itself
    marks as errors of the API. `answers` gives what was answered where a message repeats it
    otherwise. `loose`: nothing says in which form the messages are, so results may stand in an
    unknown one. `unread`: why it may be read by half, in words (`half_read`). `lost_result`: what
    the program of a log gives the model in place of a result that the log lacks (`lost_results`).
    `place`, `begun_s`, `changed_s`: where the user was, and the times of the first and the last
    word, in a database, which keeps many sessions in one file. `session` is the name that the agent
    itself gave to the session.
    """

    name: str
    messages: tuple[Message, ...]
    wire: str = ""
    model: str = ""
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    stops: dict[int, str] = {}
    restarts: dict[int, int] = {}
    roles: bool = True
    exchange: bool = False
    answered: bool = False
    complete: bool = True
    status: int | None = None
    error: ApiError | None = None
    stateful: bool = False
    stream: bool = False
    max_tokens: int | None = None
    task: str = ""
    failures: dict[int, ApiError] = {}
    answers: dict[int, Message] = {}
    loose: bool = False
    unread: tuple[str, ...] = ()
    lost_result: str = ""
    session: str = ""
    place: str = ""
    begun_s: float | None = None
    changed_s: float | None = None

    @property
    def said(self) -> tuple[Message, ...]:
        """The messages without those of system and developer."""
        return tuple(m for m in self.messages if side(m) != "system")

    @property
    def spoken(self) -> Transcript:
        """The transcript with its task as the first message."""
        if not self.task:
            return self
        return msgspec.structs.replace(
            self,
            messages=(encodable(user(self.task)), *self.messages),
            stops={index + 1: stop for index, stop in self.stops.items()},
            restarts={index + 1: kept + 1 for index, kept in self.restarts.items()},
            failures={index + 1: error for index, error in self.failures.items()},
            answers={index + 1: answer for index, answer in self.answers.items()},
            task="",
        )

    @property
    def context(self) -> tuple[Message, ...]:
        """The messages that the model would be shown next: those since the last new beginning."""
        if not self.restarts:
            return self.messages
        begin = max(self.restarts)
        kept = self.messages[self.restarts[begin] : begin]
        return (self.messages[begin], *kept, *self.messages[begin + 1 :])

    @property
    def server_tool_calls(self) -> int:
        """How many tools the provider ran itself."""
        blocks = (block for message in self.messages for block in message.blocks)
        return sum(isinstance(b, Opaque) and b.kind in SERVER_CALLS for b in blocks)


class Refusal(msgspec.Struct, frozen=True):
    """What could not be read, and why.

    `reason` has no changing part, so that refusals can be counted; `more` is what this one adds.
    """

    place: str
    reason: str
    more: str = ""

    @property
    def what(self) -> str:
        """The text without the place."""
        return f"{self.reason}: {self.more}" if self.more else self.reason


class Recording(msgspec.Struct, frozen=True):
    """A file, read: its transcripts, what was refused in it, and notes about what was skipped.

    A refused answer leaves its request's messages as a transcript. A file of ours holds the
    `history` of a run instead of transcripts. `format` is filled in with the format's full name.
    `doubts` are reasons for which every transcript of the file may be read by half.
    """

    transcripts: tuple[Transcript, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    history: History | None = None
    format: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def refused(self) -> Counter[str]:
        """How often each refusal was met, wherever."""
        return Counter(refusal.what for refusal in self.refusals)


def readable(recording: Recording) -> Recording:
    """The recording as JSON can say it, with a refusal for each transcript with an unreadable call.

    Without its name or its arguments a call looks like any other one, and what is found in such a
    transcript is not true. A log is `answered` if its last message is the assistant's.
    """
    seen: dict[int, tuple[Message, Message]] = {}
    found = [_readable(one, seen) for one in recording.transcripts]
    return msgspec.structs.replace(
        recording,
        transcripts=tuple(one for one in found if isinstance(one, Transcript)),
        refusals=(*recording.refusals, *(one for one in found if isinstance(one, Refusal))),
    )


def _readable(
    transcript: Transcript, seen: dict[int, tuple[Message, Message]]
) -> Transcript | Refusal:
    """`seen` are messages by identity, each with its encodable form: the calls of one session share
    them, and each is looked at once."""
    messages: list[Message] = []
    for index, message in enumerate(transcript.messages):
        known = seen.get(id(message))
        if known is None:
            reason = next(filter(None, map(_why_unread, message.blocks)), "")
            if reason:
                return Refusal(f"{transcript.name}, message {index}", reason)
            known = seen[id(message)] = message, encodable(message)
        messages.append(known[1])
    is_answered = bool(messages) and side(messages[-1]) == "assistant"
    return msgspec.structs.replace(
        transcript,
        messages=tuple(messages),
        answered=transcript.answered if transcript.exchange else is_answered,
    )


def _why_unread(block: Block) -> str:
    if isinstance(block, Opaque) and block.kind == UNREAD_CALL:
        return str(block.value.get("reason"))
    nameless = isinstance(block, ToolUse) and not block.name.strip()
    return "a call has no name" if nameless else ""


def encodable(message: Message) -> Message:
    """The message as a value that JSON can say: half a character becomes `?`."""
    if message.role.isascii() and all(map(_is_ascii, message.blocks)):
        return message  # most of a log, which need not be encoded for that
    try:
        msgspec.json.encode(message)
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(message), ensure_ascii=False)
        return msgspec.json.decode(text.encode("utf-8", "replace"), type=Message)
    return message


def _is_ascii(block: Block) -> bool:
    """Whether a block is a text or a result, the kinds that may be long, all of it ASCII."""
    match block:
        case Text(text):
            return text.isascii() and not block.extra
        case ToolResult(id_, str(content)):
            return content.isascii() and id_.isascii()
    return False


_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def request_alone(name: str, wire: str, asked: RecordedRequest) -> Transcript:
    """A request as a transcript, without an answer."""
    return Transcript(name=name, wire=wire, **msgspec.structs.asdict(asked))


def answered_with(asked: Transcript, answered: Parsed) -> Transcript:
    """The exchange of a request: its messages, and the answer where there is one."""
    said, at = answered.message, len(asked.messages)
    return msgspec.structs.replace(
        asked,
        messages=asked.messages if said is None else (*asked.messages, said),
        stops={at: answered.stop} if said is not None and answered.stop else {},
        exchange=True,
        answered=said is not None,
        complete=answered.complete,
    )


def recording_of(found: Iterable[Transcript | Refusal]) -> Recording:
    """What was found in a file, in order, as a recording; a transcript's name is unique."""
    read = list(found)
    seen = Counter[str]()
    transcripts: list[Transcript] = []
    for one in read:
        if isinstance(one, Transcript):
            seen[one.name] += 1
            number = seen[one.name]
            name = one.name if number == 1 else f"{one.name} #{number}"
            transcripts.append(msgspec.structs.replace(one, name=name))
    refusals = tuple(one for one in read if isinstance(one, Refusal))
    return Recording(tuple(transcripts), refusals)


class TrajectoryStep(msgspec.Struct, frozen=True, kw_only=True):
    """An action and what was observed after it, as trajectories of agents keep them.

    A trajectory pairs the two by their place and has no ids, so each call gets the id of its step.
    `observation` is None where none was recorded. `failed` is what an explicit flag says of it.
    """

    id: str
    name: str
    input: Json
    thought: str = ""
    observation: str | None = None
    failed: bool = False

    def messages(self) -> Iterator[Message]:
        """The message with the call, and the one with its result."""
        said = (Text(self.thought),) if self.thought.strip() else ()
        yield Message("assistant", (*said, ToolUse(self.id, self.name, self.input)))
        if self.observation is not None:
            yield Message("tool", (ToolResult(self.id, self.observation, self.failed),))


def command_name(line: str) -> str:
    """The name of the tool for an action that is a command line: its program, or `action`."""
    words = line.split(maxsplit=1)
    program = words[0].rpartition("/")[2] if words else ""
    return _NO_NAME.sub("_", program)[:64].strip("_") or "action"
