"""A stored session as rows of hermes."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from harness.core.values.messages import Message, Opaque, Text, Thinking, ToolResult, ToolUse
from harness.recordings.readers import hermes
from harness.targets.known.hermes_seed import rows

SESSION = (
    Message("user", (Text("Look Ada up."),)),
    Message("assistant", (Thinking("Hm."), Text("Looking."), ToolUse("c1", "find", {"of": "Ada"}))),
    Message("user", (ToolResult("c1", (Text("found"),)), Text("And?"))),
    Message("assistant", ()),
)


def _rows(message: Message) -> list[dict[str, Any]]:
    return list(rows(json.loads(msgspec.json.encode(message))))


def test_what_is_laid_into_a_database_reads_back() -> None:
    laid = [row for message in SESSION for row in _rows(message)]
    kept = [{**row, "tool_calls": json.dumps(row.get("tool_calls") or [])} for row in laid]
    asked, looking, result, again, blank = map(hermes.message, kept)
    assert (asked, blank) == (SESSION[0], SESSION[3])
    assert (looking.text, looking.tool_uses[0].id) == ("Looking.", "c1")
    assert looking.tool_uses[0].name == "mcp__harness__find"
    assert looking.tool_uses[0].input == {"of": "Ada"}
    assert [block for block in looking.blocks if isinstance(block, Thinking)] == [Thinking("Hm.")]
    assert (result.tool_results[0].id, result.tool_results[0].text) == ("c1", "found")
    assert again == Message("user", (Text("And?"),))


def test_a_picture_goes_in_as_its_url() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    seen = Message("user", (Text("See."), Opaque("image", {"type": "image", "source": source})))
    (row,) = _rows(seen)
    text, picture = row["content"]
    assert text == {"type": "text", "text": "See."}
    assert picture["image_url"]["url"] == "data:image/png;base64,aGk="
