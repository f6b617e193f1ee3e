"""Sub-agents are few, none makes another, and each is a session that names its parent."""

from __future__ import annotations

import msgspec
import pytest

from harness.agent import agent
from harness.agent.task_tool import TASK_TOOL, Tasks, TaskTranscript
from harness.agent.toolbox import Toolbox
from harness.agent.turn_policy import Policy
from harness.core.history.history import History, canonical
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.core.values.brief import Tool
from harness.core.values.messages import ToolUse
from harness.runner import run
from tests.scenarios.all_runs import named

OPTIONS = {"spawn": "true"}
ASKS = Turn(use=TASK_TOOL, input={"prompt": "Take page 1."})
WIRES = ["anthropic", "openai-chat", "openai-responses"]


def _scenario(*script: Turn, wire: str = "anthropic") -> Scenario:
    name = "a-sub-agent"
    fields = {"wire": wire, "script": script, "inbox": (InboxItem(text="Tidy up."),)}
    return Scenario(name=name, **fields)  # type: ignore[arg-type]


def _played(*script: Turn, wire: str = "anthropic", world: str = "simulate") -> History:
    scenario = _scenario(*script, wire=wire)
    played = run(scenario, agent, options=OPTIONS, world=world)  # type: ignore[arg-type]
    assert played.verdict.verdict == "pass", played.verdict.findings
    return played.history


@pytest.mark.parametrize("wire", WIRES)
def test_what_it_says_is_the_result_of_the_call(wire: str) -> None:
    script = ASKS, Turn(say="Page 1 is tidy."), Turn(say="Done.")
    history = _played(*script, wire=wire)
    calls = [(e.called.session, e.called.parent) for e in history.trace.exchanges]
    task_name = f"main-{history.trace.asks[0].use.id}"
    assert calls == [("main", ""), (task_name, "main"), ("main", "")]
    first, task, last = history.trace.exchanges
    assert task.node.message.text == "Take page 1."
    assert last.node.message.tool_results[0].text == "Page 1 is tidy."
    assert first.request.tools_offered
    assert not task.request.tools_offered


def test_both_worlds_agree() -> None:
    script = ASKS, Turn(say="Page 1 is tidy."), Turn(say="Done.")
    assert canonical(_played(*script)) == canonical(_played(*script, world="supervise"))


def test_one_that_fails_is_a_failed_call() -> None:
    history = _played(ASKS, Turn(say="No.", stop="refusal"), Turn(say="It was refused."))
    assert history.trace.exchanges[-1].node.message.tool_results[0].is_error


def test_without_the_option_there_is_no_such_tool() -> None:
    history = run(_scenario(ASKS, Turn(say="I cannot.")), agent).history
    assert {e.called.session for e in history.trace.exchanges} == {"main"}
    assert not history.trace.exchanges[0].request.tools_offered


@pytest.mark.parametrize("name", ["agents-of-agents", "agents-of-agents/siblings"])
def test_they_are_few(name: str) -> None:
    played = run(named(name), agent, options=OPTIONS)
    assert played.verdict.verdict == "pass"
    parents = {e.called.parent for e in played.history.trace.exchanges}
    assert parents == {"", "main"}


def test_a_tool_of_that_name_is_replaced_and_an_empty_prompt_refused() -> None:
    tools = Toolbox([Tool(TASK_TOOL, "mine", {}, lambda input, id: "mine")])
    tasks = Tasks("main", lambda *_: pytest.fail("no model"), lambda *_: pytest.fail("no loop"),
                  Policy(max_tasks=0))  # fmt: skip
    offered = tasks.offered(tools)
    assert [spec.name for spec in offered.specs] == [TASK_TOOL]
    assert "empty" in offered.run(ToolUse("t", TASK_TOOL, {})).text
    assert "limit" in offered.run(ToolUse("t", TASK_TOOL, {"prompt": "go"})).text
    assert tasks.offered(tools, "main-task1", depth=1) is tools


def test_its_history_is_in_memory() -> None:
    history = TaskTranscript("go")
    history.append(msgspec.structs.replace(history.messages[0], role="assistant"))
    assert [m.role for m in history.wire("and?")] == ["user", "assistant", "user"]
    history.compact(history.messages[0], keep=1)
    assert len(history.messages) == 2
