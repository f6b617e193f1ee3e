"""The response object: what the server answers, and how it ended.

The core has one word for why the model stopped, this API a status, a reason and the output itself.
A finished response is `completed`: it says `tool_use` when the output holds calls, `refusal` when
it holds a refusal, else `end_turn`. `max_tokens` is `incomplete` for `max_output_tokens`, and a
`refusal` without words of its own is `incomplete` for `content_filter`. Any other stop that does
not follow from the output is sent as the reason of an incomplete response, word for word: a client
has to live through reasons that it does not know. `failed`, or `failed:CODE`, is a response that
failed. No stop at all is no status at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.transition.ports import Reading
from harness.core.values.messages import Block, Json, ToolSpec, ToolUse
from harness.core.values.plans import Reply
from harness.providers.codec import encode
from harness.providers.openai_responses.text import is_refusal
from harness.providers.tokens import tokens

_REASONS = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}
_STOPS = {reason: stop for stop, reason in _REASONS.items()}
FAILED = "failed"


def finished(blocks: Sequence[Block]) -> str:
    """Why the model stopped that finished and said this."""
    if any(isinstance(block, ToolUse) for block in blocks):
        return "tool_use"
    return "refusal" if any(map(is_refusal, blocks)) else "end_turn"


def stop_of(response: dict[str, Json], blocks: Sequence[Block]) -> str | None:
    """Why the model stopped, by a response object; None for one that is not at its end."""
    status, details = response.get("status"), response.get("incomplete_details")
    if status == "completed":
        return finished(blocks)
    if status == "incomplete":
        reason = details.get("reason") if isinstance(details, dict) else None
        return _STOPS.get(reason, reason) if isinstance(reason, str) else "incomplete"
    return status if status in (FAILED, "cancelled") else None


def ending(reply: Reply) -> dict[str, Json]:
    """The fields of a response that say how it ended."""
    stop = reply.stop
    ended: dict[str, Json] = {"status": None, "error": None, "incomplete_details": None}
    if stop is None:
        return ended
    if stop.partition(":")[0] == FAILED:
        code = stop.partition(":")[2] or "server_error"
        error = {"code": code, "message": "The model failed to generate a response."}
        return {**ended, "status": FAILED, "error": error}
    if stop == finished(reply.blocks):
        return {**ended, "status": "completed"}
    details = {"reason": _REASONS.get(stop, stop)}
    return {**ended, "status": "incomplete", "incomplete_details": details}


def response_object(
    reply: Reply, output: list[dict[str, Json]], reading: Reading, id_: str
) -> dict[str, Json]:
    """The response with this output. It is made at the epoch, for no clock is read here."""
    settings = reading.settings
    return {
        "id": id_,
        "object": "response",
        "created_at": 0,
        **ending(reply),
        "instructions": reading.system or None,
        "max_output_tokens": reading.max_tokens,
        "model": reading.model,
        "output": output,
        "parallel_tool_calls": settings.get("parallel_tool_calls", True),
        "previous_response_id": settings.get("previous_response_id"),
        "conversation": settings.get("conversation"),
        "store": settings.get("store", True),
        "tool_choice": settings.get("tool_choice", "auto"),
        "tools": [_tool(tool) for tool in reading.tools],
        "truncation": settings.get("truncation", "disabled"),
        "metadata": settings.get("metadata", {}),
        "usage": _usage(reply, output, reading.tokens),
    }


def _tool(tool: ToolSpec) -> dict[str, Json]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
    }


def _usage(reply: Reply, output: list[dict[str, Json]], asked: int) -> dict[str, Json]:
    usage: dict[str, Json] = {
        "input_tokens": asked,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": tokens(len(encode(output))),
        "output_tokens_details": {"reasoning_tokens": 0},
        **reply.usage,
    }
    counts = usage["input_tokens"], usage["output_tokens"]
    total = sum(count for count in counts if isinstance(count, int))
    return {"total_tokens": total, **usage}
