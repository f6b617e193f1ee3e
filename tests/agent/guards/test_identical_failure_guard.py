"""The guard on identical failures, and what makes two failures one."""

from __future__ import annotations

import pytest

from harness.agent.guards import IdenticalFailureGuard
from harness.agent.guards.guard_protocol import signature
from harness.agent.guards.identical_failure_guard import fingerprint
from harness.core.values.messages import Json
from tests.agent.guards.steps import step, steps

FAIL = ("memory", {"action": "replace"}, ValueError("old_text is required"))


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
