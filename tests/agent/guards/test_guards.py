"""The guards, alone: each a pure function of what it has seen."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.guards import (
    Decision,
    EmptyInputGuard,
    EndTurn,
    Guard,
    Guide,
    IdenticalFailureGuard,
    Proceed,
    Refuse,
    RepeatGuard,
    Watch,
    standard_guards,
)
from harness.agent.guards.decisions import signature
from harness.agent.guards.empty_input import needed_by
from harness.agent.guards.identical_failure import fingerprint
from harness.core.messages import Json, Text, ToolResult, ToolSpec, ToolUse

WRITE = ToolSpec("write", input_schema={"type": "object", "required": ["path"]})
TICK = ToolSpec("tick", input_schema={"type": "object"})
OPTIONAL = ToolSpec("list", input_schema={"type": "object", "properties": {"of": {}}})


def step(guard: Guard | Watch, *calls: tuple[str, Json, Json]) -> list[str]:
    """Carry out one batch of (tool, input, result); an error result is an exception.

    Each call's heaviest decision, in words.
    """
    guard.begin_step()
    words = []
    for name, given_input, said in calls:
        call = ToolUse("t", name, given_input)
        decision: Decision = guard.before(call)
        if isinstance(decision, Proceed):
            failed = isinstance(said, Exception)
            decision = guard.after(call, ToolResult("t", str(said), is_error=failed))
        words.append(type(decision).__name__)
    return words


def steps(guard: Guard | Watch, calls: Iterable[tuple[str, Json, Json]]) -> list[str]:
    """Carry out calls one by one."""
    return [word for call in calls for word in step(guard, call)]


def empty_guard() -> EmptyInputGuard:
    return EmptyInputGuard(needed_by((WRITE, TICK, OPTIONAL)))


EMPTY = ("write", {}, "never")
FAIL = ("memory", {"action": "replace"}, ValueError("old_text is required"))


@pytest.mark.parametrize("given_input", [{}, None, "", {"__unparsedToolInput": '{"path": "/'}])
def test_empty_calls_are_guided_refused_and_end_the_turn(given_input: Json) -> None:
    words = steps(empty_guard(), [("write", given_input, "")] * 4)
    assert words == ["Refuse", "Refuse", "Refuse", "EndTurn"]


@pytest.mark.parametrize("given_input", [{"path": ""}, {"path": None}, {"other": 1}])
def test_a_call_with_something_in_it_is_not_empty(given_input: Json) -> None:
    assert steps(empty_guard(), [("write", given_input, "ok")] * 3) == ["Proceed"] * 3


@pytest.mark.parametrize("name", ["tick", "mcp__srv__tick", "list", "mcp__srv__list", "unknown"])
def test_tools_that_require_nothing_are_called_with_nothing(name: str) -> None:
    assert steps(empty_guard(), [(name, {}, "ok")] * 10) == ["Proceed"] * 10


def test_prefixed_and_bare_names_are_one_tool() -> None:
    prefixed = ("mcp__files__write", {}, "")
    assert steps(empty_guard(), [EMPTY, prefixed] * 2)[-1] == "EndTurn"


def test_a_call_of_another_tool_between_hides_nothing() -> None:
    words = steps(empty_guard(), [EMPTY, ("tick", {}, "ok")] * 4)
    assert words[-2] == "EndTurn"


def test_a_real_call_clears_the_count() -> None:
    guard = empty_guard()
    steps(guard, [EMPTY] * 3)
    assert step(guard, ("write", {"path": "a"}, "ok")) == ["Proceed"]
    assert steps(guard, [EMPTY] * 3) == ["Refuse"] * 3


def test_a_batch_of_empty_calls_is_one_thought() -> None:
    guard = empty_guard()
    assert step(guard, *[EMPTY] * 5) == ["Refuse"] * 5
    assert step(guard, *[EMPTY] * 5) == ["Refuse"] * 5


def test_guidance_names_what_is_missing_and_then_says_stop() -> None:
    guard = empty_guard()
    texts = []
    for _ in range(4):
        guard.begin_step()
        decision = guard.before(ToolUse("t", "write", {}))
        assert not isinstance(decision, Proceed)
        texts.append(decision.text)
    assert "path" in texts[0]
    assert texts[2].startswith("STOP")
    assert "write" in texts[3]


def test_the_fourth_identical_failure_does_not_happen() -> None:
    words = steps(IdenticalFailureGuard(), [FAIL] * 5)
    assert words == ["Proceed", "Guide", "Guide", "Refuse", "EndTurn"]


def test_a_batch_of_identical_failures_is_refused_not_ended() -> None:
    assert step(IdenticalFailureGuard(), *[FAIL] * 6)[3:] == ["Refuse"] * 3


def test_a_success_of_the_call_clears_its_streak() -> None:
    ok = ("memory", {"action": "replace"}, "stored")
    words = steps(IdenticalFailureGuard(), [FAIL, FAIL, ok, FAIL, FAIL, FAIL, FAIL])
    assert words[-2:] == ["Guide", "Refuse"]


def test_progress_between_failures_ends_the_streak() -> None:
    edits = [("edit", {"line": n}, "edited") for n in range(5)]
    calls = [call for edit in edits for call in (FAIL, edit)]
    assert steps(IdenticalFailureGuard(), calls) == ["Proceed"] * 10


def test_a_harmless_success_hides_no_loop() -> None:
    calls = [("look", {}, "nothing new"), FAIL] * 4
    assert steps(IdenticalFailureGuard(), calls)[-1] == "Refuse"


@pytest.mark.parametrize("other", [("memory", {"action": "add"}), ("notes", {"action": "replace"})])
def test_another_error_or_another_tool_is_another_streak(other: tuple[str, Json]) -> None:
    guard = IdenticalFailureGuard()
    steps(guard, [FAIL] * 2)
    assert step(guard, (*other, ValueError("something else"))) == ["Proceed"]


def test_key_order_is_no_difference_and_list_order_is() -> None:
    assert signature("t", {"a": 1, "b": [1, 2]}) == signature("t", {"b": [1, 2], "a": 1})
    assert signature("t", {"a": [1, 2]}) != signature("t", {"a": [2, 1]})


@pytest.mark.parametrize(
    "given_input", [datetime.date(2026, 1, 1), {"a": object()}, b"\xff", {"a": "\ud83d"}, {1: {2}}]
)
def test_what_is_no_json_does_not_raise(given_input: Json) -> None:
    watch = Watch(standard_guards((WRITE,)))
    assert step(watch, ("look", given_input, ValueError("\ud83d")))[0] in ("Proceed", "Refuse")


def test_a_tool_failing_alike_with_other_arguments_ends_the_turn() -> None:
    calls = [("memory", {"n": n}, ValueError("old_text is required")) for n in range(5)]
    words = steps(IdenticalFailureGuard(), calls)
    assert words == ["Proceed", "Guide", "Guide", "Refuse", "EndTurn"]


def test_exploring_brings_different_errors_and_goes_on() -> None:
    calls = [("read", {"path": p}, ValueError(f"no file {p}")) for p in "abcdefgh"]
    assert steps(IdenticalFailureGuard(), calls) == ["Proceed"] * 8


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("2026-11-01T10:00:00Z lost", "2026-11-02 11:30:59.123 lost"),
        ("request req_01AbCdEfGhIjKlMnOp failed", "request req_02ZzYyXxWwVvUuTtSs failed"),
        (
            "id 6f1e1c0a-1111-4222-8333-444455556666 gone",
            "id 0a1b2c3d-9999-4888-8777-666655554444 gone",
        ),
        ("cannot open /tmp/tmpab12/x.txt", "cannot open /tmp/tmpzz99/x.txt"),
        ("object at 0x7f3a2b1c4d5e", "object at 0x7f0000001111"),
        ("10:00:01 busy", "23:59:59.123 busy"),
        ("no answer after 1532 ms", "no answer after 30.5 s"),
        (r"no C:\Users\a\Temp\x1\y.txt", r"no C:\Users\a\Temp\z2\y.txt"),
    ],
)
def test_times_ids_and_scratch_paths_make_no_other_error(one: str, two: str) -> None:
    assert fingerprint(one) == fingerprint(two)


def test_words_and_small_numbers_make_another_error() -> None:
    assert fingerprint("no file a.txt") != fingerprint("no file b.txt")
    assert fingerprint("exit 1") != fingerprint("exit 2")
    assert fingerprint("defaced") != fingerprint("effaced")


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
