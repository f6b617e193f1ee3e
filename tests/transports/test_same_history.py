"""Any scenario gives the same canonical history through both transports."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import anthropic
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.clock import RealClock
from harness.core.history.history import canonical
from harness.core.scenario.scenario import ToolScript, ToolTurn, Turn
from harness.core.transition.transition import Transition
from harness.core.values.plans import Close, Head, Plan, Send, Step, Wait
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief
from harness.transports.sdk_clients import sdk_client
from tests.http_library import http
from tests.transports.world import loopback, transition

TOOLS = {"t": ToolScript(script=(ToolTurn(ok="fine", times="forever"),))}
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
TURNS = st.one_of(
    st.builds(lambda text: Turn(say=text), WORDS),
    st.builds(lambda text: Turn(use="t", input={"a": text}), WORDS),
    st.builds(lambda text: Turn(think=text, say=text), WORDS),
)
BENDS = st.sampled_from(["none", "none", "none", "wait", "close", "half", "reset", "html"])
MODEL_CALLS = 6


def bent(kind: str, plan: Plan) -> Plan:
    half: tuple[Step, ...] = plan[: (len(plan) + 1) // 2]
    table: dict[str, Plan] = {
        "wait": (*half, Wait(1), *plan[len(half) :]),
        "close": (Close(),),
        "half": (*half, Close()),
        "reset": (*half, Close(reset=True)),
        "html": (Send(b"<p>login</p>", Head(200, {"content-type": "text/html"})),),
    }
    return table.get(kind, plan)


def run(turns: list[Turn], bends: list[str], stream: bool) -> Transition:
    order = iter(bends)
    return transition(
        *turns, stream=stream, tools=TOOLS, bend=lambda plan: bent(next(order, "none"), plan)
    )


def play(client: Any, stream: bool) -> list[str]:
    """A small agent: it answers every tool call, and asks again after every failure."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    met = []
    for _ in range(MODEL_CALLS):
        try:
            reply = ask(client, messages, stream)
        except (anthropic.APIError, http.HTTPError, ValueError, AssertionError) as error:
            met.append(type(error).__name__)
            continue
        met.append(repr(getattr(reply, "content", reply)))
        uses = [b.id for b in getattr(reply, "content", ()) if b.type == "tool_use"]
        if uses:
            results = [{"type": "tool_result", "tool_use_id": id_, "content": "x"} for id_ in uses]
            messages += [
                {"role": "assistant", "content": reply.content},
                {"role": "user", "content": results},
            ]
    return met


def ask(client: Any, messages: list[dict[str, Any]], stream: bool) -> Any:
    settings = {"model": "m", "max_tokens": 100, "messages": messages}
    if not stream:
        return client.messages.create(**settings)
    with client.messages.stream(**settings) as events:
        return events.get_final_message()


@settings(max_examples=40, deadline=None)
@given(st.lists(TURNS, max_size=5), st.lists(BENDS, max_size=6), st.booleans())
def test_both_transports_write_one_history(
    turns: list[Turn], bends: list[str], stream: bool
) -> None:
    inner = run(turns, bends, stream)
    brief = InProcessBrief(Dispatcher(inner, RealClock()), PurePath())
    inside = play(brief.anthropic(max_retries=0), stream)
    outer = run(turns, bends, stream)
    with loopback(outer) as server:
        where = {"base_url": server.urls.model, "max_retries": 0}
        outside = play(sdk_client("anthropic", None, asynchronous=False, **where), stream)
    assert inside == outside
    assert canonical(inner.history) == canonical(outer.history)
