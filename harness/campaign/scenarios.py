"""Whole scenarios, drawn: a stored session, an inbox, a script, tools, streamed or not.

They are the values that scenario files are read into, so whatever a generated scenario shows goes
through the same run as one that was written by hand.
"""

from __future__ import annotations

from hypothesis import strategies as st

from harness.campaign.histories import histories
from harness.campaign.scripts import inboxes, scripts, tools
from harness.core.scenario import Limits, Scenario, SeedMessage, Session

WINDOWS = (None, None, None, 2_000, 400, 200)
"""Windows in tokens: mostly none, else one that a session soon fills, or that it always does."""

LIMITS = Limits(model_calls=400, tool_calls=400)


@st.composite
def scenarios(
    draw: st.DrawFn, sessions: st.SearchStrategy[tuple[SeedMessage, ...]] | None = None
) -> Scenario:
    """Scenarios without faults; `sessions` replaces the stored sessions (`histories()`)."""
    return Scenario(
        name="generated",
        session=Session(messages=draw(histories() if sessions is None else sessions)),
        inbox=draw(inboxes()),
        script=draw(scripts()),
        tools=draw(tools()),
        stream=draw(st.booleans()),
        window_tokens=draw(st.sampled_from(WINDOWS)),
        limits=LIMITS,
    )
