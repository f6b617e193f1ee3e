"""For any store, messages and script, the reference agent's gateway keeps its promises.

Every request to the model alternates and is valid. Every inbound message and every reply is stored
once and in order. Rows that were stored before do not change, and the run ends by itself. Two
oracles say so: all checks of the harness, and one that shares no code with them.
"""

from __future__ import annotations

import msgspec
from hypothesis import event, example, given

from harness.agent import agent
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    ToolScript,
    Turn,
)
from harness.fuzz.script_grammar import LAST, SUMMARY, TOOLS, TURNS
from harness.runner import Run, run
from harness.strategies import scenarios
from tests.properties.oracle import objections


def _scenario(*turns: Turn, stored: tuple[SeedMessage, ...] = (), ids: str = "m1") -> Scenario:
    """A scenario as small as the shrinker leaves one; the ids of its messages stand in `ids`."""
    return Scenario(
        name="pinned",
        session=Session(messages=stored),
        inbox=tuple(InboxItem(id=id, text=f"hello {id}") for id in ids.split()),
        tools={name: ToolScript(input_schema=schema) for name, schema in TOOLS.items()},
        script=(*turns, LAST, SUMMARY),
    )


def _failing(kind: str, *turns: Turn, stream: bool) -> Scenario:
    """The same with a fault of the first model call."""
    fault = FaultSpec(kind=kind, must_fire=False)
    return msgspec.structs.replace(_scenario(*turns), faults=(fault,), stream=stream)


def _look_up(name: str) -> dict[str, object]:
    return {"type": "tool_use", "id": "same", "name": "look_up", "input": {"name": name}}


SAME_IDS = Turn(blocks=(_look_up("Ada"), _look_up("Bob")))
SAME_ID = Turn(blocks=(_look_up("Ada"),), times=2)
PAUSED = next(turn(0) for turn in TURNS if turn(0).stop == "pause_turn")
PING = SeedMessage(
    role="assistant",
    content=({"type": "tool_use", "id": "same", "name": "ping", "input": {}},),
)
PONG = SeedMessage(
    role="user", content=({"type": "tool_result", "id": "same", "content": "found"},)
)


def _play(scenario: Scenario) -> Run:
    played = run(scenario, agent)
    event(f"outcome: {played.verdict.outcome}")
    event(f"compactions: {len(played.history.trace.compactions)}")
    return played


GREETED = (
    SeedMessage(role="user", content=({"type": "text", "text": "hello"},)),
    SeedMessage(role="assistant", content=()),
)
TALK = (PING, PONG) * 4
LOOKED_UP = Turn(blocks=({"type": "tool_use", "name": "ping", "input": {}}, _look_up("hello")))


def _declined() -> Scenario:
    """A summary that would save too little; what is tried instead is larger than what was."""
    return msgspec.structs.replace(_scenario(LOOKED_UP, stored=GREETED), window_tokens=180)


def _went_back() -> Scenario:
    """A turn goes on without its past, for the summary failed; the next one has the past again."""
    fault = FaultSpec(kind="http.status", when=2, must_fire=False)
    scenario = _scenario(Turn(use="ping"), stored=(*GREETED, *TALK), ids="m1 m2")
    return msgspec.structs.replace(scenario, window_tokens=260, faults=(fault,))


def _late() -> Scenario:
    """Every tool answers after its timeout: another tool between does not hide it."""
    same = Turn(blocks=({**_look_up("a"), "id": ""},))
    four = Turn(blocks=tuple({**_look_up(name), "id": ""} for name in "cdef"))
    fault = FaultSpec(kind="tools.late", on="tool", often="forever", must_fire=False)
    return msgspec.structs.replace(_scenario(same, Turn(use="ping"), four), faults=(fault,))


PEACEFUL = {"bursts": False, "cancels": False, "spirals": False}
"""The oracle knows of one message at a time, and of models that come to an end."""

FAILURES = (
    *("http.status", "sse.end_inside_tool_input", "sse.error_event", "sse.no_message_delta"),
    *("sse.no_message_stop", "tools.answer_lost", "tools.empty", "tools.late", "tools.raises"),
    *("transport.close_before_headers", "transport.headers_never_come", "transport.latency"),
    *("transport.reset_before_headers", "transport.reset_mid_stream", "transport.stalled_stream"),
)


@given(scenarios(**PEACEFUL))
@example(_scenario(ids="m1 m1"))
@example(_scenario(SAME_IDS))
@example(_scenario(SAME_ID))
@example(_scenario(SAME_ID, ids="m1 m2", stored=(PING, PONG, PING, PONG)))
@example(_scenario(PAUSED))
@example(_declined())
def test_the_gateway_keeps_its_promises_on_any_history(scenario: Scenario) -> None:
    played = _play(scenario)
    assert played.verdict.findings == ()
    assert objections(played.history.events, len(scenario.session.messages)) == []


@given(scenarios(faults=FAILURES, **PEACEFUL))
@example(_went_back())
@example(_late())
@example(_failing("sse.error_event", Turn(say="No.", stop="refusal"), stream=True))
def test_the_gateway_keeps_its_promises_when_the_world_fails(scenario: Scenario) -> None:
    played = _play(scenario)
    assert played.verdict.findings == ()
    assert objections(played.history.events, len(scenario.session.messages)) == []
