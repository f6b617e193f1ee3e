"""What a turn sets off is on its bill: its own requests, and those of its sub-agents."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.budgets import bounded_spawn, budget_ceiling
from tests.checks.histories import codes
from tests.checks.sessions import Sessions


def test_a_request_beyond_the_ceiling_is_found_once() -> None:
    run = Sessions().take().model(tokens=60)
    first = run.called
    run.model(tokens=60)
    last = run.called
    run.model(tokens=1)
    (finding,) = budget_ceiling(run.model().end(), tokens=100)
    assert finding.code == "budget_ceiling.tokens"
    assert finding.events == (first, last, run.called - 2)


def test_the_request_that_crosses_it_is_the_last() -> None:
    run = Sessions().take().model(tokens=60).model(tokens=10**9).say()
    assert not list(budget_ceiling(run.end(), tokens=100))


def test_answers_cost_too() -> None:
    run = Sessions().take().model(tokens=1, said=200).model()
    assert codes(budget_ceiling(run.end(), tokens=100)) == ["budget_ceiling.tokens"]


@pytest.mark.parametrize("how", [{"complete": False}, {"faults": ("sse.usage_huge",)}])
def test_an_answer_that_was_not_heard_as_it_was_does_not_say_what_it_cost(how: Any) -> None:
    run = Sessions().take().model(tokens=1, said=200, **how).model()
    assert codes(budget_ceiling(run.end(), tokens=100)) == []


def test_sub_agents_and_theirs_are_on_the_bill_of_the_turn() -> None:
    run = Sessions().take().model(tokens=10).model("a", parent="main", tokens=60)
    run.model("b", parent="a", tokens=60).model()
    assert codes(budget_ceiling(run.end(), tokens=100)) == ["budget_ceiling.tokens"]


def test_what_an_agent_does_by_itself_after_its_reply_is_on_the_bill() -> None:
    run = Sessions().take().model(tokens=10).say()
    for _ in range(3):
        run.wait(900).model(tokens=40)
    assert codes(budget_ceiling(run.end(), tokens=80)) == ["budget_ceiling.tokens"]


def test_a_new_message_has_a_budget_of_its_own_and_so_has_another_session() -> None:
    run = Sessions().take().model(tokens=90).say().take().model(tokens=90).say()
    run.take("other").model("other", tokens=90).model("stranger", tokens=90)
    assert not list(budget_ceiling(run.end(), tokens=100))


def test_a_cheap_turn_may_have_many_requests() -> None:
    run = Sessions().take()
    for _ in range(200):
        run.model(tokens=900, said=90)
    assert not list(budget_ceiling(run.end()))


def test_time_is_a_budget() -> None:
    run = Sessions().take().model().wait(30_000).model().wait(14_000).model().model()
    assert codes(budget_ceiling(run.end())) == ["budget_ceiling.wall_s"]
    run = Sessions().take().model().wait(30_000).model().wait(14_000).say()
    assert not list(budget_ceiling(run.end()))


def test_nobody_has_set_a_ceiling_for_a_recording() -> None:
    run = Sessions("recording").take().model(tokens=10**9).wait(10**6).model().end()
    assert not list(budget_ceiling(run))


def test_children_of_children_of_children_are_too_deep() -> None:
    run = Sessions().take().model().model("a", parent="main").model("b", parent="a")
    assert not list(bounded_spawn(run.history))
    (finding,) = bounded_spawn(run.model("c", parent="b").end())
    assert finding.code == "bounded_spawn.depth"
    assert finding.events == (run.called,)
    assert codes(bounded_spawn(run.history, depth=1)) == ["bounded_spawn.depth"] * 2


def test_many_at_once_are_too_wide_and_many_in_a_row_are_not() -> None:
    names = [f"task{number}" for number in range(12)]
    run = Sessions().take().model()
    for name in names:
        run.model(name, parent="main").model(name)
    assert not list(bounded_spawn(run.end()))
    run = Sessions().take().model()
    for name in [*names, *names]:
        run.model(name, parent="main")
    assert codes(bounded_spawn(run.end())) == ["bounded_spawn.width"] * 2


def test_one_that_works_on_and_on_has_only_one_beside_it_where_others_come_in_a_row() -> None:
    run = Sessions().take().model().model("long", parent="main")
    for number in range(3):
        run.model(f"task{number}", parent="main")
    history = run.model("long").end()
    assert not list(bounded_spawn(history, width=2))
    assert codes(bounded_spawn(history, width=1)) == ["bounded_spawn.width"] * 3


def test_each_one_beyond_the_total_is_found_and_a_new_message_begins_anew() -> None:
    run = Sessions().take().model()
    for number in range(52):
        run.model(f"task{number}", parent="main")
    assert codes(bounded_spawn(run.end(), width=99)) == ["bounded_spawn.total"] * 2
    run = Sessions()
    for turn in range(6):
        run.take().model()
        for number in range(9):
            run.model(f"task{turn}.{number}", parent="main")
    assert not list(bounded_spawn(run.end()))


def test_sessions_of_the_users_are_nobodys_children() -> None:
    run = Sessions()
    for number in range(99):
        run.take(f"user{number}").model(f"user{number}")
    run.model("x", parent="unheard-of").model("y", parent="y").model("x", parent="y")
    assert not list(bounded_spawn(run.end(), depth=0, width=0, total=0))
