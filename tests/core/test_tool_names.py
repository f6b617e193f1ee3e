"""The names of tools: the scenario's and the agent's, at the seams and in the checks."""

from __future__ import annotations

from typing import Any

import pytest

from harness import InboxItem, Run, Scenario, ToolScript, ToolTurn, Turn, run
from harness.core.values.profile import Profile
from harness.core.values.tool_names import ToolNames
from tests.checks.ending_agents import Chat, result

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = {"memory": ToolScript(input_schema=SCHEMA, script=(ToolTurn(ok="kept", times="forever"),))}
KEEP = Scenario(
    name="names",
    tools=TOOLS,
    inbox=(InboxItem(id="m1", text="I moved to Oslo."),),
    script=(
        Turn(use="memory", input={"text": "Oslo"}),
        Turn(say="Noted.", times="forever"),
    ),
)
PREFIXED = ToolNames(TOOLS, Profile(tool_prefix="mcp__kit__"))
OTHERWISE = ToolNames(TOOLS, Profile(tool_names={"memory": "remember"}))
PLAIN = ToolNames(TOOLS)


@pytest.mark.parametrize(
    ("names", "agents", "meant"),
    [
        (PLAIN, "memory", "memory"),
        (PLAIN, "mcp__kit__memory", "memory"),
        (PLAIN, "mcp__the__kit__memory", "memory"),
        (PLAIN, "mcp__kit__other", "mcp__kit__other"),
        (PLAIN, "kit__memory", "kit__memory"),
        (PREFIXED, "mcp__kit__memory", "memory"),
        (PREFIXED, "memory", "the agent's own memory"),
        (OTHERWISE, "remember", "memory"),
        (OTHERWISE, "memory", "the agent's own memory"),
    ],
)
def test_a_name_of_the_agent_is_read_as_the_scenarios(
    names: ToolNames, agents: str, meant: str
) -> None:
    assert names.meant_by(agents) == meant


@pytest.mark.parametrize(
    ("names", "offered", "said"),
    [
        (PLAIN, ("memory",), "memory"),
        (PLAIN, (), "memory"),
        (PLAIN, ("memory", "mcp__kit__memory"), "mcp__kit__memory"),
        (PLAIN, ("mcp__a__memory", "mcp__b__memory"), "memory"),
        (OTHERWISE, ("memory",), "remember"),
    ],
)
def test_the_model_calls_a_tool_by_the_name_that_the_agent_offers(
    names: ToolNames, offered: tuple[str, ...], said: str
) -> None:
    assert names.offered_as("memory", offered) == said


def keeping(prefix: str = "", *, refuses: bool = False, by: str = "id") -> Any:
    """An agent that has the tools of the scenario under a prefix."""

    def agent(brief: Any) -> None:
        tools = {prefix + tool.name: tool for tool in brief.tools}
        for inbound in brief.inbox():
            chat = Chat(brief, prefix=prefix)
            chat.hear(inbound.text)
            reply = chat.ask()
            while calls := [block for block in reply.content if block.type == "tool_use"]:
                for call in calls:
                    if refuses:
                        chat.hear([result(call, "not now")])
                    else:
                        id_ = call.id if by == "id" else ""
                        chat.hear([result(call, tools[call.name].call(call.input, id=id_))])
                reply = chat.ask()
            brief.send(reply.content[-1].text, in_reply_to=inbound.id)

    return agent


def codes(agent: Any, scenario: Scenario = KEEP, **profile: Any) -> set[str]:
    played: Run = run(scenario, agent, profile=Profile(**profile))
    return {finding.code for finding in played.verdict.findings}


def test_a_tool_from_an_mcp_server_is_recognised_by_the_end_of_its_name() -> None:
    assert codes(keeping("mcp__kit__")) == set()


def test_a_prefix_of_the_profile_is_known() -> None:
    assert codes(keeping("kit_"), tool_prefix="kit_") == set()
    assert codes(keeping("kit_", by="name"), tool_prefix="kit_") == set()


@pytest.mark.parametrize("prefix", ["mcp__kit__", ""])
def test_a_call_that_is_refused_under_any_name_is_still_found(prefix: str) -> None:
    assert "no_false_stop.refused" in codes(keeping(prefix, refuses=True))


NAMESAKE = {
    "name": "memory",
    "input_schema": {"type": "object", "properties": {"action": {"type": "string"}}},
}


def test_a_tool_of_the_agents_own_with_the_same_name_is_not_refused() -> None:
    def agent(brief: Any) -> None:
        chat = Chat(brief)
        chat.offered = [NAMESAKE]
        for inbound in brief.inbox():
            chat.hear(inbound.text)
            reply = chat.ask()
            while calls := [block for block in reply.content if block.type == "tool_use"]:
                chat.hear([result(call, f"kept, {len(chat.messages)} facts") for call in calls])
                reply = chat.ask()
            brief.send(reply.content[-1].text, in_reply_to=inbound.id)

    again = Scenario(
        name="again",
        tools=TOOLS,
        inbox=KEEP.inbox,
        script=(Turn(use="memory", input={"text": "Oslo"}, times=8), Turn(say="Noted.")),
    )
    assert codes(agent) == set()
    assert codes(agent, again) == set()


def test_a_namesake_that_also_runs_across_the_seam_is_judged() -> None:
    def agent(brief: Any) -> None:
        brief.tools[0].call({"text": "first"}, id="own")
        chat = Chat(brief)
        chat.offered = [NAMESAKE]
        for inbound in brief.inbox():
            chat.hear(inbound.text)
            [call] = chat.ask().content
            chat.hear([result(call, "no")])
            brief.send(chat.ask().content[-1].text, in_reply_to=inbound.id)

    assert "result_carried.invented" in codes(agent)
