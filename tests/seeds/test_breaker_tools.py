"""Statements 1 to 12 and 15: AutoGPT's counter of failures by tool and arguments.

Its tracker is a variable of the context that counts failures per tool and arguments, and refuses
the fourth call. Ours is `IdenticalFailureGuard`, created for each turn.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from harness.agent.guards import (
    EmptyInputGuard,
    EndTurn,
    Guide,
    IdenticalFailureGuard,
    Proceed,
    Refuse,
    Watch,
    standard_guards,
)
from harness.agent.guards.guard_protocol import signature
from harness.core.values.brief import ToolError
from harness.core.values.messages import Json, ToolUse
from tests.agent.replies import use
from tests.agent.stand import Stand
from tests.seeds.caught import caught
from tests.seeds.guarding import Step, decide, one_by_one, passes, words

ERROR = ValueError("old_text is required")
X: Json = {"action": "replace", "text": "Oslo"}
Y: Json = {"action": "replace", "text": "Oslo", "old_text": "Bergen"}
FAIL: Step = ("memory", X, ERROR)
OK: Step = ("memory", X, "stored")


@pytest.mark.seed(1)
def test_three_equal_failures_run_and_the_fourth_does_not() -> None:
    assert one_by_one(IdenticalFailureGuard(), [FAIL] * 4) == [
        "Proceed",
        "Guide",
        "Guide",
        "Refuse",
    ]
    assert passes("identical-failures").history.past.tool_calls["memory"] == 3


@pytest.mark.seed(1, kind="mutant")
def test_the_fourth_call_does_not_run_whatever_the_errors_said() -> None:
    failing = [("memory", X, ValueError(error)) for error in ("no disk", "locked", "no row", "x")]
    assert one_by_one(IdenticalFailureGuard(), failing)[2:] == ["Guide", "Refuse"]
    caught("error_words_begin_anew")


@pytest.mark.seed(2, kind="mutant")
def test_a_success_sets_the_counter_to_zero() -> None:
    guard = IdenticalFailureGuard()
    for _ in range(3):
        assert "Refuse" not in one_by_one(guard, [FAIL, FAIL, OK])
    assert one_by_one(guard, [FAIL] * 4) == ["Proceed", "Guide", "Guide", "Refuse"]
    caught("success_clears_nothing")


@pytest.mark.seed(3)
def test_other_arguments_run_after_three_failures() -> None:
    """Who repeats one call and then changes it does what the guidance asks for: it is run once, and
    `no_progress_stop.same_failure` allows it. When it fails in the same way too, the tool is
    refused; and so it is when all three had different arguments, for then a change is not news."""
    guard = IdenticalFailureGuard()
    one_by_one(guard, [FAIL] * 3)
    assert one_by_one(guard, [("memory", Y, "stored"), FAIL]) == ["Proceed", "Proceed"]
    guard = IdenticalFailureGuard()
    one_by_one(guard, [FAIL] * 3)
    others: list[Step] = [("memory", {"text": str(n)}, ERROR) for n in range(4)]
    assert one_by_one(guard, others[:2]) == ["Guide", "Refuse"]
    assert one_by_one(IdenticalFailureGuard(), others)[3] == "Refuse"


@pytest.mark.seed(3, kind="mutant")
def test_a_breaker_that_ignores_arguments_refuses_the_corrected_call() -> None:
    caught("refuses_changed_arguments")


@pytest.mark.seed(4)
def test_another_tool_runs_with_the_same_arguments() -> None:
    guard = IdenticalFailureGuard()
    one_by_one(guard, [FAIL] * 3)
    assert words(guard, ("notes", X, ERROR)) == ["Proceed"]


@pytest.mark.seed(5)
def test_the_order_of_keys_makes_no_other_call() -> None:
    """The errors differ, so no count but that of the one call refuses it."""
    orders: list[Json] = [X, dict(reversed(list(X.items())))] * 2
    errors = (ValueError(error) for error in ("no disk", "locked", "no row", "x"))
    calls: list[Step] = [("memory", *step) for step in zip(orders, errors, strict=True)]
    assert one_by_one(IdenticalFailureGuard(), calls)[2:] == ["Guide", "Refuse"]
    passes("identical-failures/other-key-order")


@pytest.mark.seed(6)
def test_the_order_of_a_list_makes_another_call() -> None:
    one, two = {"a": {"ids": [1, 2]}}, {"a": {"ids": [2, 1]}}
    assert signature("memory", one) != signature("memory", two)
    guard = IdenticalFailureGuard()
    one_by_one(guard, [("memory", one, ERROR)] * 3)
    assert words(guard, ("memory", two, ERROR)) == ["Guide"]


@pytest.mark.seed(7)
@pytest.mark.parametrize("value", [datetime.date(2026, 1, 1), b"\xff\xfe", {1, 2}, "\ud83d"])
def test_what_is_no_json_is_keyed_by_what_it_shows(value: Json) -> None:
    calls: list[Step] = [("memory", {"at": value}, ERROR)] * 4
    assert one_by_one(IdenticalFailureGuard(), calls)[-1] == "Refuse"


@pytest.mark.seed(7)
def test_an_address_in_the_text_never_matches_but_the_error_does() -> None:
    kept = [object() for _ in range(4)]
    assert signature("memory", kept[0]) != signature("memory", kept[1])
    calls: list[Step] = [("memory", {"at": value}, ERROR) for value in kept]
    assert one_by_one(IdenticalFailureGuard(), calls)[-1] == "Refuse"


@pytest.mark.seed(8, kind="mutant")
def test_a_harmless_success_of_the_tool_clears_nothing() -> None:
    """A success clears all variants upstream. Here one that brings nothing new clears only the
    call that succeeded; one that brings something new is progress, and clears all."""
    guard = IdenticalFailureGuard()
    look: Step = ("memory", {"action": "list"}, "nothing")
    assert one_by_one(guard, [look, FAIL] * 4)[-1] == "Refuse"
    news: list[Step] = [("memory", {"action": "list"}, f"{n} facts") for n in range(9)]
    calls = [call for new in news for call in (FAIL, new)]
    assert set(one_by_one(IdenticalFailureGuard(), calls)) == {"Proceed"}
    caught("tool_success_resets")


@pytest.mark.seed(9, kind="mutant")
def test_a_success_of_read_says_nothing_of_names_that_begin_so() -> None:
    read: Step = ("read", {}, "nothing yet")
    longer: Step = ("read:x", {"path": "notes.md"}, ValueError("no file"))
    assert one_by_one(IdenticalFailureGuard(), [read, longer] * 4)[-1] == "Refuse"
    caught("success_clears_by_prefix")


@pytest.mark.seed(10)
def test_without_guards_nothing_is_raised_and_nothing_trips() -> None:
    """A tracker that was not set up is an agent without guards."""
    assert one_by_one(Watch(()), [FAIL] * 10) == ["Proceed"] * 10


@pytest.mark.seed(10)
def test_a_refusal_of_a_call_that_was_never_recorded_cannot_be() -> None:
    for guard in standard_guards(()):
        assert guard.before(ToolUse("t", "memory", X)) == Proceed()


@pytest.mark.seed(11, kind="mutant")
def test_check_and_record_use_the_arguments_that_the_model_gave(tmp_path: Path) -> None:
    """Guards and history have the model's own call; a tool that expands a reference in its
    arguments, in place even, does it on a copy."""

    def expand(given: Any) -> ToolError:
        given["text"] = f"contents {len(stand.calls)}"
        return ToolError("old_text is required")

    stand = Stand(tmp_path, [use("memory", {"text": "@@file:report.md"})], "store it")
    stand.tool("memory", expand, required=["text"])
    stand.run()
    assert len(stand.calls) == 3
    sent = [b for m in stand.provider.requests[-1]["messages"] for b in m["content"]]
    asked = [block["input"] for block in sent if block["type"] == "tool_use"]
    assert asked == [{"text": "@@file:report.md"}] * 5
    caught("records_expanded_arguments")


@pytest.mark.seed(12)
def test_a_refused_call_is_not_counted() -> None:
    """The text and its number stay the same; we go on from refusal to the end of the turn."""
    guard = IdenticalFailureGuard()
    one_by_one(guard, [FAIL] * 3)
    [refused], [ended] = decide(guard, FAIL), decide(guard, FAIL)
    assert isinstance(refused, Refuse)
    assert isinstance(ended, EndTurn)
    assert "failed 3 times" in refused.text
    assert "failed 3 times" in ended.text


@pytest.mark.seed(12, kind="differs")
def test_an_empty_call_that_is_refused_is_counted_and_its_text_has_no_count() -> None:
    """Differs: upstream's text names a count that grows with each refusal. Here the third refusal
    says STOP and the fourth ends the turn, so no call is left that could read a higher one."""
    guard = EmptyInputGuard(lambda name: ("text",))
    decisions = [decision for _ in range(4) for decision in decide(guard, ("memory", {}, ""))]
    assert [type(d).__name__ for d in decisions] == ["Refuse"] * 3 + ["EndTurn"]
    texts = [d.text for d in decisions if isinstance(d, Refuse)]
    assert texts[0] == texts[1]
    assert texts[2].startswith("STOP")


@pytest.mark.seed(15, kind="mutant")
def test_the_calls_of_a_batch_are_counted_one_after_the_other() -> None:
    decisions = decide(IdenticalFailureGuard(), *[FAIL] * 6)
    assert [isinstance(d, Guide) for d in decisions[:3]] == [False, True, True]
    assert all(isinstance(d, Refuse) for d in decisions[3:])
    caught("asks_once_for_a_batch")
