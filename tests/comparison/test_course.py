"""The calls of a run in lanes: the order of tools side by side, and looks for a cancel, pass."""

from __future__ import annotations

from harness.comparison.course import course
from harness.core.history.history import History, encode
from harness.core.values.calls import InboxRequest, ModelRequest, OutboxRequest, ToolRequest
from harness.core.values.messages import ToolUse, assistant, user
from tests.comparison import edited

TURN = {"session": "main", "turn": 1}
TOOLS = '"tools":{"a":{},"b":{}}'
RENAMED = (
    ('"type":"tool_use","id":"1","name":"a"', '"type":"tool_use","id":"1","name":"mcp__x__a"'),
)
"""What an agent says that calls a tool by the name of its MCP server."""


def run_of(*order: str, polls: int = 0, beats: int = 0) -> History:
    """A run in which the model asks for two tools, which run in this order."""
    made = History()
    settings = {"tools": {"a": {}, "b": {}}}
    made.started(run="r", scenario="r", world="supervise", settings=settings)
    hello, both = made.note(user("Hello")), assistant(ToolUse("1", "a", {}), ToolUse("2", "b", {}))
    made.called(key="main/model#1", seam="model", request=ModelRequest("m", (hello,)), **TURN)
    made.answered(key="main/model#1", seam="model", blocks=made.note(both), **TURN)
    for number, name in enumerate(order, 1):
        request = ToolRequest({"a": "1", "b": "2"}[name], name, {})
        made.called(key=f"main/tool#{number}", seam="tool", request=request, **TURN)
        made.answered(key=f"main/tool#{number}", seam="tool", value={"content": name}, **TURN)
    for number in range(polls):
        request = InboxRequest(poll=True)
        made.called(key=f"main/inbox#{number}", seam="inbox", request=request, **TURN)
    for number in range(beats):
        beat = OutboxRequest("heartbeat", "")
        made.called(key=f"main/outbox#{number}", seam="outbox", request=beat, **TURN)
    aux = ModelRequest("m", (hello,))
    made.called(key="main/model#2", seam="model", request=aux, purpose="aux", **TURN)
    made.ended(how="returned")
    return made


def said(history: History) -> dict[tuple[str, str], list[object]]:
    """What counts of each lane."""
    return {lane: [c.same for c in calls] for lane, calls in course(history).lanes.items()}


def test_tools_side_by_side_stand_in_the_order_in_which_they_were_asked() -> None:
    assert said(run_of("a", "b")) == said(run_of("b", "a"))
    assert said(run_of("a", "b")) != said(run_of("a", "a"))
    assert said(run_of("a", "b")) != said(run_of("a"))


def test_what_only_time_decides_does_not_count() -> None:
    assert said(run_of("a", "b", polls=2, beats=3)) == said(run_of("a", "b"))


def test_side_questions_have_a_lane_of_their_own() -> None:
    assert list(course(run_of("a")).lanes) == [("main", ""), ("main", "aux"), ("", "end")]


def test_tools_have_the_names_of_the_scenario() -> None:
    one, other = (edited(run_of("a", "b"), (TOOLS, TOOLS), *pairs) for pairs in ((), RENAMED))
    assert TOOLS in encode(other.events).decode()
    assert said(one) == said(other)
    assert course(one).lanes["main", ""][0].answer == course(other).lanes["main", ""][0].answer
