"""The model calls only what a request offers; a call that is not offered stays due."""

from __future__ import annotations

from typing import Any

import pytest

from harness import run
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.profile import Profile
from harness.runner.needs import needs_of

SEARCH = {"name": "search", "input_schema": {"type": "object"}}


BROKEN = Turn(use="no_such_tool", unoffered=True)
SCRIPT = (Turn(use="search"), BROKEN, Turn(say="Done."))


def asked(
    offers: list[list[dict[str, Any]]],
    profile: Profile | None = None,
    script: tuple[Turn, ...] = SCRIPT,
) -> Any:
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
        script=script,
        profile=profile or Profile(),
    )
    return said, run(scenario, agent)


def test_a_call_stays_due_until_a_request_offers_the_tool() -> None:
    said, ran = asked([[], [SEARCH], [SEARCH]])
    assert said == [["That is all."], ["search"], ["no_such_tool"]]
    assert "tools" in ran.connections.used


def test_an_unoffered_call_answers_an_offer_of_tools() -> None:
    said, _ = asked([[SEARCH], [], [SEARCH], []])
    assert said == [["search"], ["That is all."], ["no_such_tool"], ["Done."]]


@pytest.mark.parametrize("name", ["no_such_tool", "Search"])
def test_a_name_that_nobody_offers_is_said_to_be_unoffered(name: str) -> None:
    script = (Turn(use=name, optional=True), Turn(say="Done."))
    assert asked([[SEARCH]], script=script)[0] == [["That is all."]]


SERVER_CALL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
WEB_SEARCH = {"type": "web_search_20250305", "name": "web_search"}


@pytest.mark.parametrize(("tools", "answer"), [([], "That is all."), ([SEARCH], "That is all."),
                                               ([SEARCH, WEB_SEARCH], "web_search")])  # fmt: skip
def test_a_pause_comes_only_where_its_server_tool_is_offered(tools: Any, answer: str) -> None:
    paused = Turn(blocks=(SERVER_CALL,), stop="pause_turn")
    assert asked([tools], script=(paused, Turn(say="Done.")))[0] == [[answer]]


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
