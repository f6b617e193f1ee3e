"""What a graph must hold to be played, without LangGraph itself."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest

from harness import Text, ToolResult, ToolUse, assistant, results, user
from harness.adapters import graph_thread
from harness.adapters.graph_thread import Threads, _rows, langgraph
from harness.adapters.shared.graph_tools import CANCELLED
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.core.values.calls import Approval
from harness.runner import run


class Skeleton:
    """A graph as `langgraph new` makes it: its state has no messages."""

    checkpointer = None
    nodes: dict[str, Any] = {}  # noqa: RUF012 (as LangGraph's own)

    async def ainvoke(self, asked: Any, config: Any) -> dict[str, str]:
        return {"changeme": "output"}


@pytest.fixture
def _callbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    callbacks: Any = ModuleType("langchain_core.callbacks")
    callbacks.BaseCallbackHandler = object
    monkeypatch.setitem(sys.modules, "langchain_core", ModuleType("langchain_core"))
    monkeypatch.setitem(sys.modules, "langchain_core.callbacks", callbacks)


@pytest.mark.usefixtures("_callbacks")
def test_a_graph_without_messages_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    errors: Any = ModuleType("langgraph.errors")
    errors.GraphRecursionError = RuntimeError
    monkeypatch.setitem(sys.modules, "langgraph", ModuleType("langgraph"))
    monkeypatch.setitem(sys.modules, "langgraph.errors", errors)
    hello = Scenario(name="hello", inbox=(InboxItem(text="Hello"),), script=(Turn(say="Hi."),))
    found = run(hello, langgraph(Skeleton())).verdict.failing[0]
    assert found.code == "target.crashed"
    assert "the state of the graph has no messages, so it cannot be played" in found.message


def test_a_past_becomes_messages_of_langchain() -> None:
    call = ToolUse("call_1", "look", {"at": "x"})
    past = [user("Look."), assistant(Text("I look."), call), results(ToolResult("call_1", "cat"))]
    assert [row for message in past for row in _rows(message)] == [
        {"role": "user", "content": "Look."},
        {
            "role": "assistant", "content": [{"type": "text", "text": "I look."}],
            "tool_calls": [
                {"type": "tool_call", "id": "call_1", "name": "look", "args": {"at": "x"}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "cat", "status": "success"},
    ]  # fmt: skip


class Saved:
    """A graph whose saver has no async methods, and what its thread holds."""

    def __init__(self, waits: bool) -> None:
        self.next = ("tools",) if waits else ()
        self.values: dict[str, Any] = {}
        self.rows: list[Any] = []

    async def aget_state(self, config: Any) -> Any:
        raise NotImplementedError

    def get_state(self, config: Any) -> Any:
        return self

    def update_state(self, config: Any, rows: Any, as_node: str) -> None:
        self.rows, self.values = rows["messages"], rows


@pytest.mark.parametrize(("waits", "attempt"), [(True, 1), (True, 2), (False, 2)])
def test_a_killed_call_goes_on_where_its_message_comes_again(
    waits: bool, attempt: int, tmp_path: Path
) -> None:
    (tmp_path / "seed.jsonl").write_bytes(msgspec.json.encode(user("Before.")) + b"\n")
    graph, brief = Saved(waits), SimpleNamespace(session_dir=tmp_path)
    threads = Threads(brief, graph, {"recursion_limit": 9}, run="")
    message = SimpleNamespace(session="main", text="Hello", attempt=attempt)

    async def asked() -> Any:
        config = await threads.config("main")
        assert config == {"recursion_limit": 9, "configurable": {"thread_id": "main"}}
        return await threads.asked(message, config)

    said = {"messages": [{"role": "user", "content": "Hello"}]}
    assert asyncio.run(asked()) == [None if waits and attempt == 2 else said]
    assert graph.rows == [{"role": "user", "content": "Before."}]
    assert threads.is_sync


def _asks(*said: Any) -> Any:
    """A brief whose user answers in turn."""
    answers = iter(said)

    async def ask_async(name: str, input: Any, *, id: str, session: str) -> Any:
        return next(answers)

    return SimpleNamespace(ask_async=ask_async)


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> Any:
    types: Any = ModuleType("langgraph.types")
    types.Command = lambda resume: resume
    monkeypatch.setitem(sys.modules, "langgraph", ModuleType("langgraph"))
    monkeypatch.setitem(sys.modules, "langgraph.types", types)
    return types


def _interrupted(*values: Any) -> Saved:
    graph: Any = Saved(waits=True)
    graph.interrupts = [SimpleNamespace(id=f"i{n}", value=value) for n, value in enumerate(values)]
    return graph  # type: ignore[no-any-return]


def test_each_interrupt_of_a_thread_is_answered(kinds: Any) -> None:
    asked = [{"tool": "pay", "id": id, "input": {"sum": 5}} for id in ("c1", "c2", "c3")]
    said = (
        Approval("c1", "allow", {"sum": 6}),
        Approval("c2", "deny", reason="No."),
        Approval("c1", "allow", {"sum": 5}),
    )
    threads = Threads(_asks(*said), _interrupted(*asked), {}, run="")
    assert asyncio.run(threads.said({}, "main")) == {
        "i0": {"input": {"sum": 6}},
        "i1": {"refusal": "Not run. The user says: No."},
        "i2": {"refusal": "Not run. The user has not answered."},
    }


@pytest.mark.parametrize("attempt", [1, 2])
def test_an_open_question_is_answered_before_another_message(attempt: int, kinds: Any) -> None:
    asked = {"tool": "pay", "id": "c1", "input": {}}
    threads = Threads(_asks(Approval("c1", "allow", {})), _interrupted(asked), {}, run="")
    message = SimpleNamespace(session="main", text="Hello", attempt=attempt)
    answers, said = {"i0": {"input": {}}}, {"messages": [{"role": "user", "content": "Hello"}]}
    given = asyncio.run(threads.asked(message, {}))
    assert given == ([answers] if attempt == 2 else [answers, said])


def test_an_interrupt_of_the_graph_itself_is_not_ours_to_answer() -> None:
    threads = Threads(_asks(), _interrupted({"question": "Which?"}), {}, run="")
    assert asyncio.run(threads.said({}, "main")) is None


@pytest.mark.usefixtures("_callbacks")
@pytest.mark.parametrize("is_cancelled", [False, True])
@pytest.mark.parametrize("own", [None, ["mine"]])
def test_a_callback_stops_a_cancelled_turn_before_its_model(is_cancelled: bool, own: Any) -> None:
    async def asked() -> None:
        CANCELLED.set(lambda: is_cancelled)
        *before, ours = graph_thread._until_cancelled(own)
        assert before == (own or [])
        assert ours.raise_error  # else LangChain logs it and goes on
        ours.on_chat_model_start({}, [])

    if is_cancelled:
        with pytest.raises(graph_thread.TurnCancelled):
            asyncio.run(asked())
    else:
        asyncio.run(asked())


@pytest.mark.usefixtures("_callbacks")
def test_callbacks_of_a_manager_stay_and_the_users_own_is_not_changed() -> None:
    class Manager:
        """As LangChain keeps callbacks."""

        def __init__(self, *handlers: Any) -> None:
            self.handlers = [*handlers]

        def copy(self) -> Manager:
            return Manager(*self.handlers)

        def add_handler(self, handler: Any) -> None:
            self.handlers.append(handler)

    own = Manager("mine")
    made = graph_thread._until_cancelled(own)
    assert (own.handlers, made.handlers[0], len(made.handlers)) == (["mine"], "mine", 2)
