from __future__ import annotations

from typing import Any

import pytest

from harness.core.history.events import Called
from harness.core.history.history import encode
from harness.core.scenario.scenario import Limits, Turn
from harness.core.transition.transition import Transition
from harness.core.values.calls import ModelRequest
from harness.core.values.plans import Plan
from tests.core import world

SCRIPT = (Turn(say="a"), Turn(use="t", input={"x": 1}), Turn(say="b"))
"""One turn fewer than there are calls: past the end the wire says so."""
ASKED: tuple[dict[str, Any], ...] = ({}, {"messages": []}, {"stream": True}, {}, {}, {})


@pytest.mark.parametrize(
    "kind", ["http.status", "transport.reset_mid_stream", "http.prompt_too_long"]
)
@pytest.mark.parametrize("knobs", [{"when": 99}, {"on": "compact"}, {"when": {"p": 0.0}}])
def test_a_fault_changes_nothing_in_a_call_for_which_it_does_not_wait(
    kind: str, knobs: dict[str, Any]
) -> None:
    limits = Limits(model_calls=5)
    bare = world.run(*SCRIPT, limits=limits)
    armed = world.run(*SCRIPT, limits=limits, fault={"kind": kind, **knobs})
    assert _plans(bare) == _plans(armed)
    assert encode(bare.history.events) == encode(armed.history.events)


def _plans(run: Transition) -> list[Plan]:
    return [world.ask(run, **fields) for fields in ASKED]


def test_each_call_is_recorded_with_its_own_headers() -> None:
    run, sent = world.run(), [{}, {"anthropic-beta": "a"}, {"anthropic-beta": "a"}, {}]
    for headers in sent:
        world.ask(run, headers={**headers, "x-stainless-retry-count": "1"})
    requests = [event.request for event in run.history.events if isinstance(event, Called)]
    assert [r.headers for r in requests if isinstance(r, ModelRequest)] == sent
