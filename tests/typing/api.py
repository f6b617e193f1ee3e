"""The public API as a user writes against it: checked by `mypy --strict`, never run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

import pytest

from harness import (
    Brief,
    FakeModel,
    FakeRequest,
    Fault,
    FaultSpec,
    Finding,
    History,
    Inbound,
    InboxItem,
    InputError,
    Message,
    Run,
    Scenario,
    Sequencer,
    Text,
    Thinking,
    Tool,
    ToolError,
    ToolResult,
    ToolScript,
    ToolTurn,
    ToolUse,
    Turn,
    Use,
    Verdict,
    assistant,
    highest,
    judge,
    load_scenarios,
    needs,
    results,
    run,
    user,
)
from harness.pytest_plugin import Play, Runs

question = user("Please remember that I moved to Oslo.")
assert_type(question, Message)
assert_type(question.text, str)

call = assistant("One moment.", ToolUse(id="toolu_1", name="memory", input={"action": "add"}))
assert_type(call.tool_uses, tuple[ToolUse, ...])
assert_type(results(ToolResult(id="toolu_1", content="done")).tool_results, tuple[ToolResult, ...])
assert_type(Text("yes").text, str)
assert_type(Thinking("hm").signature, str)


def agent(brief: Brief) -> None:
    """An agent, sync."""
    for inbound in brief.inbox():
        assert_type(inbound, Inbound)
        for tool in brief.tools:
            assert_type(tool, Tool)
            try:
                tool.call({}, id="toolu_1")
            except ToolError as error:
                brief.send(str(error), kind="error", in_reply_to=inbound.id)
        brief.send("done", status="completed")


async def async_agent(brief: Brief) -> None:
    """An agent, async."""
    brief.clock.sleep(0.5)
    assert_type(brief.cancelled(), bool)
    highest(3, "depth", {"tool": "memory"})


@needs("model", "tool")
def at_most_three_calls(history: History, *, most: int = 3) -> Iterator[Finding]:
    """A check of a user's own."""
    if history.past.calls["tool"] > most:
        yield Finding("at_most_three_calls.many", "too many calls of tools")


def script(path: Path) -> None:
    """Runs from a program."""
    try:
        scenarios = load_scenarios(path)
    except InputError as error:
        assert_type(error.place, str)
        return
    assert_type(scenarios, list[Scenario])
    done = run(scenarios[0], agent, seed=7, out=Path("runs"))
    assert_type(done, Run)
    assert_type(done.verdict, Verdict)
    assert_type(judge(done.history, extra=[at_most_three_calls]), Verdict)
    assert_type(run(scenarios[0], async_agent, world="supervise").history, History)


def test_greeting(play: Play) -> None:
    """A test with the pytest fixture."""
    runs = play("scenarios/greeting.yaml", agent, variant="polite", options={"model": "m"})
    assert_type(runs, Runs)
    assert_type(runs[0], Run)
    assert_type(runs.codes, frozenset[str])
    play("scenarios/greeting.yaml", "reference", expect="valid_request.V4")
    play("scenarios/greeting.yaml", async_agent, check=False, seed=3)


def test_books(fake_model: FakeModel) -> None:
    """A test with a model that is scripted in line."""
    fake_model.thinks("Hm.").says("I look.").calls("book", {"seats": 4}).also_calls("look")
    fake_model.fails(529, retry_after=0.5).times("forever").turn(Turn(say="Done."))
    with fake_model.serve() as env:
        assert_type(env, dict[str, str])
    assert_type(fake_model.requests[0], FakeRequest)
    assert_type(fake_model.requests[0].messages, tuple[Message, ...])
    assert_type(fake_model.verify(), Run)


async def test_order() -> None:
    """One order of blocks, in threads and in tasks."""
    in_turn = Sequencer(wait_s=60)
    with in_turn(0) as nothing:
        assert_type(nothing, None)
    async with in_turn(1):
        pass


def test_memory(play: Play) -> None:
    """A scenario that is built in Python."""
    busy = Fault("http.status", status=529, retry_after=1, when=(2, 4), often=2)
    assert_type(busy, FaultSpec)
    turns = (
        Turn(use="memory", input={"text": "lives in Oslo"}, times=3),
        Turn(blocks=(Use("memory", {"text": "a"}), Use("memory"))),
        Turn(say="I could not store that.", when="ended", optional=True),
    )
    tools = {"memory": ToolScript(script=(ToolTurn(error="the disk is full", times="forever"),))}
    asked = (InboxItem(text="Please remember that."), InboxItem(text="And?", when="start"))
    made = Scenario(name="memory", tools=tools, inbox=asked, script=turns, faults=(busy,))
    assert_type(play(made, agent), Runs)


@pytest.mark.harness(target="my_app:agent", wire="openai-chat", options={"size": 3})
def test_marked(play: Play) -> None:
    """A marker says how the runs are played."""
    play("scenarios/greeting.yaml")
    play("scenarios/greeting.yaml", chat=str.upper, world="simulate", profile="mine")
