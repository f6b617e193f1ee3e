"""The Node agents and calls that get nowhere: empty inputs, identical failures, no end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.examples.world import World, assert_paired, results_of, say, use

pytestmark = pytest.mark.real

BAD_INPUT = {"content": "old_text is required for replace", "is_error": True}


def test_careful_stops_at_the_third_empty_call(world: World) -> None:
    world.offer("write", "path", "content")
    world.write("Write the report.")
    world.script = [use(("write", {})) for _ in range(3)] + [say("I could not write it.")]
    world.run(careful=True)
    assert world.calls == []
    assert len(world.requests) == 4
    guidance = results_of(world.requests[1])[0]
    assert guidance["is_error"]
    assert "missing required arguments of write: path, content" in guidance["content"]
    assert "tools" in world.requests[2]
    assert "tools" not in world.requests[3]
    assert_paired(world.requests[3])
    assert (world.outbox[0]["text"], world.outbox[0]["status"]) == (
        "I could not write it.",
        "failed",
    )


def test_careful_counts_empty_calls_in_a_row_only(world: World) -> None:
    world.offer("write", "path")
    world.write("Write.")
    empty, good = use(("write", {})), use(("write", {"path": "a"}))
    world.script = [empty, json.loads(json.dumps(empty)), good, empty | use(("write", {}))]
    world.script += [say("done")]
    world.run(careful=True)
    assert world.calls == [("write", {"path": "a"})]
    assert world.outbox[0]["status"] == "ok"


def test_careful_lets_tools_without_required_parameters_be_called_empty(world: World) -> None:
    world.offer("next_page")
    world.write("Read all.")
    world.tool = lambda name, given: (200, {"content": f"page {len(world.calls)}"})
    world.script = [use(("next_page", {})) for _ in range(8)] + [say("read")]
    world.run(careful=True)
    assert len(world.calls) == 8
    assert world.outbox[0]["status"] == "ok"


def test_naive_runs_empty_calls_for_as_long_as_they_come(world: World) -> None:
    world.offer("write", "path")
    world.write("Write.")
    world.tool = lambda name, given: (200, BAD_INPUT)
    world.script = [use(("write", {})) for _ in range(25)] + [say("Written!")]
    world.run()
    assert world.calls == [("write", {})] * 25
    assert world.outbox[0]["status"] == "ok"


@pytest.mark.parametrize("failing", [True, False])
def test_careful_does_not_run_the_fourth_identical_call(world: World, failing: bool) -> None:
    world.offer("memory", "action")
    world.write("Remember.")
    world.tool = lambda name, given: (200, {**BAD_INPUT, "is_error": failing})
    orders: list[dict[str, Any]] = [{"action": "replace", "n": 1}, {"n": 1, "action": "replace"}]
    world.script = [use(("memory", orders[n % 2])) for n in range(4)] + [say("Not stored.")]
    world.run(careful=True)
    assert len(world.calls) == 3
    assert len(world.requests) == 5
    assert "tools" not in world.requests[4]
    assert world.outbox[0]["status"] == "failed"


def test_careful_stops_at_one_error_under_changing_arguments(world: World) -> None:
    world.offer("memory", "n")
    world.write("Remember.")
    world.tool = lambda name, given: (200, BAD_INPUT)
    world.script = [use(("memory", {"n": n})) for n in range(5)] + [say("Not stored.")]
    world.run(careful=True)
    assert len(world.calls) == 3
    assert world.outbox[0]["status"] == "failed"


def test_careful_forgets_failures_when_the_tool_succeeds(world: World) -> None:
    world.offer("memory", "n")
    world.write("Remember.")
    world.tool = lambda name, given: (
        200,
        {"content": "ok", "is_error": False} if len(world.calls) == 3 else BAD_INPUT,
    )
    world.script = [use(("memory", {"n": 1})) for _ in range(6)] + [say("Stored.")]
    world.run(careful=True)
    assert len(world.calls) == 6
    assert world.outbox[0]["status"] == "ok"


def test_careful_leaves_a_poller_alone(world: World) -> None:
    world.offer("poll", "job")
    world.write("Wait for it.")
    world.tool = lambda name, given: (200, {"content": f"{len(world.calls)} of 10"})
    world.script = [use(("poll", {"job": 7})) for _ in range(10)] + [say("Ready.")]
    world.run(careful=True)
    assert len(world.calls) == 10
    assert world.outbox[0]["status"] == "ok"


def test_careful_answers_all_calls_of_a_stopped_batch(world: World) -> None:
    world.offer("memory", "n")
    world.write("Remember.")
    world.tool = lambda name, given: (200, BAD_INPUT)
    batch = use(*[("memory", {"n": 1})] * 5)
    world.script = [batch, say("Not stored.")]
    world.run(careful=True)
    assert len(world.calls) == 3
    assert len(results_of(world.requests[1])) == 5
    assert_paired(world.requests[1])


def test_careful_speaks_for_itself_when_the_last_call_fails(world: World) -> None:
    world.offer("write", "path")
    world.write("Write.")
    world.script = [use(("write", {})) for _ in range(3)]
    world.run(careful=True)
    assert world.outbox[0]["status"] == "failed"
    assert "not done" in world.outbox[0]["text"]


def test_careful_makes_at_most_twenty_model_calls(world: World) -> None:
    world.offer("step", "n")
    world.write("Walk.")
    world.tool = lambda name, given: (200, {"content": str(given)})
    world.script = [use(("step", {"n": n})) for n in range(30)]
    world.script[19] = say("I stopped on the way.")
    world.run(careful=True)
    assert len(world.requests) == 20
    assert len(world.calls) == 18
    assert world.outbox[0]["text"] == "I stopped on the way."
    assert world.outbox[0]["status"] == "failed"
