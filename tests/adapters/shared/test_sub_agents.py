"""The tool `task`: what it gives back, and what a sub-agent's requests say of it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from harness import ToolError
from harness.adapters.shared.framework_agent import NOT_RUN, SESSION, sorry_for
from harness.adapters.shared.sub_agents import ChildBrief, Task
from harness.core.history.capabilities import touched
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.runner import run


def _task(chat: Any) -> Task:
    named = SimpleNamespace(headers={}, async_anthropic="a client of the child")
    brief = SimpleNamespace(
        wire="anthropic",
        options={"stream": True},
        child=lambda session, parent: named,
        cancelled=lambda session: session == "main",
    )
    return Task(brief, lambda child: lambda message: chat(child, message), sorry_for(LookupError))


async def _answers(child: ChildBrief, message: Any) -> str | None:
    assert child.async_anthropic == "a client of the child"
    assert child.options == {"stream": True}
    assert child.cancelled("anything")  # with its parent's turn
    assert SESSION.get() == message.session == message.id == "main-c1"
    return f"{message.text} is done."


def test_the_words_of_a_sub_agent_are_the_answer_and_its_session_is_its_own() -> None:
    assert asyncio.run(_task(_answers).answer({"prompt": "This"}, "c1")) == "This is done."
    assert _task(_answers).answer_at_once({"prompt": "This"}, "c1") == "This is done."
    assert SESSION.get() == "main"


@pytest.mark.parametrize("given", [{}, {"prompt": " "}, {"prompt": 1}, [], None])
def test_a_task_without_a_prompt_is_not_begun(given: Any) -> None:
    with pytest.raises(ToolError, match="the prompt is empty"):
        asyncio.run(_task(_answers).answer(given))


async def _fails(child: ChildBrief, message: Any) -> str | None:
    raise LookupError("no model")


async def _is_cancelled(child: ChildBrief, message: Any) -> str | None:
    return None


async def _breaks(child: ChildBrief, message: Any) -> str | None:
    raise ValueError("a mistake of the program")


@pytest.mark.parametrize(("chat", "words"), [(_fails, "no model"), (_is_cancelled, NOT_RUN)])
def test_a_sub_agent_that_failed_is_a_tool_that_failed(chat: Any, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        asyncio.run(_task(chat).answer({"prompt": "This"}))


def test_a_mistake_goes_on_and_a_wait_without_a_loop_is_one() -> None:
    with pytest.raises(ValueError, match="a mistake"):
        asyncio.run(_task(_breaks).answer({"prompt": "This"}))

    async def waits(child: ChildBrief, message: Any) -> str | None:
        await asyncio.sleep(0)
        return ""

    with pytest.raises(RuntimeError, match="none runs"):
        _task(waits).answer_at_once({"prompt": "This"})


def test_a_sub_agents_requests_name_it_and_its_parent() -> None:
    def agent(brief: Any) -> None:
        async def asks(message: Any, child: Any) -> str:
            said = [{"role": "user", "content": message.text}]
            made = child.anthropic().messages.create(model="any", max_tokens=9, messages=said)
            return str(made.content[0].text)

        task = Task(brief, lambda child: lambda message: asks(message, child), sorry_for())
        for _ in brief.inbox():
            brief.send(task.answer_at_once({"prompt": "Look."}, "c1"))

    hello = Scenario(name="hello", inbox=(InboxItem(text="Hello"),), script=(Turn(say="Hi."),))
    trace = run(hello, agent).history.trace
    (asked,) = trace.exchanges
    assert (asked.called.session, asked.called.parent) == ("main-c1", "main")
    assert "sub_agents" in touched(trace)
