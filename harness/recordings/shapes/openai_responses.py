"""OpenAI Responses: items in, items out.

An answer is a list of items (reasoning, calls, texts), and the next request sends them back flat.
So neighbouring items of the assistant are read as one message, as they were said. A result is a
message of role `tool`. The server may keep what came before (`previous_response_id`,
`conversation`); then a result may come without its call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Block, Json, Message, Opaque, ToolResult, ToolSpec, ToolUse
from harness.core.values.plans import ApiError
from harness.recordings.shapes import fields as f
from harness.recordings.shapes import sse
from harness.recordings.shapes.errors import error_of
from harness.recordings.transcripts import Asked

_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "summary_text": "text"}

_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "computer_call": "action",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
}
"""The items that are calls to the client, and the field with the arguments."""

_RESULTS = frozenset({*(f"{kind}_output" for kind in _CALLS), "tool_search_output"})

_STOPS = ("completed", "complete", "incomplete")


def request(value: dict[str, Json]) -> Asked | None:
    """A request as messages; one that names a stored prompt, or that has its instructions alone
    and an empty input, may have none of its own."""
    given = value.get("input")
    if not isinstance(given, (str, list)) and "prompt" not in value:
        return None
    said = [{"role": "user", "content": given}] if given else []
    items = said if isinstance(given, str) else f.objects(given)
    added = [t for item in items for t in f.listed(item.get("tools"))]
    return Asked(
        messages=tuple(messages(items)),
        system=f.text(value.get("instructions")),
        tools=tuple(_tools([*f.listed(value.get("tools")), *added])),
        model=f.text(value.get("model")),
        max_tokens=f.whole(value.get("max_output_tokens")),
        stream=value.get("stream") is True,
        stateful=_is_stateful(value, items),
    )


def _is_stateful(value: dict[str, Json], items: list[dict[str, Json]]) -> bool:
    held = value.get("previous_response_id") or value.get("conversation")
    return bool(held) or any(item.get("type") == "item_reference" for item in items)


def _tools(declared: Iterable[Json]) -> Iterator[ToolSpec]:
    """The functions that are declared, those inside a namespace too."""
    for tool in declared:
        tool = f.mapping(tool)
        if tool.get("type") == "namespace":
            yield from (f.tool(inner) for inner in f.objects(tool.get("tools")))
        elif "name" in tool:
            yield f.tool(tool)


def messages(items: Iterable[dict[str, Json]]) -> Iterator[Message]:
    """Items as messages: neighbours of the assistant are one."""
    said: list[Block] = []
    for item in items:
        role, blocks = _item(item)
        if role == "assistant":
            said.extend(blocks)
            continue
        if said:
            yield Message("assistant", tuple(said))
            said = []
        yield Message(role, blocks)
    if said:
        yield Message("assistant", tuple(said))


def _item(item: dict[str, Json]) -> tuple[str, tuple[Block, ...]]:
    kind = f.text(item.get("type"))
    if kind in _CALLS or (kind == "tool_search_call" and item.get("execution") == "client"):
        return "assistant", (_call(item, kind),)
    if kind in _RESULTS and item.get("execution") != "server":
        return "tool", (_result(item),)
    if "role" in item and kind not in ("message", ""):
        return f.text(item.get("role")), (Opaque(kind, item),)
    if kind in ("message", ""):
        role = f.text(item.get("role")) or "assistant"
        return role, f.blocks(item.get("content"), _TEXTS)
    return "assistant", (Opaque(kind, item),)


def _call(item: dict[str, Json], kind: str) -> ToolUse:
    given = f.arguments(item.get(_CALLS.get(kind, "arguments")))
    name = f.text(item.get("name")) or kind.removesuffix("_call")
    return ToolUse(f.text(item.get("call_id")) or f.text(item.get("id")), name, given)


def _result(item: dict[str, Json]) -> ToolResult:
    content = item["output"] if "output" in item else item.get("tools")
    return ToolResult(f.text(item.get("call_id")), f.result_content(content, _TEXTS))


def answer(body: bytes, content_type: str) -> Parsed:
    """An answer as a message."""
    if sse.is_stream(body, content_type):
        return _streamed(body)
    value = f.parse(body)
    return _response(value) if isinstance(value, dict) else Parsed(None, complete=False)


def _response(value: dict[str, Json], items: list[dict[str, Json]] | None = None) -> Parsed:
    """A response object; `items` stand in for an output that it leaves out."""
    if (error := error_of(value)) is not None:
        return Parsed(None, error=error)
    output = f.objects(value.get("output")) or items or []
    status = f.text(value.get("status"))
    if not output and status not in _STOPS:
        return Parsed(None, complete=False)
    blocks = [block for message in messages(output) for block in message.blocks]
    ended = status in _STOPS
    return Parsed(Message("assistant", tuple(blocks)), _stop(value, status), complete=ended)


def _stop(value: dict[str, Json], status: str) -> str | None:
    reason = f.text(f.mapping(value.get("incomplete_details")).get("reason"))
    return reason or status or None


def _streamed(body: bytes) -> Parsed:
    last: dict[str, Json] = {}
    done: list[dict[str, Json]] = []
    for value in sse.values(body):
        kind = f.text(value.get("type"))
        if kind == "error":
            return Parsed(None, complete=False, error=error_of(value) or _flat_error(value))
        if kind == "response.output_item.done":
            done.append(f.mapping(value.get("item")))
        last = f.mapping(value.get("response")) or last
    return _response(last, done)


def _flat_error(value: dict[str, Json]) -> ApiError:
    return ApiError(0, f.text(value.get("code")), f.text(value.get("message")))
