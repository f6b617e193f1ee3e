"""Marks in a Python target reach its run from wherever the agent makes them, and no other run."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.core.history.events import Marked
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.targets.marks import STEPS

TWO = Scenario(
    name="two", inbox=(InboxItem(text="One?"), InboxItem(text="Two?")),
    script=(Turn(say="One."), Turn(say="Two.")),
)  # fmt: skip

KINDS = ({}, {"isolate": True}, {"world": "supervise"})


def _agent(mark: Callable[[str], object]) -> Callable[[Any], None]:
    def agent(brief: Any) -> None:
        client, history = brief.anthropic(), []
        for message in brief.inbox():
            mark(message.id)
            history.append({"role": "user", "content": message.text})
            reply = client.messages.create(model="any", max_tokens=500, messages=history)
            history.append({"role": "assistant", "content": reply.content[0].text})
            brief.send(reply.content[0].text, in_reply_to=message.id)

    return agent


def _marks(mark: Callable[[str], object], **how: Any) -> list[Marked]:
    done = harness.run(TWO, _agent(mark), **how)
    return [event for event in done.history.events if isinstance(event, Marked)]


@pytest.mark.parametrize("how", KINDS, ids=str)
def test_a_hot_loop_writes_one_mark_of_each_truth_and_turn(how: dict[str, Any]) -> None:
    def mark(name: str) -> None:
        for n in range(200):
            harness.always(n < 150, "small", {"n": n})

    marks = _marks(mark, **how)
    assert [(m.turn, m.holds, m.details) for m in marks] == [
        (turn, holds, {"n": n}) for turn in (1, 2) for holds, n in ((True, 0), (False, 150))
    ]
    assert all(m.session == "main" and m.where.endswith(" in mark") for m in marks)
    assert "test_marks.py:" in marks[0].where


@pytest.mark.parametrize("how", KINDS, ids=str)
def test_a_number_is_a_mark_for_each_step_that_it_has_come_to(how: dict[str, Any]) -> None:
    def mark(name: str) -> None:
        for number in (2, 7, 5, 0, -3, float("nan")):
            harness.highest(number, "depth")

    marks = _marks(mark, **how)
    assert [(m.turn, m.name) for m in marks] == [
        (turn, f"depth >= {step}") for turn in (1, 2) for step in (1, 2, 3, 4, 6)
    ]
    assert {(m.kind, m.holds) for m in marks} == {("reachable", True)}
    assert all(m.where.endswith(" in mark") for m in marks)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_the_marks_of_a_number_are_those_of_each_smaller_one_and_more(a: float, b: float) -> None:
    told = [[step for step in STEPS if number >= step] for number in sorted((a, b))]
    assert told[1][: len(told[0])] == told[0]
    assert [*STEPS] == sorted(set(STEPS))


@pytest.mark.parametrize("how", KINDS, ids=str)
def test_threads_of_the_agent_make_marks(how: dict[str, Any]) -> None:
    def mark(name: str) -> None:
        threads = [
            threading.Thread(target=lambda n=n: harness.reachable(f"{name} {n}")) for n in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert {m.name for m in _marks(mark, **how)} == {
        f"{m} {n}" for m in ("m1", "m2") for n in range(5)
    }


@pytest.mark.parametrize("how", KINDS, ids=str)
def test_tasks_of_an_async_agent_make_marks(how: dict[str, Any]) -> None:
    async def child() -> None:
        await asyncio.sleep(0.01)
        harness.unreachable("in a task")

    async def agent(brief: Any) -> None:
        for message in brief.inbox():
            await asyncio.gather(child(), asyncio.to_thread(harness.reachable, "in a thread"))
            brief.send("Done.", in_reply_to=message.id)

    done = harness.run(TWO, agent, **how)
    assert {e.name for e in done.history.events if isinstance(e, Marked)} == {
        "in a task",
        "in a thread",
    }
    (found,) = (f for f in done.verdict.findings if f.check == "own_marks")
    assert "in child" in found.message


def test_a_thread_that_is_not_the_agents_makes_no_mark() -> None:
    begun, over = threading.Event(), threading.Event()

    def other() -> None:
        begun.wait(10)
        harness.unreachable("a thread of the test")
        over.set()

    def mark(name: str) -> None:
        begun.set()
        over.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    assert _marks(mark) == []
    thread.join()


def test_secrets_and_long_texts_do_not_stand_in_a_mark() -> None:
    key = "sk-ant-api03-" + "Ab1" * 30

    def mark(name: str) -> None:
        harness.reachable("a" * 999 + key, {"key": key, "long": "b " * 9_999, "odd": object()})

    (found, _) = _marks(mark)
    assert len(found.name) <= 200
    assert key not in str(found)
    assert len(found.details["long"]) <= 500
    assert found.details["odd"] == "(object)"


def test_outside_of_a_run_nothing_is_asked() -> None:
    class Asked:
        def __bool__(self) -> bool:
            raise AssertionError("asked")

    harness.always(Asked(), "a")
    harness.sometimes(Asked(), "a")
    harness.reachable("a")
    harness.unreachable("a")


def test_a_mark_in_production_imports_nothing_large() -> None:
    code = "import sys, harness; harness.always(1, 'a'); print('msgspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
