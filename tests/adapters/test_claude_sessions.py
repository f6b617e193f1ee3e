"""A past as a session file of Claude Code, approvals, and turns, without the SDK."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from harness import Message, Text, Thinking, ToolResult, ToolUse, assistant, results, user
from harness.adapters.claude_sessions import Chat, TurnFailed, _folder_name, _lines, _result
from harness.core.values.calls import Approval
from harness.core.values.messages import Opaque
from harness.stores.formats.claude_code import claude_code

PICTURE = Opaque(
    "image", {"source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}
)


def test_a_past_is_read_back_from_the_session_file(tmp_path: Path) -> None:
    past = [
        Message("user", (Text("Look."), PICTURE)),
        assistant(
            Thinking("I look.", "sig"), Text("I look."), ToolUse("toolu_1", "look", {"a": 1})
        ),
        results(ToolResult("toolu_1", "a cat", is_error=True)),
        assistant(Thinking("A thought alone.", "sig")),
        user("Thanks."),
    ]
    file = tmp_path / "session.jsonl"
    file.write_bytes(b"".join(_lines(past, "an-id", "/home")))
    read = [message for _, message in claude_code(file).read()]
    assert [message.role for message in read] == ["user", "assistant", "user", "user"]
    assert read[1].tool_uses == (ToolUse("toolu_1", "mcp__harness__look", {"a": 1}),)
    (result,) = read[2].tool_results
    assert (result.id, result.text, result.is_error) == ("toolu_1", "a cat", True)
    assert read[3].text == "Thanks."
    assert not any(isinstance(block, Thinking) for message in read for block in message.blocks)


def test_a_block_that_no_session_takes_is_refused() -> None:
    with pytest.raises(TypeError, match="of the kind search_result"):
        list(_lines([Message("user", (Opaque("search_result", {}),))], "an-id", "/home"))


def test_a_folder_has_the_name_that_claude_code_gives_it() -> None:
    assert _folder_name(Path("/tmp/a_b.c")) == "-tmp-a-b-c"


def test_what_a_tool_says_is_text_or_blocks() -> None:
    text = {"type": "text", "text": "yes"}
    assert _result("yes", True) == {"content": [text], "is_error": True}
    assert _result([text], False) == {"content": [text], "is_error": False}
    assert _result({"a": None}, False)["content"] == [{"type": "text", "text": '{"a":null}'}]


class _Result(SimpleNamespace):
    """The last message of a turn."""


@pytest.fixture
def sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ModuleType("claude_agent_sdk")
    made.__dict__.update(
        PermissionResultAllow=SimpleNamespace,
        PermissionResultDeny=SimpleNamespace,
        ResultMessage=_Result,
    )
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", made)


class _Client:
    """A Claude Code that says one thing, and waits for an interrupt before it, if it must."""

    def __init__(self, said: Any, waits: bool = False) -> None:
        self.said, self.stopped, self.asked = said, asyncio.Event(), ""
        self.waits = waits

    async def query(self, text: str) -> None:
        self.asked = text

    async def interrupt(self) -> None:
        self.stopped.set()

    async def receive_response(self) -> Any:
        if self.waits:
            await self.stopped.wait()
        yield SimpleNamespace(result="in between")
        yield self.said


def _answer(client: Any, *, cancelled: bool = False) -> str | None:
    brief = SimpleNamespace(session_dir="/nowhere", cancelled=lambda session: cancelled)
    chat = Chat(brief, None, SimpleNamespace())  # type: ignore[arg-type]
    chat._clients["main"] = client
    return asyncio.run(chat.answer(SimpleNamespace(session="main", text="Hello.")))


@pytest.mark.usefixtures("sdk")
def test_a_turn_has_the_words_of_its_result() -> None:
    client = _Client(_Result(is_error=False, result="Hello, you."))
    assert _answer(client) == "Hello, you."
    assert client.asked == "Hello."


@pytest.mark.usefixtures("sdk")
@pytest.mark.parametrize(
    ("said", "words"),
    [
        (_Result(is_error=True, result="API Error: 529", errors=None, subtype="success"), "529"),
        (_Result(is_error=True, result=None, errors=None, subtype="error_max_turns"), "max_turns"),
        (SimpleNamespace(), "None"),
    ],
)
def test_a_turn_that_failed_says_so(said: Any, words: str) -> None:
    with pytest.raises(TurnFailed, match=words):
        _answer(_Client(said))


@pytest.mark.usefixtures("sdk")
def test_a_cancel_interrupts_the_turn() -> None:
    client = _Client(_Result(is_error=True), waits=True)
    assert _answer(client, cancelled=True) is None
    assert client.stopped.is_set()


@pytest.mark.usefixtures("sdk")
@pytest.mark.parametrize(
    ("said", "told"),
    [
        (Approval("c1", "allow", input={"sum": 5}), SimpleNamespace(updated_input={"sum": 5})),
        (
            Approval("c1", "deny", reason="Too much."),
            SimpleNamespace(message="Not run. The user says: Too much."),
        ),
        (
            Approval("another", "allow", input={"sum": 5}),
            SimpleNamespace(message="Not run. The user has not answered."),
        ),
    ],
)
def test_a_call_runs_as_the_user_allows_it(said: Approval, told: Any) -> None:
    asked: list[Any] = []

    async def ask_async(name: str, input: Any, *, id: str, session: str) -> Approval:
        asked.append((name, input, id, session))
        return said

    chat = Chat(SimpleNamespace(session_dir=".", ask_async=ask_async), None, SimpleNamespace())  # type: ignore[arg-type]
    context = SimpleNamespace(tool_use_id="c1")
    assert asyncio.run(chat._asks("main")("mcp__harness__pay", {"sum": 5}, context)) == told
    assert asked == [("pay", {"sum": 5}, "c1", "main")]
