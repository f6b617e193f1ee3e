"""The past of a scenario as messages of pydantic-ai, without the framework itself."""

from __future__ import annotations

import asyncio
import base64
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from harness import Message, Text, Thinking, ToolResult, ToolUse, assistant, results, user
from harness.adapters.pydantic_agent import Conversations, _rows
from harness.core.values.calls import Approval
from harness.core.values.messages import Opaque

PICTURE = Opaque(
    "image", {"source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}
)


def _recorder(name: str) -> Any:
    """A class of the framework that keeps what it is made with."""
    return lambda *given, **named: (name, *given, *named.values())


@pytest.fixture(autouse=True)
def _framework(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = ("UserPromptPart", "TextPart", "ToolCallPart", "ToolReturnPart", "BinaryContent")
    messages = SimpleNamespace(**{name: _recorder(name) for name in kinds})
    messages.ModelRequest = lambda parts: ("request", parts)
    messages.ModelResponse = lambda parts: ("response", parts)
    package: Any = ModuleType("pydantic_ai")
    package.messages = messages
    tools: Any = ModuleType("pydantic_ai.tools")
    tools.ToolApproved = lambda override_args: ("approved", override_args)
    tools.ToolDenied = lambda why: ("denied", why)
    monkeypatch.setitem(sys.modules, "pydantic_ai", package)
    monkeypatch.setitem(sys.modules, "pydantic_ai.tools", tools)


def test_a_past_becomes_messages_and_a_result_has_the_name_of_its_tool() -> None:
    said = assistant(Thinking("I look.", "sig"), Text("I look."), ToolUse("c1", "look", {"at": 1}))
    past = [user("Look."), said, results(ToolResult("c1", "none", is_error=True))]
    assert _rows(past) == [
        ("request", [("UserPromptPart", "Look.")]),
        ("response", [("TextPart", "I look."), ("ToolCallPart", "look", {"at": 1}, "c1")]),
        ("request", [("ToolReturnPart", "look", "none", "c1", "failed")]),
    ]


def test_a_picture_stays_a_picture_and_an_unknown_block_is_refused() -> None:
    (row,) = _rows([Message("user", (PICTURE,))])
    picture = ("BinaryContent", base64.b64decode("iVBORw0="), "image/png")
    assert row == ("request", [("UserPromptPart", [picture])])
    with pytest.raises(TypeError, match="of the kind search_result"):
        _rows([Message("user", (Opaque("search_result", {}),))])


class _Asked:
    """A run that ends with a call to allow, and the channel to a user who answers it."""

    def __init__(self, said: Any) -> None:
        self._said = said
        call = SimpleNamespace(tool_name="pay", tool_call_id="c1", args_as_dict=lambda: {"sum": 5})
        self.approvals = [call]

    def build_results(self, approvals: dict[str, Any]) -> dict[str, Any]:
        return approvals

    async def ask_async(self, name: str, input: Any, *, id: str, session: str) -> Any:
        if isinstance(self._said, Exception):
            raise self._said
        return self._said


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (Approval("c1", "allow", {"sum": 6}), ("approved", {"sum": 6})),
        (Approval("c1", "deny", reason="No."), ("denied", "Not run. The user says: No.")),
        (Approval("c2", "allow"), ("denied", "Not run. The user has not answered.")),
        (TimeoutError("silent"), ("denied", "Not run. The user has not answered.")),
        (ConnectionError("lost"), ("denied", "Not run. The user has not answered.")),
    ],
)
def test_a_call_is_denied_where_the_channel_is_silent(said: Any, told: tuple[str, Any]) -> None:
    asked = _Asked(said)
    talks = Conversations(asked, None, None, {})
    assert asyncio.run(talks._asked(asked, "main")) == {"c1": told}


def test_what_a_cancelled_run_has_done_is_kept_with_its_calls_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class RunCancelled(Exception):
        def all_messages(self) -> list[str]:
            return ["asked", "a call without its result"]

    async def stops(prompt: str, **_: Any) -> None:
        raise RunCancelled

    exceptions: Any = ModuleType("pydantic_ai.exceptions")
    exceptions.RunCancelled = RunCancelled
    messages: Any = ModuleType("pydantic_ai.messages")
    messages.repair_messages = lambda rows: [*rows, "closed"]
    for module in (exceptions, messages):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    talks = Conversations(SimpleNamespace(options={}), SimpleNamespace(run=stops), None, {})
    talks._until_cancelled = lambda name: None  # type: ignore[method-assign]
    message = SimpleNamespace(session="main", text="Go.")
    assert asyncio.run(talks.answer(message)) is None
    assert talks._histories["main"] == ["asked", "a call without its result", "closed"]
