"""Statements 98 to 109: hermes' breaker on identical calls, drafts and what was shipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.agent.guards import (
    Guide,
    IdenticalFailureGuard,
    RepeatGuard,
    Watch,
    standard_guards,
)
from harness.agent.turn_policy import Policy
from tests.agent.replies import text, use
from tests.agent.stand import Stand
from tests.mutants.watches import WarnsOnly
from tests.seeds.caught import caught
from tests.seeds.guarding import decide, one_by_one, passes, runs_before_refusal, words

SAME = ("look", {"at": 1}, "nothing new")
WORDS = ("row", "disk", "lock", "node", "path", "key", "host", "port", "user", "team", "room")
WORDS += ("page", "line", "word")
FAIL = ("memory", {"action": "replace"}, ValueError("old_text is required"))


@pytest.mark.seed(98, kind="differs")
@pytest.mark.parametrize("limit", [3, 5])
@pytest.mark.parametrize("guard", [RepeatGuard, IdenticalFailureGuard])
def test_the_breaker_fires_after_as_many_in_a_row_and_in_a_batch(guard: Any, limit: int) -> None:
    """Differs: upstream refuses the call N itself. Here N calls run and the next is refused: only
    the results tell a loop from polling, and the last of them is a result too."""
    call = SAME if guard is RepeatGuard else FAIL
    assert runs_before_refusal(one_by_one(guard(limit), [call] * 9)) == limit
    assert runs_before_refusal(words(guard(limit), *[call] * 9)) == limit


@pytest.mark.seed(98, kind="mutant")
def test_a_batch_that_is_checked_as_a_whole_runs_as_a_whole() -> None:
    assert caught("asks_once_for_a_batch").history.past.tool_calls["read"] == 6


@pytest.mark.seed(99, kind="mutant")
def test_what_has_fired_does_not_begin_again() -> None:
    assert one_by_one(RepeatGuard(), [SAME] * 9)[3:] == ["Refuse"] + ["EndTurn"] * 5
    assert caught("resets_when_fired").history.past.tool_calls["read"] > 12


@pytest.mark.seed(100, kind="mutant")
@pytest.mark.parametrize("period", [1, 2, 3, 4, 5])
def test_circles_are_seen(period: int) -> None:
    calls = [("look", {"at": n % period}, n % period) for n in range(period * 4)]
    assert runs_before_refusal(one_by_one(RepeatGuard(), calls)) == period * 3


@pytest.mark.seed(100, kind="mutant")
@pytest.mark.parametrize("mutant", ["no_circles", "calls_one_by_one"])
def test_a_breaker_that_sees_no_circle_lets_it_go_on(mutant: str) -> None:
    caught(mutant)
    passes("circles/of-three")


@pytest.mark.seed(100)
def test_the_order_within_a_batch_hides_no_circle() -> None:
    guard, calls = RepeatGuard(), [("look", {"at": n}, n) for n in range(5)]
    said = [words(guard, *calls[n:], *calls[:n]) for n in range(5)]
    assert not {"Refuse", "EndTurn"} & {word for batch in said[:3] for word in batch}
    assert said[2:] == [["Guide"] * 5, ["Refuse"] * 5, ["EndTurn"] * 5]


@pytest.mark.seed(101, kind="mutant")
def test_polling_is_left_alone() -> None:
    polls = [("job", {}, f"{n} %") for n in range(30)]
    assert one_by_one(Watch(standard_guards(())), polls) == ["Proceed"] * 30
    passes("circles/while-something-changes")
    caught("counts_calls_only")


@pytest.mark.seed(102)
def test_a_tool_that_fails_with_other_arguments_is_stopped_after_three() -> None:
    failing = [("memory", {"n": n}, ValueError("old_text is required")) for n in range(9)]
    guard = Watch(standard_guards(()))
    assert runs_before_refusal(one_by_one(guard, failing)) == 3
    assert words(guard, ("other", {"n": 1}, "fine")) == ["Proceed"]


@pytest.mark.seed(102, kind="differs")
def test_a_tool_that_fails_with_other_arguments_and_other_words_is_stopped_after_twelve() -> None:
    """Three would stop a model that explores: each failure tells it something new."""
    failing = [("memory", {"n": n}, ValueError(f"no {word}")) for n, word in enumerate(WORDS)]
    assert runs_before_refusal(one_by_one(Watch(standard_guards(())), failing)) == 12
    passes("fails-in-other-words/with-other-arguments")
    passes("fails-in-other-words/found-at-the-sixth")


@pytest.mark.seed(102, kind="mutant")
def test_a_success_of_the_tool_clears_too_much() -> None:
    caught("tool_success_resets")


@pytest.mark.seed(103, kind="mutant")
@pytest.mark.parametrize(
    "nothing", ["", "[]", "no matches", "(the tool returned nothing)", "grep: exit status 1"]
)
def test_no_hits_are_no_failure(nothing: str) -> None:
    calls = [("search", {"for": n}, nothing) for n in range(9)]
    assert one_by_one(Watch(standard_guards(())), calls) == ["Proceed"] * 9
    caught("empty_result_is_failure")


@pytest.mark.seed(103, kind="mutant")
def test_one_result_of_different_calls_is_no_loop() -> None:
    calls = [("write", {"path": n}, "written") for n in range(9)]
    assert one_by_one(Watch(standard_guards(())), calls) == ["Proceed"] * 9
    caught("counts_results_only")


@pytest.mark.seed(104)
def test_guidance_needs_no_model_and_no_time() -> None:
    done = passes("identical-failures")
    assert done.history.past.purpose_calls["aux"] == 0
    assert done.history.events[-1].at_ms == 0
    [_, guided] = decide(IdenticalFailureGuard(), FAIL, FAIL)
    assert isinstance(guided, Guide)
    assert "memory" in guided.text


@pytest.mark.seed(105, kind="mutant")
def test_a_judge_who_says_no_does_not_make_a_loop_right() -> None:
    assert caught("judge_says_no").history.past.purpose_calls["aux"] > 0
    assert passes("circles/asks-a-judge").history.past.purpose_calls["aux"] == 0


@pytest.mark.seed(106, kind="mutant")
def test_warnings_alone_stop_nothing(tmp_path: Path) -> None:
    caught("warnings_only")
    assert one_by_one(IdenticalFailureGuard(), [FAIL] * 2) == ["Proceed", "Guide"]
    stand = Stand(tmp_path, [use("memory", {"action": "replace"})], "hello")
    stand.tool("memory", FAIL[2])
    stand.run(watch=WarnsOnly, policy=Policy(max_model_calls=10))
    assert len(stand.calls) == 9
    assert len(stand.provider.mains) == 10
    assert [len(row.tool_results[0].content) for row in stand.rows() if row.tool_results][:3] == [
        len("old_text is required"),
        2,
        2,
    ]


@pytest.mark.seed(107, kind="differs")
def test_a_hard_stop_blocks_the_sixth_and_ends_with_a_text(tmp_path: Path) -> None:
    """Differs: upstream ends the turn with the sixth call and a fixed text, after 6 model calls.
    Here a model that reads the refusal may still do something else: its seventh call ends the
    turn, and the eighth model call tells what happened."""
    stand = Stand(tmp_path, [*[use("memory", {"n": 1})] * 7, text("I could not.")], "hello")
    stand.tool("memory", FAIL[2])
    stand.run(guards=lambda tools: (IdenticalFailureGuard(limit=5),))
    assert len(stand.calls) == 5
    assert len(stand.provider.requests) == 8
    assert stand.ending == ("final", "failed", "I could not.")
    assert stand.sides == "u" + "au" * 7 + "a"
    assert [len(row.tool_results) for row in stand.rows()][2::2] == [1] * 7


@pytest.mark.seed(108)
def test_a_hard_stop_counts_other_arguments_too() -> None:
    failing = [("memory", {"n": n}, ValueError("no")) for n in range(12)]
    assert runs_before_refusal(one_by_one(IdenticalFailureGuard(limit=8), failing)) == 8


@pytest.mark.seed(109)
def test_a_failing_call_between_successes_of_its_tool_is_blocked() -> None:
    """Ours takes a success for progress once: the same one again clears nothing."""
    listing = ("memory", {"action": "list"}, "3 facts")
    said = one_by_one(IdenticalFailureGuard(limit=5), [listing, FAIL] * 8)
    assert said[1::2][:5] == ["Proceed", "Proceed", "Proceed", "Guide", "Guide"]
    assert said[11] == "Refuse"
    assert set(said[:10:2]) == {"Proceed"}
