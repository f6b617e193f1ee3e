"""Writes a stored session as a known program keeps one: the forms that `recordings` reads.

Only this file knows how they are written. A form holds what its program writes by itself. What a
form cannot hold makes a run not applicable, because without it the run would ask another question.
The driver imports this file only for a run with a stored session.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec

from harness.agent.conversation.content import picture_url, text_of
from harness.agent.models.anthropic_blocks import write_message
from harness.agent.models.gemini_model import SIGNATURE, write_contents
from harness.agent.models.openai_responses_model import write_items
from harness.core.values.messages import Block, Json, Message, Text, Thinking, ToolResult, ToolUse
from harness.files.regular_file import whole

_Object: TypeAlias = dict[str, Json]


class Past(NamedTuple):
    """A stored session, and what a program notes beside one."""

    messages: tuple[Message, ...]
    id: str
    work: str
    version: str
    model: str
    prefix: str

    def name(self, number: int) -> str:
        """The name of an entry."""
        return str(uuid.uuid5(uuid.UUID(self.id), str(number)))

    def ms(self, number: int) -> int:
        """The time of an entry: each some seconds before the run."""
        return int(time.time() * 1000) - 1000 * (2 * len(self.messages) - number)

    def stamp(self, number: int) -> str:
        """The same, as text."""
        ms = self.ms(number)
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(ms // 1000))}.{ms % 1000:03}Z"

    def linked(self, number: int) -> _Object:
        """The envelope of an entry of a tree, in which each is the child of the one before."""
        return {
            "uuid": self.name(number), "parentUuid": self.name(number - 1) if number else None,
            "sessionId": self.id, "timestamp": self.stamp(number), "cwd": self.work,
            "version": self.version,
        }  # fmt: skip

    def contents(self) -> Iterator[_Object]:
        """The messages as contents of Gemini, without the signature that the API alone needs."""
        for content in write_contents(self.messages):
            for part in content["parts"]:
                part.pop(SIGNATURE, None)
            yield content


def document(form: str, seed: Path, **facts: str) -> str:
    """Return a session file of a form, with the messages of the run's seed."""
    lines = whole(seed).splitlines()
    past = Past(tuple(_offered(line, facts["prefix"]) for line in lines), **facts)
    return "".join(json.dumps(entry) + "\n" for entry in _FORMS[form](past))


def unwritable(form: str, messages: Sequence[Message]) -> str:
    """Return what of a stored session a form cannot hold; "" if it holds all."""
    if form in ("codex", "gemini_cli", "qwen_code") and not all(m.blocks for m in messages):
        return "an empty message"
    called = {call.id for message in messages for call in message.tool_uses}
    if form == "gemini_cli" and called - {r.id for m in messages for r in m.tool_results}:
        return "a call without a result"
    return _unasked(messages) if form == "opencode" else ""


def _unasked(messages: Sequence[Message]) -> str:
    """Where an answer names its question, and a call and its result are one part, each answer needs
    a question, and each result a call."""
    if messages and messages[0].role == "assistant":
        return "an answer without a question"
    open_calls: list[str] = []
    for message in messages:
        open_calls += [call.id for call in message.tool_uses]
        for result in message.tool_results:
            if result.id not in open_calls:
                return "a result without its call"
            open_calls.remove(result.id)
    return ""


def _offered(line: bytes, prefix: str) -> Message:
    """A message, with its calls as the program knows the tools."""
    message = msgspec.json.decode(line, type=Message)
    blocks = [
        msgspec.structs.replace(block, name=prefix + block.name)
        if isinstance(block, ToolUse) else block
        for block in message.blocks
    ]  # fmt: skip
    return Message(message.role, tuple(blocks))


def _claude_code(past: Past) -> Iterator[_Object]:
    for n, message in enumerate(past.messages):
        said = write_message(message)
        if message.role == "assistant":
            stop = "tool_use" if message.tool_uses else "end_turn"
            usage = {"input_tokens": 0, "output_tokens": 0}
            told = {"id": f"msg_{n}", "type": "message", "model": past.model}
            said |= {**told, "stop_reason": stop, "usage": usage}
        kind = {"isSidechain": False, "userType": "external", "type": message.role}
        yield {**past.linked(n), **kind, "message": said}


def _codex(past: Past) -> Iterator[_Object]:
    begun = past.stamp(0)
    meta = {"id": past.id, "timestamp": begun, "cwd": past.work, "originator": "codex_exec",
            "cli_version": past.version, "source": "exec", "model_provider": "harness"}  # fmt: skip
    yield {"timestamp": begun, "type": "session_meta", "payload": meta}
    for n, message in enumerate(past.messages):
        entries = [("response_item", _item(item, past.prefix)) for item in write_items(message)]
        if message.role == "user":  # a session in which no user spoke is not found again
            entries.append(("event_msg", {"type": "user_message", "message": message.text}))
        for kind, payload in entries:
            yield {"timestamp": past.stamp(n), "type": kind, "payload": payload}


def _item(item: _Object, prefix: str) -> _Object:
    """An item of the API as codex keeps it: the server of a tool stands beside its name."""
    if item.get("type") == "function_call":
        return {**item, "name": item["name"].removeprefix(prefix), "namespace": prefix.rstrip("_")}
    return {"type": "message", **item} if "role" in item else item


def _gemini_cli(past: Past) -> Iterator[_Object]:
    begun = past.stamp(0)
    yield {"sessionId": past.id, "projectHash": past.id, "startTime": begun, "lastUpdated": begun,
           "kind": "main"}  # fmt: skip
    for n, content in enumerate(past.contents()):
        kind = "gemini" if content["role"] == "model" else "user"
        yield {"id": past.name(n), "timestamp": past.stamp(n), "type": kind,
               "content": content["parts"]}  # fmt: skip


def _qwen_code(past: Past) -> Iterator[_Object]:
    for n, content in enumerate(past.contents()):
        is_result = any("functionResponse" in part for part in content["parts"])
        kind = "assistant" if content["role"] == "model" else "tool_result" if is_result else "user"
        yield {**past.linked(n), "type": kind, "message": content}


def _opencode(past: Past) -> Iterator[_Object]:
    results = {result.id: result for message in past.messages for result in message.tool_results}
    last, session = past.ms(len(past.messages)), f"ses_{past.id}"
    info = {"id": session, "slug": "past", "projectID": "global", "directory": past.work,
            "title": past.id, "version": past.version,
            "time": {"created": past.ms(0), "updated": last}}  # fmt: skip
    messages: list[_Object] = []
    asked = ""
    for n, message in enumerate(past.messages):
        if message.blocks and all(isinstance(block, ToolResult) for block in message.blocks):
            continue  # it stands with its call
        named = {"id": f"msg_{n:012x}{'0' * 14}", "sessionID": session}
        asked = named["id"] if message.role == "user" else asked
        parts = [
            {"id": f"prt_{n:06x}{m:06x}{'0' * 14}", "messageID": named["id"],
             "sessionID": session, **part}
            for m, part in enumerate(_parts(message, results, past.ms(n)))
        ]  # fmt: skip
        messages.append({"info": {**named, **_info(message, past, n, asked)}, "parts": parts})
    yield {"info": info, "messages": messages}


def _info(message: Message, past: Past, number: int, asked: str) -> _Object:
    """What opencode notes of a message: `asked` is that of the user before it."""
    at, model = past.ms(number), {"providerID": "harness", "modelID": past.model}
    if message.role == "user":
        return {"role": "user", "time": {"created": at}, "agent": "build", "model": model}
    tokens = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    return {
        "role": "assistant", "parentID": asked, "mode": "build", "agent": "build", **model,
        "path": {"cwd": past.work, "root": "/"}, "cost": 0, "tokens": tokens,
        "time": {"created": at, "completed": at},
        "finish": "tool-calls" if message.tool_uses else "stop",
    }  # fmt: skip


def _parts(message: Message, results: dict[str, ToolResult], at: int) -> Iterator[_Object]:
    if message.role == "assistant":
        yield {"type": "step-start"}
    for block in message.blocks:
        if part := _opencode_part(block, results, at):
            yield part


def _opencode_part(block: Block, results: dict[str, ToolResult], at: int) -> _Object:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, Thinking):
        signed = {"metadata": {"anthropic": {"signature": block.signature}}}
        thought = {"type": "reasoning", "text": block.text, "time": {"start": at, "end": at}}
        return {**thought, **signed} if block.signature else thought
    if isinstance(block, ToolUse):
        state = {"input": block.input, **_state(results.get(block.id), at)}
        return {"type": "tool", "tool": block.name, "callID": block.id, "state": state}
    url = picture_url(block)
    return {"type": "file", "mime": "image/png", "url": url} if url else {}


def _state(result: ToolResult | None, at: int) -> dict[str, Any]:
    """What became of a call; one without a result still ran when the program ended."""
    span = {"start": at, "end": at}
    if result is None:
        return {"status": "running", "time": {"start": at}}
    if result.is_error:
        return {"status": "error", "error": text_of(result), "time": span}
    said = {"output": text_of(result), "title": "", "metadata": {}}
    return {"status": "completed", **said, "time": span}


_FORMS: dict[str, Callable[[Past], Iterator[_Object]]] = {
    "claude_code": _claude_code,
    "codex": _codex,
    "gemini_cli": _gemini_cli,
    "opencode": _opencode,
    "qwen_code": _qwen_code,
}
FORMS = tuple(_FORMS)
