"""What a transition writes down: events that do not grow, and the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import msgspec

from harness.core.history.events import Called
from harness.core.scenario.scenario import Limits, ToolScript, Turn
from harness.core.transition.transition import Transition
from harness.core.values.calls import ToolRequest
from tests.core import world


def conversation(run: Transition, calls: int) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for n in range(calls):
        world.said(world.ask(run, messages, at_ms=n))
        use = {"type": "tool_use", "id": f"toolu_{n}", "name": "t", "input": {"n": 1}}
        run.tool(ToolRequest(f"toolu_{n}", "t", {"n": 1}), n)
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": "ok"}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def test_an_event_is_as_large_at_the_end_of_a_long_run_as_at_its_beginning() -> None:
    run = world.run(
        Turn(use="t", input={"n": 1}, times="forever"),
        tools={"t": ToolScript()},
        limits=Limits(model_calls=500, tool_calls=500),
    )
    conversation(run, 500)
    sizes: dict[str, list[int]] = {}
    for event in run.history.events:
        sizes.setdefault(type(event).__name__, []).append(len(msgspec.json.encode(event)))
    assert len(sizes["Called"]) == 1000
    for kind, found in sizes.items():
        assert max(found) <= min(found[2:] or found) + 200, kind
    keeps = [
        e.request.keep for e in run.history.events if isinstance(e, Called) and e.seam == "model"
    ]  # type: ignore[union-attr]
    assert keeps == [0, *range(1, 998, 2)]


SCRIPTED = """
from tests.core import world
from tests.core.test_transition_history import conversation
from harness.core.history.history import encode
from harness.core.scenario.scenario import ToolScript, Turn
import sys
run = world.run(
    Turn(use="t", input={"b": 1, "a": {"z": 1, "y": 2}}, times="forever"),
    fault={"kind": "http.status", "when": {"p": 0.5}, "often": "forever"},
    tools={"t": ToolScript()}, seed=11,
)
conversation(run, 20)
sys.stdout.buffer.write(encode(run.history.events))
"""


def test_one_seed_is_one_history_in_every_process() -> None:
    written = [
        subprocess.run(
            [sys.executable, "-c", SCRIPTED],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=os.path.dirname(os.path.dirname(os.path.dirname(__file__))),
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    ]
    assert written[0] == written[1]
    assert 0 < written[0].count(b'"faults":["http.status"]') < 20
