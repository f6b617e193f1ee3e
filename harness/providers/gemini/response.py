"""Answers read back: an object, a list of chunks, or a stream of them, to what they say.

A stop reason completes an answer, and so does a blocked prompt. Only the first candidate is read. A
text goes on where the one before it ended. `STOP` after a call says that calls are to be run.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Block, Json, Message, Text
from harness.core.values.plans import ApiError
from harness.providers.gemini.blocks import CallIds, blocks_of, get, parts_in, said_on
from harness.providers.gemini.record import RECORD, error_of
from harness.providers.shared import json_fields as f
from harness.providers.shared import sse


class AnswerAssembly:
    """The answer of chunks as they come in."""

    def __init__(self) -> None:
        self.stop = ""
        self.usage: dict[str, Json] = {}
        self._begun = False
        self._blocks: list[Block] = []
        self._ids = CallIds("answer ")

    def take(self, chunk: dict[str, Json]) -> None:
        """Take in a chunk; one without candidates counts, or says that the prompt is blocked."""
        self.usage = f.mapping(get(chunk, "usageMetadata")) or self.usage
        feedback = f.mapping(get(chunk, "promptFeedback"))
        if reason := f.text(get(feedback, "blockReason")):
            self.stop, self._begun = reason, True
        for candidate in f.objects(chunk.get("candidates"))[:1]:
            self._begun = True
            self.stop = f.text(get(candidate, "finishReason")) or self.stop
            parts = parts_in(f.mapping(candidate.get("content")))
            blocks, self._ids = self._ids.named(blocks_of(f.objects(parts)))
            self._blocks[-1:] = said_on([*self._blocks[-1:], *blocks])

    def message(self) -> Message | None:
        """The message so far, without the empty text that a last chunk has; None before any."""
        said = (block for block in self._blocks if block != Text(""))
        return Message("assistant", tuple(said)) if self._begun else None


def parse(body: bytes, content_type: str) -> Parsed:
    """An answer's body as values; the status of an error in a stream is 200."""
    chunks, torn, streamed = _chunks(body, content_type)
    assembly, error = _assembled(chunks, 200 if streamed else None)
    message = assembly.message()
    if message is None:
        return Parsed(None, complete=bool(chunks) and not torn and not streamed, error=error)
    complete = bool(assembly.stop) and error is None and not torn
    stop = _stop(assembly.stop, message) if assembly.stop else None
    return Parsed(message, stop, RECORD.read_usage(assembly.usage), complete, error)


def recorded_answer(body: bytes, content_type: str) -> Parsed:
    """An answer of a recording, with the stop reason word for word."""
    chunks, _, _ = _chunks(body, content_type)
    assembly, error = _assembled(chunks, 0)
    if error is not None:
        return Parsed(None, complete=False, error=error)
    return Parsed(assembly.message(), assembly.stop or None, complete=bool(assembly.stop))


def _assembled(
    chunks: Iterable[Json], status: int | None
) -> tuple[AnswerAssembly, ApiError | None]:
    assembly = AnswerAssembly()
    for chunk in chunks:
        error = error_of(chunk, status)
        if error is not None:
            return assembly, error
        assembly.take(f.mapping(chunk))
    return assembly, None


def _chunks(body: bytes, content_type: str) -> tuple[list[Json], bool, bool]:
    """The chunks of an answer, whether it is torn, and whether it is a stream of events."""
    if sse.is_stream(body, content_type):
        text = body.decode("utf-8", "replace")
        data = [event.data for event in sse.events(text) if event.data]
        values = [f.parse(each.encode("utf-8", "surrogatepass")) for each in data]
        good = next((n for n, value in enumerate(values) if value is None), len(values))
        return values[:good], good < len(values), True
    value = f.parse(body)
    if isinstance(value, list):
        return value, False, False
    return ([] if value is None else [value]), value is None, False


def _stop(word: str, message: Message) -> str:
    if word == "STOP" and message.tool_uses:
        return "tool_use"
    return RECORD.read_stop(word)
