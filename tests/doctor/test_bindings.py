"""Tools of an agent that the calls of scenarios meet: by name and input, and never if they act."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.scenario.scenario import Scenario, ToolScript, Turn
from harness.core.values.profile import Capabilities, Profile
from harness.doctor.bindings import bindings
from harness.runner.tool_offers import misfit


def taking(*keys: str) -> dict[str, Any]:
    """The schema of a tool that requires texts."""
    properties = {key: {"type": "string"} for key in keys}
    return {"type": "object", "properties": properties, "required": [*keys]}


def calling(tool: str, **given: str) -> Scenario:
    """A scenario with one call."""
    tools = {tool: ToolScript(input_schema=taking(*given))}
    return Scenario(name="one-call", tools=tools, script=(Turn(use=tool, input={**given}),))


@pytest.mark.parametrize(
    ("own", "keys", "bound"),
    [
        ("weather", ("city",), False),  # the call meets it by its name
        ("get_weather", ("city",), True),
        ("getWeather", ("city",), True),
        ("mcp-desk-weather", ("city",), True),
        ("get_weather", ("place",), False),
        ("get_weather", ("city", "country"), False),
        ("the_lookup", ("city",), False),
    ],
)
def test_a_tool_is_bound_by_its_name_and_its_inputs(
    own: str, keys: tuple[str, ...], bound: bool
) -> None:
    made = bindings({own: taking(*keys)}, [calling("weather", city="Oslo")], misfit)
    assert made.names == ({"weather": own} if bound else {})
    assert made.acting == {}


def test_a_tool_that_may_act_is_named_and_not_bound_unless_it_is_safe() -> None:
    offered, scenarios = {"my_deploy": taking("env")}, [calling("deploy", env="live")]
    assert bindings(offered, scenarios, misfit).acting == {"deploy": "my_deploy"}
    assert bindings(offered, scenarios, misfit, ["my_deploy"]).names == {"deploy": "my_deploy"}


def test_two_tools_of_one_name_are_left_to_the_user() -> None:
    offered = {"web_search": taking("query"), "docs_search": taking("query")}
    assert bindings(offered, [calling("search", query="boats")], misfit).names == {}


@pytest.mark.parametrize("safe", [(), ("find",)])
def test_a_profile_with_tools_to_meet_declares_none_absent(safe: tuple[str, ...]) -> None:
    before = Profile(capabilities=Capabilities(tools=False), safe_tools=safe)
    made = bindings({"get_weather": taking("city")}, [calling("weather", city="Oslo")], misfit)
    after = made.bound(before)
    assert (after.tool_names, after.capabilities.tools) == ({"weather": "get_weather"}, None)
    assert bindings({}, [], misfit).bound(before).capabilities.tools is (None if safe else False)
