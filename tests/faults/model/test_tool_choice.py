"""Which tool a fault calls where a program offers its own ones beside those of the scenario."""

from __future__ import annotations

import pytest

from harness.core.history.past import Past
from harness.core.transition.ports import Moment
from harness.core.values.calls import Call, ModelRequest
from harness.core.values.draws import Draws
from harness.core.values.messages import Text, ToolSpec, ToolUse
from harness.core.values.plans import Answer, Plan, Reply
from harness.core.values.profile import Profile
from harness.core.values.tool_names import ToolNames
from harness.faults import by_kind

OWN = ("shell", "apply_patch", "update_plan")
PREFIXED = Profile(tool_prefix="ours_")
NAMED = Profile(tool_names={"list": "List files", "ping": "Ping it"})
MAKING = ("endless_new_calls", "parallel_calls", "identical_call", "empty_object_where_none_needed")


def called(kind: str, *offered: str, profile: Profile, n: int = 1) -> set[str]:
    """The tools that a fault calls in place of a plain answer."""
    tools = tuple(ToolSpec(name, "", {"type": "object", "properties": {}}) for name in offered)
    request = ModelRequest("m", (), tools_offered=bool(tools))
    call = Call(f"main/model#{n}", "model", n, "main", 1, 0, request, tools=tools)
    names = ToolNames(("list", "ping"), profile)
    plan: Plan = (Answer(Reply((Text("Hello"),), "end_turn")),)
    moment = Moment(call, Past(), Draws(1), 1, "anthropic", names=names)
    (step,) = by_kind(f"model.{kind}").function(moment, plan)
    assert isinstance(step, Answer)
    assert isinstance(step.value, Reply)
    return {block.name for block in step.value.blocks if isinstance(block, ToolUse)}


@pytest.mark.parametrize("kind", MAKING)
@pytest.mark.parametrize(
    ("profile", "theirs"),
    [
        (Profile(), ("list", "ping")),
        (Profile(), ("mcp__harness__list", "mcp__harness__ping")),
        (PREFIXED, ("ours_list", "ours_ping")),
        (NAMED, ("List files", "Ping it")),
    ],
)
def test_the_scenarios_tools_are_called(
    kind: str, profile: Profile, theirs: tuple[str, ...]
) -> None:
    for n in range(1, 6):
        found = called(kind, *OWN, *theirs, profile=profile, n=n)
        assert found
        assert found <= {*theirs}


@pytest.mark.parametrize("kind", MAKING)
def test_a_program_that_offers_none_of_them_gets_calls_of_its_own(kind: str) -> None:
    assert called(kind, *OWN, profile=PREFIXED) <= {*OWN}
    assert called(kind, *OWN, "list", profile=PREFIXED) <= {*OWN, "list"}


def test_new_calls_go_through_all_tools_of_the_scenario() -> None:
    found = [
        called("endless_new_calls", *OWN, "ping", "list", profile=Profile(), n=n) for n in (1, 2)
    ]
    assert set.union(*found) == {"ping", "list"}
