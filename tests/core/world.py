"""A run without a transport, for tests of the core: requests in as bytes, plans out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from harness import faults
from harness.core.history.events import Answered, Called
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.calls import Call, Received
from harness.core.values.draws import Draws
from harness.core.values.plans import Plan, Send
from harness.providers.anthropic.provider import AnthropicProvider

HELLO = Turn(say="hello", times="forever")
USER: list[dict[str, Any]] = [{"role": "user", "content": "hi"}]


def run(*turns: Turn, fault: dict[str, Any] | None = None, **fields: Any) -> Transition:
    """A run of these turns, with one fault armed if any."""
    scenario = Scenario(name="core", script=turns or (HELLO,), **fields)
    armed = [faults.arm(spec_of(**fault))] if fault else []
    script = TurnScript(turns or (HELLO,), Draws(scenario.seed))
    return Transition(scenario, AnthropicProvider(), script, History(), faults=armed)


def spec_of(**fault: Any) -> FaultSpec:
    """A fault as a file writes it: its settings beside the knobs."""
    knobs = {k: fault.pop(k) for k in FaultSpec.__struct_fields__ if k in fault}
    return msgspec.convert({**knobs, "settings": fault}, FaultSpec)


def body(messages: Sequence[dict[str, Any]] = USER, *, tools: bool = True, **fields: Any) -> bytes:
    """A request's bytes."""
    offered = [{"name": "t", "input_schema": {"type": "object"}}] if tools else []
    extra = {"tools": offered} if tools else {}
    return msgspec.json.encode(
        {"model": "m", "max_tokens": 100, "messages": list(messages), **extra, **fields}
    )


def ask(
    transition: Transition,
    messages: Sequence[dict[str, Any]] = USER,
    *,
    tools: bool = True,
    headers: dict[str, str] | None = None,
    at_ms: int = 0,
    session: str = "",
    timeout_ms: int | None = None,
    **fields: Any,
) -> Plan:
    """Ask the model."""
    data = body(messages, tools=tools, **fields)
    received = Received("/v1/messages", headers or {}, data, at_ms, session, timeout_ms)
    return transition.model(received)


def said(plan: Plan) -> tuple[int, Any]:
    """Status and body of a plan that sends one JSON answer."""
    sends = [step for step in plan if isinstance(step, Send)]
    assert sends, plan
    assert sends[0].head, plan
    return sends[0].head.status, msgspec.json.decode(b"".join(s.data for s in sends))


def text(plan: Plan) -> str:
    """The text that an answer says, or the error's message."""
    _, answer = said(plan)
    if "error" in answer:
        return str(answer["error"]["message"])
    return "".join(block.get("text", "") for block in answer["content"])


def answers(transition: Transition) -> list[Answered]:
    """The answered events."""
    return [e for e in transition.history.events if isinstance(e, Answered)]


def run_with(specs: Sequence[dict[str, Any]], **fields: Any) -> Transition:
    """A run that says hello without end, with these faults armed in this order."""
    scenario = Scenario(name="core", script=(HELLO,), **fields)
    armed = [faults.arm(spec_of(**spec)) for spec in specs]
    script = TurnScript((HELLO,), Draws(scenario.seed))
    return Transition(scenario, AnthropicProvider(), script, History(), faults=armed)


def call_of(transition: Transition) -> Call:
    """The first model call of a run, as a fault sees it."""
    called = next(e for e in transition.history.events if isinstance(e, Called))
    return Call(called.key, called.seam, 1, called.session, 0, called.at_ms, called.request)
