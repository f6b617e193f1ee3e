"""Whole scenarios, drawn: a stored session, an inbox, a script, tools, dialect, window, stream.

They are the values that scenario files are read into, so whatever a generated scenario shows goes
through the same run as one that was written by hand.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from hypothesis import strategies as st

from harness.campaign.histories import histories
from harness.campaign.scripts import inboxes, scripts, tools
from harness.core.messages import Json
from harness.core.scenario import FaultSpec, Limits, Scenario, Session, Times

WINDOWS = (None, None, None, 2_000, 400, 200)
"""Windows in tokens: mostly none, else one that a session soon fills, or that it always does."""

FAULTS: tuple[tuple[str, str] | tuple[str, str, int], ...] = (
    ("http.status", "model"),
    ("sse.end_inside_tool_input", "model"),
    ("sse.error_event", "model"),
    ("sse.no_message_delta", "model"),
    ("sse.no_message_stop", "model"),
    ("tools.answer_lost", "tool"),
    ("tools.empty", "tool"),
    ("tools.late", "tool"),
    ("tools.raises", "tool"),
    ("transport.close_before_headers", "model"),
    ("transport.headers_never_come", "model"),
    ("transport.latency", "model"),
    ("transport.reset_before_headers", "model"),
    ("transport.reset_mid_stream", "model"),
    ("transport.stalled_stream", "model"),
    ("http.status", "model", 400),
    ("http.status", "model", 413),
)
"""Kinds of faults, where they strike, and the status if it is another than the usual one: one
that refuses the request for good, one that says it is too large."""

_FAULT = st.integers(0, len(FAULTS) - 1)
_WHEN = st.integers(1, 3)
_OFTEN: st.SearchStrategy[Times | Literal["once"]] = st.sampled_from(["once", 2, "forever"])
_DIALECTS = st.sampled_from(["", "strict", "anthropic-2023", "bedrock"])
_WINDOWS = st.sampled_from(WINDOWS)

LIMITS = Limits(model_calls=400, tool_calls=400)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Scenarios without faults."""
    return Scenario(
        name="generated",
        session=Session(messages=draw(histories())),
        inbox=draw(inboxes()),
        script=draw(scripts()),
        tools=draw(tools()),
        dialect=draw(_DIALECTS),
        stream=draw(st.booleans()),
        window_tokens=draw(_WINDOWS),
        limits=LIMITS,
    )


@st.composite
def failing_scenarios(draw: st.DrawFn) -> Scenario:
    """Scenarios with one fault of the provider or of a tool, on an early call, from once on."""
    kind, on, *status = FAULTS[draw(_FAULT)]
    settings: dict[str, Json] = {"status": status[0]} if status else {}
    fault = FaultSpec(
        kind=kind, on=on, when=draw(_WHEN), often=draw(_OFTEN), must_fire=False, settings=settings
    )
    return msgspec.structs.replace(draw(scenarios()), faults=(fault,))
