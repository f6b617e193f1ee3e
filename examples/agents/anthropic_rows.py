"""What a careful agent on the Anthropic API needs and any loop can take: no state, no calls.

- `read_stream`, `read_whole`: an answer counts only when its terminal event has come.
- `failure`: what a refusal means: try again, make the request smaller, or tell the user.
- `valid_messages`: a request that the API accepts, for any rows.
- `Breaker`: ends steps that repeat, and lets progress through.
- `stored`, `row_of`: rows of plain dicts as messages of a store, and back.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from harness import Message, Opaque, Text, ToolResult, ToolUse

Row = dict[str, Any]

UNKNOWN = "This call was interrupted. Its outcome is unknown."
RESULT_CHARS, IMAGE_CHARS = 60_000, 5_000_000
TOO_LONG = re.compile(
    r"too long|too large|too many tokens|context.{0,9}(length|window|limit)|(maximum|max) context",
    re.IGNORECASE,
)
PASSING = {"overloaded_error": 529, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504}


class Passing(Exception):
    """The model gave no usable answer, and the next try may bring one."""

    def __init__(self, reason: str, pause_s: float = 0) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


class TooLong(Exception):
    """The provider refuses the size of the request."""


class TurnFailed(Exception):
    """The turn cannot succeed; the text is what the user is told."""


# Texts and blocks


def clean(text: str) -> str:
    """Unicode text: halves of a character are joined where both are there, else replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clip(text: str, limit: int) -> str:
    """The beginning and the end of a text that is longer than `limit`."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]}\n[... shortened ...]\n{text[-(limit // 3) :]}"


def text_of(content: list[Row]) -> str:
    """The visible text of blocks."""
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def calls_of(content: list[Row]) -> list[Row]:
    """The tool calls among blocks."""
    return [block for block in content if block["type"] == "tool_use"]


def once_each(content: list[Row]) -> list[Row]:
    """The blocks of an answer; a call that stands there twice under one id is one call."""
    blocks: list[Row] = []
    for block in content:
        if block["type"] != "tool_use" or not block.get("id") or block not in blocks:
            blocks.append(block)
    return [dict(block) for block in blocks]


def said(role: str, text: str) -> Row:
    """A row of one text."""
    return {"role": role, "content": [{"type": "text", "text": clean(text)}]}


def result(call_id: str, content: str | list[Row], failed: bool = False) -> Row:
    """The block that answers a call."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {**block, "is_error": True} if failed else block


# Reading an answer


def read_whole(pieces: Iterable[bytes]) -> Row:
    """A plain answer; an error in the clothes of one is raised."""
    try:
        answer = json.loads(b"".join(pieces))
    except ValueError as error:
        raise Passing("the answer was not JSON") from error
    if not isinstance(answer, dict):
        raise Passing("the answer was not an object")
    if answer.get("type") == "error":
        raise error_in_body(answer)
    if not isinstance(answer.get("content"), list) or not answer.get("stop_reason"):
        raise Passing("the answer was not whole")
    return answer


def error_in_body(body: Row) -> Exception:
    """The failure that an answer with status 200 tells of."""
    error = body.get("error")
    error = error if isinstance(error, dict) else {}
    status = PASSING.get(str(error.get("type")), 400)
    return failure(status, str(error.get("message") or error or body), {})


def events(pieces: Iterable[bytes]) -> Iterator[Row]:
    """The JSON events of a stream, with any line ends and in any pieces."""
    rest, data = b"", b""
    for piece in chain(pieces, [b"\n\n"]):
        *lines, rest = re.split(rb"\r\n|\n|\r(?=.)", rest + piece, flags=re.DOTALL)
        for line in lines:
            if line.startswith(b"data:"):
                data += line[5:].strip()
            elif not line and data:
                event, data = json.loads(data), b""
                if isinstance(event, dict):
                    yield event


def read_stream(pieces: Iterable[bytes], heard: Callable[[], None] = lambda: None) -> Row:
    """A streamed answer, once its terminal event has come."""
    answer: Row = {"content": [], "stop_reason": None, "usage": {}}
    blocks: dict[int, Row] = {}
    try:
        for event in events(pieces):
            if event.get("type") != "ping":
                heard()
            if event.get("type") == "message_stop" and answer["stop_reason"]:
                return {**answer, "content": [whole_block(block) for block in answer["content"]]}
            take_event(event, answer, blocks)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Passing("the stream could not be read") from error
    raise Passing("the stream broke off")


def take_event(event: Row, answer: Row, blocks: dict[int, Row]) -> None:
    """Add one event to the answer."""
    match event.get("type"):
        case "error":
            raise error_in_body(event)
        case "message_start":
            answer["usage"].update(event["message"].get("usage") or {})
        case "content_block_start":
            block = {**event["content_block"], "json": ""}
            blocks[event["index"]] = block
            answer["content"].append(block)
        case "content_block_delta":
            add_delta(blocks[event["index"]], event["delta"])
        case "message_delta":
            answer["stop_reason"] = event["delta"].get("stop_reason") or answer["stop_reason"]
            answer["usage"].update(event.get("usage") or {})


def add_delta(block: Row, delta: Row) -> None:
    """Add a piece to its block."""
    if delta["type"] == "text_delta":
        block["text"] = block.get("text", "") + delta["text"]
    elif delta["type"] == "input_json_delta":
        block["json"] += delta["partial_json"]


def whole_block(block: Row) -> Row:
    """A block of a stream that has ended; an input that is not JSON stays a text."""
    pieces = block.pop("json")
    if pieces:
        try:
            block["input"] = json.loads(pieces)
        except ValueError:
            block["input"] = pieces
    return block


def failure(status: int, message: str, headers: Any) -> Exception:
    """What a refusal means for the turn."""
    if status == 413 or (TOO_LONG.search(message) and status < 500 and status != 429):
        return TooLong(message)
    passing = status in (408, 409, 429) or status >= 500
    if passing and headers.get("x-should-retry") != "false":
        return Passing(f"status {status}", pause_asked(headers))
    return TurnFailed(f"The model refused the request (status {status}): {clip(message, 300)}")


def pause_asked(headers: Any) -> float:
    """The seconds that the provider asks for, 0 for none."""
    for name, scale in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return max(0.0, float(headers.get(name, "")) / scale)
        except ValueError:
            continue
    return 0


# Requests that the API accepts


def valid_messages(rows: list[Row], limit: int = RESULT_CHARS) -> list[Row]:
    """The rows as messages: roles alternate, each call has its result, no text is blank."""
    merged: list[Row] = []
    for row in rows:
        role = "assistant" if row["role"] == "assistant" else "user"
        content = [fit for block in row["content"] for fit in sendable(block, role, limit)]
        if content and merged and merged[-1]["role"] == role:
            merged[-1]["content"] += content
        elif content:
            merged.append({"role": role, "content": content})
    messages = paired(merged)
    if messages and messages[0]["role"] == "assistant":
        messages.insert(0, said("user", "(The conversation began before this.)"))
    return messages


def sendable(block: Row, role: str, limit: int) -> list[Row]:
    """A block as it may stand in a request, or nothing."""
    match block["type"]:
        case "text":
            text = clip(clean(block["text"]), limit)
            return [{"type": "text", "text": text}] if text.strip() else []
        case "tool_use" if role == "assistant":
            given = block["input"] if isinstance(block["input"], dict) else {}
            # JSON has no number above the largest float; a model may write 1e999.
            given = json.loads(clean(json.dumps(given)), parse_constant=str)
            return [{"type": "tool_use", "id": block["id"], "name": block["name"], "input": given}]
        case "tool_result" if role == "user":
            return [{**block, "content": clipped(block["content"], limit)}]
        case "image" | "document" if role == "user":
            return [block]
        case "server_tool_use" | "web_search_tool_result" if role == "assistant":
            return [block]
    return []


def clipped(content: str | list[Row], limit: int) -> str | list[Row]:
    """The content of a result, with each text cut to `limit`."""
    if isinstance(content, str):
        return clip(clean(content), limit)
    return [part for block in content for part in sendable(block, "user", limit)]


def paired(messages: list[Row]) -> list[Row]:
    """Each call with its own id, and its result at the head of the next message."""
    used: set[str] = set()
    fixed: list[Row] = []
    waiting: list[tuple[str, str]] = []
    for message in [*messages, {"role": "user", "content": []}]:
        if message["role"] == "assistant":
            content, waiting = own_ids(message["content"], used)
            fixed.append({"role": "assistant", "content": content})
            continue
        content = answers(waiting, message["content"])
        waiting = []
        if content:
            fixed.append({"role": "user", "content": content})
    return fixed


def own_ids(content: list[Row], used: set[str]) -> tuple[list[Row], list[tuple[str, str]]]:
    """The blocks with ids that stand nowhere else, and for each call its old and new id."""
    blocks: list[Row] = []
    waiting: list[tuple[str, str]] = []
    originals: list[Row] = []
    for block in content:
        if block["type"] == "tool_use":
            old = str(block["id"])
            if old and block in originals:
                continue
            originals.append(block)
            new = re.sub(r"[^a-zA-Z0-9_-]", "_", old)
            new = new if new and new not in used else f"call_{len(used)}"
            used.add(new)
            waiting.append((old, new))
            block = {**block, "id": new}
        blocks.append(block)
    return blocks, waiting


def answers(waiting: list[tuple[str, str]], content: list[Row]) -> list[Row]:
    """The results of the calls first, one for each, and then what else was said."""
    results = [block for block in content if block["type"] == "tool_result"]
    blocks: list[Row] = []
    for old, new in waiting:
        found = next((r for r in results if r["tool_use_id"] == old), None)
        if found is not None:
            results.remove(found)
        blocks.append({**(found or result("", UNKNOWN, True)), "tool_use_id": new})
    return blocks + [block for block in content if block["type"] != "tool_result"]


# Steps that repeat


class Breaker:
    """Says when a turn makes no progress: equal steps, circles, and calls that only fail."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.round: list[str] = []
        self.alike: list[str] = []
        self.errors: list[str] = []
        self.failures: Counter[str] = Counter()
        self.rounds: list[str] = []
        self.refused = 0

    def stuck(self, call: Row) -> str:
        """Why this call is not to be run; empty when it may."""
        key = json.dumps([call["name"], call["input"]], sort_keys=True)
        if self.failures[key] >= 8 or self.failures[call["name"]] >= 16:
            return "it failed each time"
        last = self.errors[-3:]
        if len(last) == 3 and len(set(last)) == 1 and last[0].startswith(json.dumps(call["name"])):
            return "it failed with the same error three times"
        if circles(self.steps, 3) and any(step.startswith(key) for step in self.steps[-5:]):
            return "the same calls brought the same results three times"
        if circles(self.alike, 6) and self.alike[-1].startswith(key):
            return "its results say nothing new"
        if circles(self.rounds, 3) and key in "".join(self.rounds[-5:]):
            return "the same steps came three times"
        return ""

    def note(self, call: Row, text: str, failed: bool) -> None:
        """Count a call that was run."""
        key, name = json.dumps([call["name"], call["input"]], sort_keys=True), call["name"]
        self.steps.append(key + text)
        self.round.append(key + text)
        self.alike.append(key + re.sub(r"\b[0-9a-f]{8,}\b|\d+", "0", text))
        self.errors.append(json.dumps(name) + text if failed else f"{len(self.steps)}")
        for counted in (key, name):
            self.failures[counted] = self.failures[counted] + 1 if failed else 0

    def end_round(self) -> None:
        """The calls of one answer have been run."""
        self.rounds.append("".join(self.round))
        self.round = []


def circles(steps: list[str], times: int) -> bool:
    """Whether the last steps are one circle of up to five, repeated `times` times."""
    return any(
        len(steps) >= times * size and steps[-times * size :] == steps[-size:] * times
        for size in range(1, 6)
    )


def accepted_name(name: str, used: Iterable[str]) -> str:
    """A name for a tool that the API takes and that no other tool has."""
    name = fits = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:60] or "tool"
    number = 1
    while fits in used:
        number += 1
        fits = f"{name}_{number}"
    return fits


def is_refusal(answer: Row) -> bool:
    """Whether an answer that cost no token says only that the prompt is too long."""
    text = text_of(answer["content"])
    return (
        len(text) < 200
        and bool(TOO_LONG.search(text))
        and not any(
            (answer.get("usage") or {}).get(key) for key in ("input_tokens", "output_tokens")
        )
    )


def readable(answer: Any) -> str | list[Row]:
    """What a tool answered, as the content of a result; never blank, no picture too large."""
    nothing = "(The tool succeeded and said nothing.)"
    if isinstance(answer, list):
        return clipped([part_of(block) for block in answer], RESULT_CHARS) or nothing
    text = "" if answer is None else clip(clean(str(answer)), RESULT_CHARS)
    return text if text.strip() else nothing


def part_of(block: Any) -> Row:
    """A part of a tool's answer; a picture that the API refuses for its size is left out."""
    if not isinstance(block, dict):
        return {"type": "text", "text": str(block)}
    if block.get("type") == "image" and len(json.dumps(block)) > IMAGE_CHARS:
        return {"type": "text", "text": "(A picture is left out: it is too large.)"}
    return block


def words_of(error: BaseException) -> str:
    """The text of an error, also of one that cannot say it."""
    try:
        return clean(str(error)) or type(error).__name__
    except Exception:
        return type(error).__name__


def spoken(row: Row) -> str:
    """A row as a line of a transcript."""
    words = []
    for block in row["content"]:
        match block["type"]:
            case "text":
                words.append(block["text"])
            case "tool_use":
                words.append(f"[calls {block['name']} {json.dumps(block['input'])}]")
            case "tool_result":
                words.append(f"[result: {clip(flat(block['content']), 2000)}]")
    return clean(f"{row['role']}: {' '.join(words)}")


# Rows as the store of the brief keeps them


def stored(row: Row) -> Message:
    """A row as a message of the harness."""
    blocks: list[Any] = []
    for block in row["content"]:
        match block["type"]:
            case "text" if block["text"].strip():
                blocks.append(Text(clean(block["text"])))
            case "tool_use":
                given = json.loads(clean(json.dumps(block["input"])))
                blocks.append(ToolUse(block["id"], block["name"], given))
            case "tool_result":
                content = as_stored(block["content"])
                blocks.append(ToolResult(block["tool_use_id"], content, "is_error" in block))
            case "server_tool_use" | "web_search_tool_result":  # a paused answer ends with these
                blocks.append(Opaque(block["type"], block))
    return Message(row["role"], tuple(blocks))


def flat(content: str | list[Row]) -> str:
    """The content of a result as a text."""
    return content if isinstance(content, str) else "\n".join(map(words_in, content))


def words_in(part: Row) -> str:
    """The text of a part of a result; words stand for a picture."""
    return str(part.get("text", "(A picture was here.)"))


def as_stored(content: str | list[Row]) -> str | tuple[Text, ...]:
    """The content of a result as the store keeps it: texts alone.

    The provider bills a prompt again from the first change on, so a result that was sent as blocks
    comes back as the same blocks.
    """
    if isinstance(content, str):
        return content
    return tuple(Text(clean(words_in(part))) for part in content)


def as_sent(content: str | tuple[Any, ...]) -> str | list[Row]:
    """The content of a stored result as it stood in a request."""
    if isinstance(content, str):
        return content
    return [{"type": "text", "text": text.text} for text in content if isinstance(text, Text)]


def row_of(stored_row: Any) -> Row:
    """A stored row as plain dicts; kinds that are never sent again are left out."""
    content: list[Row] = []
    for block in stored_row.message.blocks:
        match block:
            case Text():
                content.append({"type": "text", "text": block.text})
            case ToolUse():
                call = {"id": block.id, "name": block.name, "input": block.input}
                content.append({"type": "tool_use", **call})
            case ToolResult():
                content.append(result(block.id, as_sent(block.content), block.is_error))
            case Opaque(kind="server_tool_use" | "web_search_tool_result"):
                content.append(block.value)
    role, inbound = stored_row.message.role, stored_row.inbound
    return {"role": role, "content": content, "id": stored_row.id, "inbound": inbound}
