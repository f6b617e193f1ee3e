"""The past as messages of LlamaIndex, a cancel and an approval, without the framework itself."""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import AsyncIterator, Generator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from harness import Message, Text, Thinking, ToolResult, ToolUse, assistant, results, user
from harness.adapters.function_memory import Chat, _rows, llama_index
from harness.core.values.calls import Approval
from harness.core.values.messages import Opaque

CALLS = ("c1", "c2")
PICTURE = Opaque(
    "image", {"source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}
)


class Cancelled(Exception):
    """As the framework says that a run was cancelled."""


@pytest.fixture(autouse=True)
def _framework(monkeypatch: pytest.MonkeyPatch) -> None:
    def recorder(name: str) -> Any:
        return lambda **named: (name, *named.values())

    names = ("ChatMessage", "TextBlock", "ToolCallBlock", "ImageBlock")
    llms: Any = ModuleType("llama_index.core.base.llms")
    llms.types = SimpleNamespace(**{name: recorder(name) for name in names})
    errors: Any = ModuleType("llama_index.core.workflow.errors")
    errors.WorkflowCancelledByUser = Cancelled
    workflow: Any = ModuleType("llama_index.core.agent.workflow")
    workflow.ToolCall = Event
    events: Any = ModuleType("llama_index.core.workflow.events")
    events.InputRequiredEvent = type("InputRequiredEvent", (Event,), {})
    events.HumanResponseEvent = Event
    memory: Any = ModuleType("llama_index.core.memory")
    memory.ChatMemoryBuffer = SimpleNamespace(from_defaults=lambda token_limit: Memory())
    for module in (llms, errors, workflow, events, memory):
        monkeypatch.setitem(sys.modules, module.__name__, module)


class Event(SimpleNamespace):
    """An event of a run; a missing word of it is None."""

    def get(self, name: str) -> Any:
        return getattr(self, name, None)


class Memory:
    """A memory of messages."""

    def __init__(self, *rows: Any) -> None:
        self.rows = [*rows]

    async def aget_all(self) -> list[Any]:
        return self.rows

    async def aput_messages(self, rows: list[Any]) -> None:
        self.rows += rows


def _made(*past: Message) -> list[Any]:
    return [row for message in past for row in _rows(message)]


def test_a_past_becomes_messages_and_results_are_of_the_role_tool() -> None:
    said = assistant(Thinking("I look.", "sig"), Text("I look."), ToolUse("c1", "look", {"at": 1}))
    told = results(ToolResult("c1", "a cat"), ToolResult("c2", "none", is_error=True))
    parts = [("TextBlock", "I look."), ("ToolCallBlock", "c1", "look", {"at": 1})]
    assert _made(user("Look."), said, told) == [
        ("ChatMessage", "user", [("TextBlock", "Look.")]),
        ("ChatMessage", "assistant", parts),
        ("ChatMessage", "tool", "a cat", {"tool_call_id": "c1"}),
        ("ChatMessage", "tool", "none", {"tool_call_id": "c2"}),
    ]


def test_a_picture_stays_a_picture_and_an_unknown_block_is_refused() -> None:
    picture = ("ImageBlock", base64.b64decode("iVBORw0="), "image/png")
    assert _made(Message("user", (PICTURE,))) == [("ChatMessage", "user", [picture])]
    with pytest.raises(TypeError, match="of the kind search_result"):
        _made(Message("user", (Opaque("search_result", {}),)))


class Running:
    """A run of an agent with two events."""

    def __init__(self, cancels: bool) -> None:
        self._cancels, self.cancelled = cancels, 0

    async def stream_events(self) -> AsyncIterator[str]:
        yield "asked"
        yield "answered"
        await asyncio.Event().wait()  # the events of a run that fails do not always end

    async def cancel_run(self) -> None:
        self.cancelled += 1

    def __await__(self) -> Generator[Any, None, str]:
        yield from asyncio.sleep(0.001).__await__()
        if self.cancelled:
            raise Cancelled
        return "Hi."


@pytest.mark.parametrize(("is_cancelled", "said"), [(False, "Hi."), (True, None)])
def test_a_cancelled_run_has_no_answer(is_cancelled: bool, said: str | None) -> None:
    running = Running(is_cancelled)
    bot = SimpleNamespace(run=lambda **given: running)
    seen = [False]  # not yet as the run begins

    def cancelled(session: str) -> bool:
        return seen.pop() if seen else is_cancelled

    brief = SimpleNamespace(cancelled=cancelled)
    message = SimpleNamespace(id="m1", session="main", text="Hello.")
    assert asyncio.run(Chat(brief, bot, None, {}).answer(message)) == said
    assert bool(running.cancelled) == is_cancelled


@pytest.mark.parametrize("kept", [Memory(), Memory("a row")])
def test_a_memory_that_is_new_begins_with_the_past(
    kept: Memory, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.adapters.function_memory.seed_of", lambda brief: [user("Hello.")])
    brief = SimpleNamespace(session_dir=str(tmp_path))
    chat = Chat(brief, None, lambda name, folder: kept, {})
    before = [*kept.rows]
    asyncio.run(chat._began("main"))
    assert kept.rows == (before or [("ChatMessage", "user", [("TextBlock", "Hello.")])])
    other = Memory()
    asyncio.run(Chat(brief, None, lambda name, folder: other, {})._began("another"))
    assert other.rows == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (Approval("c2", "allow", {"sum": 6}), {"input": {"sum": 6}}),
        (Approval("c1", "allow", {"sum": 5}), {"refusal": "Not run. The user has not answered."}),
        (Approval("c2", "deny", reason="No."), {"refusal": "Not run. The user says: No."}),
    ],
)
def test_a_question_has_the_id_of_its_call_though_the_step_begins_anew(
    said: Approval, told: dict[str, Any]
) -> None:
    asked: list[str] = []

    async def ask_async(name: str, input: Any, *, id: str, session: str) -> Any:
        asked.append(id)
        return Approval(id, "allow", input) if len(asked) == 1 else said

    first, second = (Event(tool_id=id, tool_name="pay", tool_kwargs={"sum": 5}) for id in CALLS)
    kinds = sys.modules["llama_index.core.workflow.events"]
    question = kinds.InputRequiredEvent(asked="pay 5", tool="pay", input={"sum": 5})
    sent: list[Any] = []

    async def stream_events() -> AsyncIterator[Any]:
        for event in (first, question, first, second, question):
            yield event

    run = SimpleNamespace(stream_events=stream_events, ctx=SimpleNamespace(send_event=sent.append))
    brief = SimpleNamespace(cancelled=lambda session: False, ask_async=ask_async)
    asyncio.run(Chat(brief, None, None, {})._watch(run, "main"))
    assert asked == [*CALLS]
    assert sent == [Event(asked="pay 5", input={"sum": 5}), Event(asked="pay 5", **told)]


@pytest.mark.parametrize(("sums_up", "declared"), [(True, None), (False, False)])
def test_a_memory_that_asks_for_summaries_says_so(sums_up: bool, declared: bool | None) -> None:
    agent = SimpleNamespace(llm=None)
    found = llama_index(agent, lambda name, folder: None, sums_up=sums_up).profile.capabilities
    assert (found.compaction, found.session) == (declared, None)
