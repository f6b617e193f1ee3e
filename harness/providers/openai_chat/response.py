"""Answers read back: a body (JSON, or a whole stream) to what it says.

A stop reason or `[DONE]` completes a stream, because many servers send only one. Only the first
choice is read. Some gateways send each call at index 0, so another id starts another call. The last
value of a field that is not text wins.
"""

from __future__ import annotations

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Json, Message, Text
from harness.providers.openai_chat.blocks import (
    ARGUMENTS,
    TEXTS,
    said,
)
from harness.providers.openai_chat.framework_messages import recorded_message
from harness.providers.openai_chat.record import RECORD, error_of
from harness.providers.shared import json_fields as f
from harness.providers.shared import sse
from harness.providers.shared.codec import written_arguments_to


class CompletionAssembly:
    """The message of a stream as its chunks come in; `ended` once it said why it stopped."""

    def __init__(self) -> None:
        self.reason: Json = None
        self.usage: dict[str, Json] = {}
        self.ended = False
        self._message: dict[str, Json] | None = None
        self._calls: list[dict[str, Json]] = []
        self._open: dict[Json, dict[str, Json]] = {}

    def take(self, chunk: dict[str, Json]) -> None:
        """Take in a chunk; one without choices only counts."""
        self.usage = RECORD.read_usage(chunk.get("usage")) or self.usage
        for choice in f.objects(chunk.get("choices")):
            if choice.get("index", 0) == 0:
                self._take(choice)

    def _take(self, choice: dict[str, Json]) -> None:
        if choice.get("finish_reason") is not None:
            self.reason, self.ended = choice["finish_reason"], True
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        message = self._message = self._message or {}
        for name, value in delta.items():
            if name == "tool_calls" and isinstance(value, list):
                for fragment in value:
                    self._take_call(fragment)
            elif name == "function_call" and isinstance(value, dict):
                message[name] = _extended(message.get(name) or {}, value, "arguments")
            elif name in TEXTS and isinstance(value, str):
                before = message.get(name)
                message[name] = (before if isinstance(before, str) else "") + value
            elif value is not None:
                message[name] = value

    def _take_call(self, fragment: Json) -> None:
        if not isinstance(fragment, dict):
            return
        index, id_ = str(fragment.get("index", 0)), fragment.get("id")
        call = self._open.get(index)
        if call is None or (id_ and call.get("id") and id_ != call["id"]):
            call = self._open[index] = {}
            self._calls.append(call)
        for name, value in fragment.items():
            if name in ARGUMENTS and isinstance(value, dict):
                call[name] = _extended(call.get(name) or {}, value, ARGUMENTS[name])
            elif name != "index" and not call.get(name):
                call[name] = value

    def message(self) -> dict[str, Json] | None:
        """The message as an unstreamed answer would have it; None before the first delta."""
        if self._message is None:
            return None
        return {**self._message, "tool_calls": self._calls or None}


def _extended(said: dict[str, Json], piece: dict[str, Json], grows: str) -> dict[str, Json]:
    merged = {**said, **{k: v for k, v in piece.items() if k != grows and not said.get(k)}}
    given, before = piece.get(grows), said.get(grows)
    if isinstance(given, str) and isinstance(before, (str, type(None))):
        merged[grows] = (before or "") + given
    elif given is not None:
        merged[grows] = given
    return merged


def parse(body: bytes, content_type: str) -> Parsed:
    """An answer's body as values.

    The status of an error is the usual one of its code or type (0 when unknown); that of an error
    in a stream is 200, for the stream had begun well.
    """
    text = body.decode("utf-8", "replace")
    if sse.is_stream(body, content_type):
        return _parse_stream(text)
    value = f.parse(text)
    if not isinstance(value, dict):
        return Parsed(None, complete=value is not None)
    if (error := error_of(value, None)) is not None:
        return Parsed(None, error=error)
    choices = value.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        return Parsed(None)
    stop = stop_from(choice.get("finish_reason"))
    return Parsed(_message(choice["message"]), stop, RECORD.read_usage(value.get("usage")))


def _parse_stream(text: str) -> Parsed:
    assembly, error, done = CompletionAssembly(), None, False
    for event in sse.events(text):
        done = event.data.startswith("[DONE]")
        value = None if done or not event.data else f.parse(event.data)
        if isinstance(value, dict):
            error = error_of(value, 200)
        elif event.name == "error":
            error = error_of({"error": event.data or event.name}, 200)
        if done or error or (value is None and event.data):
            break
        if isinstance(value, dict):
            assembly.take(value)
    said_so_far = assembly.message()
    message = _message(said_so_far) if said_so_far is not None else None
    complete = (assembly.ended or done) and error is None
    return Parsed(message, stop_from(assembly.reason), assembly.usage, complete, error)


def _message(value: dict[str, Json]) -> Message:
    calls = value.get("tool_calls")
    if isinstance(calls, list):
        whole = [_whole(call) if isinstance(call, dict) else call for call in calls]
        value = {**value, "tool_calls": whole or None}
    return Message("assistant", tuple(block for block in said(value) if block != Text("")))


def _whole(call: dict[str, Json]) -> dict[str, Json]:
    """Some gateways omit fields of a call, or send its arguments as an object."""
    if not isinstance(call.get("function"), dict):
        return call
    usual = {"name": "", "arguments": ""}
    function = usual | {k: v for k, v in call["function"].items() if v is not None}
    if not isinstance(function["arguments"], str):
        function["arguments"] = written_arguments_to(function["arguments"])
    said_of_it = {k: v for k, v in call.items() if v is not None}
    return {"id": "", "type": "function", **said_of_it, "function": function}


def stop_from(reason: Json) -> str | None:
    """The core's word for a finish reason; None for what is not text."""
    return RECORD.read_stop(reason) if isinstance(reason, str) else None


def recorded_answer(body: bytes, content_type: str) -> Parsed:
    """An answer of a recording, Cohere's too, with the stop reason word for word."""
    if sse.is_stream(body, content_type):
        return _recorded_stream(body)
    value = f.parse(body)
    if not isinstance(value, dict):
        return Parsed(None, complete=False)
    if (error := f.error_in(value)) is not None:
        return Parsed(None, error=error)
    choice = next(iter(f.objects(value.get("choices"))), value)
    stop = choice.get("finish_reason")
    message = _recorded_message(choice.get("message"))
    return Parsed(message, stop if isinstance(stop, str) else None, complete=message is not None)


def _recorded_stream(body: bytes) -> Parsed:
    assembly, error = CompletionAssembly(), None
    for value in sse.values(body):
        error = f.error_in(value)
        if error is not None:
            break
        assembly.take({"choices": [_usual(c) for c in f.objects(value.get("choices"))]})
    stop = f.text(assembly.reason) or None
    message = _recorded_message(assembly.message())
    return Parsed(message, stop, complete=bool(stop) and not error, error=error)


def _usual(choice: dict[str, Json]) -> dict[str, Json]:
    delta = f.mapping(choice.get("delta"))
    texts = {name: delta.get(name) for name in TEXTS}
    texts["reasoning_content"] = f.text(delta.get("reasoning_content")) or delta.get("reasoning")
    parts = f.listed(texts["content"])
    if parts:
        texts["content"] = "".join(f.text(f.mapping(part).get("text")) for part in parts)
    said: dict[str, Json] = {n: text for n, text in texts.items() if isinstance(text, str)}
    said |= {"tool_calls": f.objects(delta.get("tool_calls"))}
    said |= {name: delta[name] for name in ("function_call",) if isinstance(delta.get(name), dict)}
    return {**choice, "delta": said, "finish_reason": f.text(choice.get("finish_reason")) or None}


def _recorded_message(said: Json) -> Message | None:
    if not isinstance(said, dict):
        return None
    return recorded_message({"role": "assistant", **said})
