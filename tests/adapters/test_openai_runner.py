"""The past of a scenario as the items of a session, without openai-agents itself."""

from __future__ import annotations

import pytest

from harness import Message, Text, Thinking, ToolResult, ToolUse, assistant, results, user
from harness.adapters.openai_runner import _items
from harness.core.values.messages import Opaque

PICTURE = Opaque(
    "image", {"source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}
)


def test_a_message_becomes_items_in_its_order() -> None:
    call = ToolUse("call_1", "look", {"at": "ß"})
    past = [
        user("Look."),
        assistant(Thinking("I look.", "sig"), Text("I look."), call),
        results(ToolResult("call_1", (Text("a cat"), Text("a dog")))),
    ]
    assert [item for message in past for item in _items(message)] == [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "I look."},
        {
            "type": "function_call", "call_id": "call_1", "name": "look",
            "arguments": '{"at": "\\u00df"}',
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "a cat\na dog"},
    ]  # fmt: skip


def test_a_picture_stays_a_picture_and_an_unknown_block_is_refused() -> None:
    (item,) = _items(Message("user", (Text("What is it?"), PICTURE)))
    assert item["content"] == [
        {"type": "input_text", "text": "What is it?"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0="},
    ]
    with pytest.raises(TypeError, match="of the kind search_result"):
        list(_items(Message("user", (Opaque("search_result", {}),))))
