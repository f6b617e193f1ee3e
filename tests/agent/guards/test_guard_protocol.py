"""The standard guards together: one watch over all of them, for any calls."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.guards import Decision, EndTurn, Guide, Proceed, Refuse, Watch, standard_guards
from harness.core.values.messages import Json, Text, ToolResult, ToolUse
from tests.agent.guards.steps import TICK, WRITE, step, steps


@pytest.mark.parametrize(
    "given_input", [datetime.date(2026, 1, 1), {"a": object()}, b"\xff", {"a": "\ud83d"}, {1: {2}}]
)
def test_what_is_no_json_does_not_raise(given_input: Json) -> None:
    watch = Watch(standard_guards((WRITE,)))
    assert step(watch, ("look", given_input, ValueError("\ud83d")))[0] in ("Proceed", "Refuse")


def test_the_heaviest_decision_counts_and_guidance_is_gathered() -> None:
    class Always:
        def __init__(self, before: Decision, after: Decision) -> None:
            self._before, self._after = before, after

        def begin_step(self) -> None:
            """Nothing."""

        def before(self, call: ToolUse) -> Decision:
            return self._before

        def after(self, call: ToolUse, result: ToolResult) -> Decision:
            return self._after

    one = Always(Refuse("no"), Guide("a"))
    two = Always(Proceed(), Guide("b"))
    watch = Watch((one, two))  # type: ignore[arg-type]
    call, result = ToolUse("t", "x", {}), ToolResult("t", (Text("y"),))
    assert watch.before(call) == Refuse("no")
    assert watch.after(call, result) == Guide("a\nb")
    assert Watch((one, Always(EndTurn("e"), EndTurn("e")))).before(call) == EndTurn("e")  # type: ignore[arg-type]
    assert Watch(()).before(call) == Proceed()


_CALLS = st.lists(
    st.tuples(
        st.sampled_from(["write", "tick", "look"]),
        st.sampled_from([{}, {"path": "a"}, {"path": "b"}]),
        st.sampled_from(["ok", "", ValueError("e"), ValueError("f")]),
    ),
    max_size=30,
)


@given(_CALLS)
def test_no_call_runs_four_times_in_a_row_with_one_result(
    calls: list[tuple[str, Json, Json]],
) -> None:
    watch = Watch(standard_guards((WRITE, TICK)))
    ran: list[str] = []
    for call in calls:
        [word] = step(watch, call)
        if word == "EndTurn":
            break
        if word in ("Proceed", "Guide"):
            ran.append(repr(call))
    assert all(len(set(ran[i : i + 4])) > 1 for i in range(len(ran) - 3))


@given(_CALLS, _CALLS)
def test_sessions_are_apart(
    ours: list[tuple[str, Json, Json]], theirs: list[tuple[str, Json, Json]]
) -> None:
    alone = steps(Watch(standard_guards((WRITE,))), ours)
    watch, other = Watch(standard_guards((WRITE,))), Watch(standard_guards((WRITE,)))
    together = []
    for index, call in enumerate(ours):
        together += step(watch, call)
        step(other, *theirs[index : index + 1])
    assert together == alone
