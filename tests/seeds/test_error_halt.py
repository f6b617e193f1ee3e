"""Statements 116 to 124: hermes' halt on repeated errors, by tool and beginning of the error."""

from __future__ import annotations

from typing import Any

import pytest

from harness.agent.guards import IdenticalFailureGuard, Watch, standard_guards
from harness.agent.guards.guard_protocol import result_words
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Tool, ToolError
from harness.core.values.messages import Json, Opaque, Text, ToolResult, ToolUse
from tests.mutants.guards_on_failures import SingleStreak
from tests.mutants.halt import Halt
from tests.seeds.caught import caught
from tests.seeds.guarding import one_by_one, passes, runs_before_refusal, words

PREFIX = "x " * 60
"""120 characters that say nothing."""


def fails(error: str, name: str = "memory", given: Json = None) -> tuple[str, Json, Exception]:
    """A failing call."""
    return (name, given or {"action": "replace"}, ToolError(error))


def failing_runs(*errors: str) -> int:
    """How many of these failures of one tool happen before it is refused."""
    calls = [fails(error, given={"n": n}) for n, error in enumerate(errors)]
    return runs_before_refusal(one_by_one(IdenticalFailureGuard(), calls))


@pytest.mark.seed(116)
def test_the_third_equal_error_is_the_last_and_the_turn_has_a_text() -> None:
    done = passes("repeated-errors")
    assert done.history.past.tool_calls["memory"] == 3
    last = done.history.trace.sendings[-1].request
    assert (last.kind, last.text) == ("final", "I could not store that.")


@pytest.mark.seed(117)
def test_a_difference_in_character_120_is_another_error() -> None:
    errors = [f"{PREFIX[:119]}{letter}" for letter in "abcdef"]
    assert failing_runs(*errors) == 6
    assert one_by_one(Halt(), [fails(error) for error in errors]) == ["Proceed"] * 6


@pytest.mark.seed(117, kind="mutant")
def test_a_difference_behind_character_120_is_another_error_too() -> None:
    errors = [f"{PREFIX}{letter}" for letter in "abcdef"]
    assert failing_runs(*errors) == 6
    assert one_by_one(Halt(), [fails(error) for error in errors])[2] == "EndTurn"
    caught("error_key_is_cut")


@pytest.mark.seed(118, kind="mutant")
@pytest.mark.parametrize(
    "error",
    [
        "2026-04-11T09:15:0{}.114Z old_text is required",
        "request req_01AbCdEfGhIjKlMnO{} failed",
        "cannot open /tmp/tmpab1{}/x.txt",
        "took {} ms and failed",
    ],
)
def test_what_changes_by_itself_makes_no_other_error(error: str) -> None:
    errors = [error.format(n) for n in range(1, 7)]
    assert failing_runs(*errors) == 3
    assert one_by_one(Halt(), [fails(e) for e in errors]) == ["Proceed"] * 6


@pytest.mark.seed(118, kind="mutant")
def test_a_time_in_the_error_defeats_a_raw_key() -> None:
    assert caught("error_text_as_key").history.past.tool_calls["memory"] > 3


@pytest.mark.seed(119, kind="mutant")
def test_two_tools_that_fail_in_turn_are_stopped() -> None:
    calls = [fails("no"), fails("gone", "notes")] * 6
    for guard in (IdenticalFailureGuard(), Watch(standard_guards(()))):
        assert runs_before_refusal(one_by_one(guard, calls)) == 6
    assert one_by_one(SingleStreak(), calls) == ["Proceed"] * 12
    caught("single_streak")


@pytest.mark.seed(120)
def test_one_error_for_other_arguments_is_guided_before_it_is_refused() -> None:
    """A model that explores is warned first; errors that name the input differ and are allowed."""
    same = [fails("not found", given={"path": n}) for n in range(6)]
    assert one_by_one(IdenticalFailureGuard(), same)[:4] == ["Proceed", "Guide", "Guide", "Refuse"]
    named = [fails(f"{p} is not there", given={"path": p}) for p in "abcdef"]
    assert one_by_one(IdenticalFailureGuard(), named) == ["Proceed"] * 6


@pytest.mark.seed(121, kind="mutant")
def test_a_harmless_success_hides_no_loop() -> None:
    calls = [("today", {}, "Saturday"), fails("no")] * 6
    assert runs_before_refusal(one_by_one(IdenticalFailureGuard(), calls)) == 7
    assert one_by_one(Halt(), calls) == ["Proceed"] * 12
    caught("any_success_resets")


@pytest.mark.seed(122)
@pytest.mark.parametrize("name", ["inside-a-batch", "beside-a-call-that-runs"])
def test_all_results_of_a_batch_are_stored_before_the_end(name: str) -> None:
    trace = passes(f"repeated-errors/{name}").history.trace
    [turn] = trace.turns.values()
    last = turn.main[-1]
    looks = [event for event in trace.stored if event.n < last.n]
    rows = [trace.messages[row.digest] for event in looks for row in event.added]
    assert {ask.use.id for ask in turn.asks} <= {r.id for m in rows for r in m.tool_results}
    assert all(ask.sent is not None for ask in turn.asks)
    assert not last.request.tools_offered
    assert len(turn.asks) > len(turn.executions)


@pytest.mark.seed(123, kind="mutant")
def test_the_end_of_one_turn_does_not_end_the_next() -> None:
    last = passes("circles/next-turn-is-fresh").history.trace.sendings[-1].request
    assert (last.status, last.text) == ("ok", "It is 9090 now.")
    caught("stale_guards")


@pytest.mark.seed(124)
@pytest.mark.parametrize(
    "content",
    [None, b"\xff", 7, (), (Opaque("image", {"type": "image"}),), [{"text": "a"}], {"a": object}],
)
@pytest.mark.parametrize("is_error", [True, False])
def test_a_result_without_text_has_an_identity(content: Any, is_error: bool) -> None:
    watch, ran = Watch(standard_guards(())), 0
    call, result = ToolUse("t", "camera", {}), ToolResult("t", content, is_error)
    for _ in range(6):
        watch.begin_step()
        if type(watch.before(call)).__name__ == "Proceed":
            ran += 1
            watch.after(call, result)
    assert ran == 3
    assert result_words(result)


@pytest.mark.seed(124)
def test_pictures_that_differ_are_different_results() -> None:
    one, two = (ToolResult("t", (Opaque("image", {"data": data}),)) for data in "ab")
    assert result_words(one) != result_words(two)
    assert result_words(ToolResult("t", (Text("a"), Opaque("image", {})))) == "a"


@pytest.mark.seed(124)
@pytest.mark.parametrize("raised", [ToolError(""), ValueError(b"\xff"), KeyError(None), OSError()])
def test_an_error_without_words_is_an_error_all_the_same(raised: Exception) -> None:
    def call(given: Any, id: str) -> Any:
        raise raised

    box = Toolbox([Tool("t", "", {"type": "object"}, call)])
    result = box.run(ToolUse("id", "t", {}))
    assert result.is_error
    assert result.text
    assert words(IdenticalFailureGuard(), *[("t", {}, raised)] * 4)[3] == "Refuse"


@pytest.mark.seed(124, kind="mutant")
def test_a_key_of_text_alone_breaks_the_turn() -> None:
    caught("keying_raises")
