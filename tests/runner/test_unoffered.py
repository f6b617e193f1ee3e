"""The model calls only what a request offers; a call that is not offered stays due."""

from __future__ import annotations

from typing import Any

import pytest

from harness import run
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.profile import Profile
from harness.runner.needs import needs_of

SEARCH = {"name": "search", "input_schema": {"type": "object"}}


def asked(offers: list[list[dict[str, Any]]], profile: Profile | None = None) -> Any:
    """What the model says to requests with these tools, one request for each list."""
    said: list[list[str]] = []

    def agent(brief: Any) -> None:
        for _ in brief.inbox():
            for tools in offers:
                more = {"tools": tools} if tools else {}
                reply = brief.anthropic().messages.create(
                    model="m", max_tokens=9, messages=[{"role": "user", "content": "go"}], **more
                )
                said.append([getattr(b, "name", getattr(b, "text", "")) for b in reply.content])

    scenario = Scenario(
        name="looks-up",
        tools={"search": ToolScript(script=(ToolTurn(ok="found", times="forever"),))},
        inbox=(InboxItem(text="go"),),
        script=(Turn(use="search"), Turn(use="no_such_tool"), Turn(say="Done.")),
        profile=profile or Profile(),
    )
    return said, run(scenario, agent)


def test_a_call_stays_due_until_a_request_offers_the_tool() -> None:
    said, ran = asked([[], [SEARCH], [SEARCH]])
    assert said == [["That is all."], ["search"], ["no_such_tool"]]
    assert "tools" in ran.connections.used


def test_a_call_outside_the_scenario_needs_no_offer() -> None:
    said, _ = asked([[SEARCH], [], []])
    assert said == [["search"], ["no_such_tool"], ["Done."]]


@pytest.mark.parametrize("own", [[], [{"name": "my_search", "input_schema": {"type": "object"}}]])
def test_an_agent_with_its_own_tools_is_not_asked(own: list[dict[str, Any]]) -> None:
    said, ran = asked([own, own])
    assert said == [["That is all."], ["That is all."]]
    assert "tools" not in ran.connections.used
    assert ran.connections.needs == ("tools",)
    assert ran.connections.offers == tuple(tool["name"] for tool in own)


def test_a_tool_is_called_by_the_name_of_the_profile() -> None:
    own = [{"name": "my_search", "input_schema": {"type": "object"}}]
    said, ran = asked([own], Profile(tool_names={"search": "my_search"}))
    assert said == [["my_search"]]
    assert "tools" in ran.connections.used


def test_tools_that_are_told_in_a_text_are_called() -> None:
    said, _ = asked([[]], Profile(results="text"))
    assert said == [["search"]]


def test_tools_that_no_request_may_call_are_not_called() -> None:
    """`tool_choice` none bars the tools that a request lists."""
    barred: list[str] = []

    def agent(brief: Any) -> None:
        for _ in brief.inbox():
            reply = brief.anthropic().messages.create(
                model="m", max_tokens=9, messages=[{"role": "user", "content": "go"}],
                tools=[SEARCH], tool_choice={"type": "none"},
            )  # fmt: skip
            barred.extend(block.type for block in reply.content)

    tools = {"search": ToolScript()}
    inbox, script = (InboxItem(text="go"),), (Turn(use="search"),)
    run(Scenario(name="barred", tools=tools, inbox=inbox, script=script), agent)
    assert barred == ["text"]


def test_only_an_owed_call_needs_tools() -> None:
    tools = {"search": ToolScript()}
    owed = Scenario(name="owed", tools=tools, script=(Turn(use="search"),))
    free = Scenario(name="free", tools=tools, script=(Turn(use="search", optional=True),))
    other = Scenario(name="other", tools=tools, script=(Turn(use="no_such_tool"),))
    assert (needs_of(owed), needs_of(free), needs_of(other)) == (("tools",), (), ())
