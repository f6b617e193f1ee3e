"""The guard on circles, by example and for any calls in any batches; and the count of refusals."""

from __future__ import annotations

from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.guards import EndTurn, Proceed, Refuse, RepeatGuard, Watch
from harness.core.values.messages import Text, ToolResult, ToolUse
from tests.agent.guards.steps import steps

Made: TypeAlias = tuple[str, str]
"""A call of one tool: its argument and its result."""

_BATCHES = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), min_size=1, max_size=5),
    max_size=20,
)


def carry_out(guard: RepeatGuard, batches: list[list[Made]]) -> list[list[Made]]:
    """The calls that ran, batch by batch, until the end of the turn or of the batches."""
    ran: list[list[Made]] = []
    for batch in batches:
        guard.begin_step()
        ran.append([])
        for at, said in batch:
            call = ToolUse("t", "look", {"at": at})
            decision = guard.before(call)
            if isinstance(decision, EndTurn):
                return ran
            if isinstance(decision, Proceed):
                guard.after(call, ToolResult("t", said))
                ran[-1].append((at, said))
    return ran


@pytest.mark.parametrize("period", [1, 2, 3, 4])
def test_a_cycle_is_guided_refused_and_ends_the_turn(period: int) -> None:
    calls = [("look", {"n": n % period}, n % period) for n in range(period * 3 + 2)]
    words = steps(RepeatGuard(), calls)
    assert words[-2:] == ["Refuse", "EndTurn"]
    assert "Refuse" not in words[: period * 3]
    assert "Guide" in words


@pytest.mark.parametrize("period", [1, 2, 3, 4])
def test_changing_results_are_polling(period: int) -> None:
    calls = [("look", {"n": n % period}, n) for n in range(40)]
    assert steps(RepeatGuard(), calls) == ["Proceed"] * 40


def test_another_call_breaks_the_cycle() -> None:
    same = ("look", {}, "same")
    assert steps(RepeatGuard(), [same, same, same, ("act", {}, "done"), same, same]) == [
        "Proceed",
        "Guide",
        "Guide",
        "Proceed",
        "Proceed",
        "Guide",
    ]


@given(_BATCHES)
def test_nothing_runs_a_fourth_time_in_a_row_with_one_result(batches: list[list[Made]]) -> None:
    flat = [made for batch in carry_out(RepeatGuard(), batches) for made in batch]
    assert all(len(set(flat[n : n + 4])) > 1 for n in range(len(flat) - 3))


@given(_BATCHES)
def test_no_batch_runs_a_fourth_time_in_a_row(batches: list[list[Made]]) -> None:
    ran = [sorted(batch) for batch in carry_out(RepeatGuard(), batches) if batch]
    fours = (ran[n : n + 4] for n in range(len(ran) - 3))
    assert all(any(batch != four[0] for batch in four) for four in fours)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), max_size=20))
def test_results_that_always_change_are_left_alone(asked: list[list[str]]) -> None:
    batches = [[(at, f"{n}.{m}") for m, at in enumerate(batch)] for n, batch in enumerate(asked)]
    assert carry_out(RepeatGuard(), batches) == batches


@given(_BATCHES)
def test_fewer_than_three_of_a_call_with_one_result_are_left_alone(
    batches: list[list[Made]],
) -> None:
    seen: list[Made] = []
    rare: list[list[Made]] = []
    for batch in batches:
        rare.append([])
        for made in batch:
            if seen.count(made) < 2:
                seen.append(made)
                rare[-1].append(made)
    assert carry_out(RepeatGuard(), rare) == rare


@given(st.lists(st.sampled_from("abc"), min_size=16, max_size=40))
def test_a_tool_that_is_always_refused_ends_the_turn(asked: list[str]) -> None:
    class Never(RepeatGuard):
        def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
            return Refuse("no")

    watch, words = Watch((Never(),)), []
    for at in asked:
        watch.begin_step()
        words.append(type(watch.before(ToolUse("t", "look", {"at": at}))).__name__)
    assert words == ["Refuse"] * 4 + ["EndTurn"] * (len(asked) - 4)


def test_no_arguments_and_an_empty_object_are_one_call() -> None:
    watch = Watch([RepeatGuard()])
    for number, value in enumerate(({}, None, {}), start=1):
        call = ToolUse(f"t{number}", "poll", value)
        watch.begin_step()
        assert isinstance(watch.before(call), Proceed)
        watch.after(call, ToolResult(call.id, "ok"))
    watch.begin_step()
    assert isinstance(watch.before(ToolUse("t4", "poll", None)), Refuse)


def test_one_text_in_two_writings_is_one_result() -> None:
    guard, call = RepeatGuard(), ToolUse("t", "look", {})
    for content in ("ok", (Text("ok"),), "ok"):
        assert isinstance(guard.before(call), Proceed)
        guard.after(call, ToolResult("t", content))
    assert isinstance(guard.before(call), Refuse)
