"""The past of a scenario as messages of agent-framework, without the framework itself."""

from __future__ import annotations

import base64
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from harness import Message, Text, Thinking, ToolResult, ToolUse, assistant, results, user
from harness.adapters.framework_session import _open, _rows, _wire_of
from harness.core.values.messages import Opaque

PICTURE = Opaque(
    "image", {"source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}
)


def _recorder(name: str) -> Any:
    """A function of the framework that keeps what it is called with."""
    return lambda *given, **named: (name, *given, *named.values())


@pytest.fixture(autouse=True)
def _framework(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = ("from_text", "from_function_call", "from_function_result", "from_data")
    package: Any = ModuleType("agent_framework")
    package.Content = SimpleNamespace(**{name: _recorder(name) for name in kinds})
    package.Message = lambda role, contents: (role, contents)
    monkeypatch.setitem(sys.modules, "agent_framework", package)


def _made(*past: Message) -> list[Any]:
    return [row for message in past for row in _rows(message)]


def test_a_past_becomes_messages_and_results_are_of_the_role_tool() -> None:
    said = assistant(Thinking("I look.", "sig"), Text("I look."), ToolUse("c1", "look", {"at": 1}))
    told = results(ToolResult("c1", "a cat"), ToolResult("c2", "none", is_error=True))
    assert _made(user("Look."), said, told) == [
        ("user", [("from_text", "Look.")]),
        ("assistant", [("from_text", "I look."), ("from_function_call", "c1", "look", {"at": 1})]),
        ("tool", [("from_function_result", "c1", "a cat")]),
        ("tool", [("from_function_result", "c2", "none", "none")]),
    ]


def test_an_input_that_is_no_object_is_text() -> None:
    assert _made(assistant(ToolUse("c1", "look", ["a"]))) == [
        ("assistant", [("from_function_call", "c1", "look", '["a"]')])
    ]


def test_a_picture_stays_a_picture_and_an_unknown_block_is_refused() -> None:
    picture = ("from_data", base64.b64decode("iVBORw0="), "image/png")
    assert _made(Message("user", (PICTURE,))) == [("user", [picture])]
    with pytest.raises(TypeError, match="of the kind search_result"):
        _made(Message("user", (Opaque("search_result", {}),)))


def test_the_requests_of_the_last_row_alone_are_open() -> None:
    asks, says = SimpleNamespace(user_input_request=True), SimpleNamespace(user_input_request=False)
    asked, answered = SimpleNamespace(contents=[says, asks]), SimpleNamespace(contents=[says])
    assert _open([]) == []
    assert _open([answered, asked]) == [asks]
    assert _open([asked, answered]) == []


def test_the_class_of_a_client_tells_its_wire() -> None:
    mine = type("Mine", (type("OpenAIChatCompletionClient", (), {}),), {})
    assert _wire_of(mine()) == "openai-chat"
    assert _wire_of(type("OpenAIChatClient", (), {})()) == "openai-responses"
    assert _wire_of(type("OllamaChatClient", (), {})()) == ""
