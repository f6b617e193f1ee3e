"""The dialogue of a transcript.

Session logs write a provider's error as a message of the assistant. Recorded exchanges hold
failures beside the messages, at the place where their request ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TypeVar

import msgspec

from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Block, Message, Opaque, Text, Thinking, ToolResult, side
from harness.core.values.plans import ApiError
from harness.recordings.exchange_sessions import request_of
from harness.recordings.importing import fidelity
from harness.recordings.importing.dialogue import (
    Dialogue,
    DialogueStep,
    FailedTurn,
    ModelTurn,
    UserTurn,
)
from harness.recordings.importing.fidelity import GapLog
from harness.recordings.importing.recorded_texts import (
    STATUS_OF_NO_ANSWER,
    error_in_own_words,
    error_shown,
    failed_turn,
    is_result_of_agent,
    is_row_of_agent,
    result_of_tool,
    says_that_it_failed,
)
from harness.recordings.pairing import Pairing, pair
from harness.recordings.transcripts import Transcript

_Mark = TypeVar("_Mark")

ACTION = "action"
"""The name under which a command stands that a trajectory has in place of an object."""

NO_QUESTION = "(the recording does not say what was asked)"

CUT_SHORT = "(the recording was interrupted here)"

_INTERRUPTED = ("aborted", "interrupted", "cancelled")
"""The stop reasons of answers that the user cut short."""

OURS = "loop-harness: "
"""How an error of the fake model begins that was not a provider's: the script had ended. Somebody
else's recorder has kept the body of that answer, so its words are all that tells."""


def choose_transcript(transcripts: Sequence[Transcript], name: str = "") -> Transcript:
    """The transcript of this name, with its task; without one, that with the most messages.

    Raises InputError for a name that no transcript has, and without transcripts.
    """
    if not transcripts:
        raise InputError("the recording holds no transcript")
    if not name:
        return _nameless(max(transcripts, key=lambda transcript: len(transcript.messages)).spoken)
    known = {transcript.name: transcript for transcript in transcripts}
    if name not in known:
        raise InputError(f"no such transcript; {nearest(name, known)}", f"--transcript {name}")
    return _nameless(known[name].spoken)


def _nameless(transcript: Transcript) -> Transcript:
    """The transcript without the names of its speakers, which no scenario has."""
    messages = tuple(
        msgspec.structs.replace(message, blocks=tuple(b for b in message.blocks if not _is_name(b)))
        for message in transcript.messages
    )
    return msgspec.structs.replace(transcript, messages=messages)


def _is_name(block: Block) -> bool:
    return isinstance(block, Opaque) and block.kind == "name"


def dialogue_of_transcript(
    chosen: Transcript, links: Sequence[Transcript], account: GapLog
) -> Dialogue:
    """The story of a transcript; `links` are the exchanges that led to it."""
    return _DialogueBuilder(chosen, links, account).tell()


class _DialogueBuilder:
    def __init__(self, chosen: Transcript, links: Sequence[Transcript], account: GapLog) -> None:
        self._chosen, self._account = chosen, account
        self._results = _results(pair(chosen), account)
        self._failures = _failures(links)
        self._stops = _stops(chosen)
        marked = _without_system(chosen, chosen.failures)
        self._marked = {at: error_in_own_words(error) for at, error in marked.items()}
        self._summaries = _without_system(chosen, chosen.restarts)
        self._numbers = count()
        self._steps: list[DialogueStep] = []
        self._sent = list(chosen.said)
        self._is_open = False

    def tell(self) -> Dialogue:
        said = self._chosen.said
        for at, message in enumerate(said):
            if side(message) == "assistant":
                self._assistant(at, message)
            elif at in self._summaries:
                self._account.note(fidelity.SUMMARIES)
            elif not message.tool_results and is_row_of_agent(message.text):
                self._account.note(fidelity.ROWS)
            else:
                self._other(at, message)
        self._steps += self._failures.get(len(said), ())
        return Dialogue(
            steps=tuple(self._asked()),
            messages=tuple(self._sent),
            tools=self._chosen.tools,
            wire=self._chosen.wire,
            stream=self._chosen.stream,
            system=bool(self._chosen.system) or len(said) < len(self._chosen.messages),
        )

    def _asked(self) -> list[DialogueStep]:
        """The steps; a trajectory without a question gets one."""
        if not self._steps or any(isinstance(step, UserTurn) for step in self._steps):
            return self._steps
        self._account.note(fidelity.NO_QUESTION)
        return [UserTurn(NO_QUESTION, 0), *self._steps]

    def _assistant(self, at: int, message: Message) -> None:
        self._steps += self._failures.get(at, ())
        logged = self._marked.get(at)
        if logged is None and not self._chosen.exchange:
            logged = error_shown(message)
        if logged is not None:
            for _ in message.tool_uses:
                next(self._numbers)
            self._steps.append(failed_turn(logged))
            self._sent[at] = Message("assistant", ())
            return
        if not self._chosen.wire:
            message = _with_objects(message, self._account)
        results = tuple(self._results.get(next(self._numbers)) for _ in message.tool_uses)
        said = ModelTurn(message, self._stops.get(at), results)
        if said.stop in _INTERRUPTED and not any(results):
            said = self._interrupted(at, message)
        last = self._steps[-1] if self._steps else None
        if self._is_open and isinstance(last, ModelTurn):
            self._account.note(fidelity.ADJACENT)
            self._steps[-1] = _joined(last, said)
        else:
            self._steps.append(said)
        self._is_open = True

    def _interrupted(self, at: int, message: Message) -> ModelTurn:
        """An answer that the user cut short: none of its calls ran, and none is sent again."""
        kept = tuple(block for block in message.blocks if isinstance(block, Text))
        self._sent[at] = Message("assistant", kept)
        self._account.note(fidelity.INTERRUPTED)
        text = "\n\n".join(filter(str.strip, (message.text, CUT_SHORT)))
        return ModelTurn(Message("assistant", (Text(text),)))

    def _other(self, at: int, message: Message) -> None:
        self._is_open = False
        if message.tool_results or side(message) == "tool":
            if message.text.strip():
                self._account.note(fidelity.BESIDE_RESULTS)
            return
        text = "\n".join(_lines(message, self._account))
        if not text.strip():
            return
        last = self._steps[-1] if self._steps else None
        if isinstance(last, UserTurn):
            self._account.note(fidelity.ASKED_TWICE)
            self._steps[-1] = UserTurn(f"{last.text}\n\n{text}", last.at)
        else:
            self._steps.append(UserTurn(text, at))


def _results(pairing: Pairing, account: GapLog) -> dict[int, ToolResult]:
    """The first result of each call; results that answer no call are noted."""
    found: dict[int, ToolResult] = {}
    for result in pairing.results:
        if result.call is None or result.call in found:
            account.note(fidelity.ORPHANS)
        elif is_result_of_agent(result.result):
            account.note(fidelity.NOT_RUN)
        else:
            found[result.call] = _of_tool(result.result, account)
    return found


def _of_tool(result: ToolResult, account: GapLog) -> ToolResult:
    """The result as the tool gave it, and as an error where the tool says so."""
    given = result_of_tool(result)
    account.note(fidelity.NOTES, int(given != result))
    if given.is_error or not says_that_it_failed(given.text):
        return given
    account.note(fidelity.TERMS)
    return msgspec.structs.replace(given, is_error=True)


def _stops(transcript: Transcript) -> dict[int, str]:
    """The stop reasons, by the place among the messages that are not the system's."""
    return _without_system(transcript, transcript.stops)


def _without_system(transcript: Transcript, marks: Mapping[int, _Mark]) -> dict[int, _Mark]:
    """What is marked in the messages, by the place among those that are not the system's."""
    numbers = [n for n, m in enumerate(transcript.messages) if side(m) != "system"]
    return {at: marks[n] for at, n in enumerate(numbers) if n in marks}


def _failures(links: Sequence[Transcript]) -> dict[int, list[FailedTurn]]:
    """Failures of exchanges, by the number of messages in the request."""
    found: dict[int, list[FailedTurn]] = {}
    for link in links:
        if link.exchange and (failed := _failure(link)) is not None:
            asked = [m for m in request_of(link) if side(m) != "system"]
            found.setdefault(len(asked), []).append(failed)
    return found


def _failure(link: Transcript) -> FailedTurn | None:
    if link.error is not None:
        return None if link.error.message.startswith(OURS) else failed_turn(link.error)
    if (link.status or 200) >= 400:
        return FailedTurn(ApiError(link.status or STATUS_OF_NO_ANSWER, "", ""))
    return FailedTurn() if link.answered and not link.complete else None


def _with_objects(message: Message, account: GapLog) -> Message:
    """Recordings of no provider's API hold commands as text; providers need an object."""
    bare = [use for use in message.tool_uses if not isinstance(use.input, dict)]
    account.note(fidelity.ACTIONS, len(bare))
    blocks = (
        msgspec.structs.replace(block, input={ACTION: block.input}) if block in bare else block
        for block in message.blocks
    )
    return Message(message.role, tuple(blocks)) if bare else message


def _joined(first: ModelTurn, second: ModelTurn) -> ModelTurn:
    message = Message(first.message.role, first.message.blocks + second.message.blocks)
    return ModelTurn(message, second.stop, first.results + second.results)


def _lines(message: Message, account: GapLog) -> Iterator[str]:
    for block in message.blocks:
        if isinstance(block, Text):
            yield block.text
        elif isinstance(block, Opaque):
            account.note(fidelity.IMAGES)
            yield f"[{block.kind}]"
        elif isinstance(block, Thinking):
            account.note(fidelity.THOUGHTS)
