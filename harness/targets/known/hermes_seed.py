"""Writes a stored session into the `state.db` of hermes, with its own class and interpreter.

Only this file knows how a message becomes rows of hermes: those of OpenAI Chat, with a row for each
tool result. `HERMES_HOME` is the folder.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SESSION = "main"


def main() -> None:
    """Write the rows of the file that the argument names."""
    from hermes_state import SessionDB  # type: ignore[import-not-found]

    db = SessionDB()
    db.create_session(SESSION, "api_server")
    for line in Path(sys.argv[1]).read_text("utf-8").splitlines():
        for row in rows(json.loads(line)):
            db.append_message(SESSION, **row)


def rows(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the rows of a message: its results, then its text and calls."""
    blocks = message["blocks"]
    for block in blocks:
        if block["type"] == "tool_result":
            yield {"role": "tool", "content": _text(block), "tool_call_id": block["id"]}
    said = [block for block in blocks if block["type"] in ("text", "opaque")]
    calls = [_call(block) for block in blocks if block["type"] == "tool_use"]
    thought = "\n".join(b.get("text", "") for b in blocks if b["type"] == "thinking")
    if said or calls or thought or not blocks:
        row = {"role": message["role"], "content": _content(said), "tool_calls": calls or None,
               "reasoning": thought or None}  # fmt: skip
        yield {name: value for name, value in row.items() if value is not None}


def _content(said: list[dict[str, Any]]) -> Any:
    if all(block["type"] == "text" for block in said):
        return "\n".join(block["text"] for block in said)
    return [_part(block) for block in said]


def _part(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "text":
        return {"type": "text", "text": block["text"]}
    source = block["value"].get("source", {})
    url = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
    return {"type": "image_url", "image_url": {"url": url}}


def _call(block: dict[str, Any]) -> dict[str, Any]:
    said = block.get("input")
    arguments = said if isinstance(said, str) else json.dumps(said)
    called = {"name": f"mcp__harness__{block['name']}", "arguments": arguments}
    return {"id": block["id"], "type": "function", "function": called}


def _text(block: dict[str, Any]) -> str:
    content = block.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


if __name__ == "__main__":
    main()
