"""The reference agent passes the session machine; wrong agents break the promise made for them.

The seed is fixed, so that a search takes the same way every time, and what is found is small enough
to read: one or two steps.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from examples.naive_agent import agent as naive_agent
from harness.agent import agent
from harness.core.values.brief import Brief
from harness.fuzz.machines.session_invariants import InvariantViolation
from harness.strategies import session_machine
from tests import mutants
from tests.fuzz import plain_model
from tests.fuzz.machine_soak import Opener

MUTANTS = {name: wrong.agent for name, _, wrong in mutants.every()}

WIRE = frozenset({"alternation", "pairing", "valid_request"})
STORE = frozenset({"stored_once", "role_alternation.store", "reload_equivalence.lost_reply"})
REPLY = frozenset({"replied_once"})
SUMMARY = frozenset({"compaction_preserves.last_message", "compaction_preserves.open_call"})

FOUND: dict[str, frozenset[str]] = {
    "answers_redelivery": STORE,
    "as_stored_blank": WIRE,
    "as_stored_id": WIRE,
    "as_stored_open_call": WIRE,
    "as_stored_orphan": WIRE,
    "compacts_open_calls": SUMMARY,
    "compacts_the_question": SUMMARY,
    "delivered_not_stored": STORE,
    "delivers_twice": REPLY,
    "failed_write_repeats": STORE
    | {"inbound_exactly_once.twice", "prefix_stable", "reload_equivalence.duplicate"},
    "loses_a_row": STORE | WIRE | {"no_silent_loss.lost", "prefix_stable"},
    "no_projection": WIRE,
    "persists_blank": STORE,
    "positional_cursor": STORE | WIRE | REPLY | {"prefix_stable"},
    "sends_orphan_results": WIRE,
    "stores_late": WIRE,
    "stores_the_merge": STORE,
    "two_assistants_in_a_row": WIRE,
}
"""A mutant, and the promises of which it breaks one: on the wire one defect has several names."""

FAST = ("stores_the_merge",)
"""Those that the fast tier plays."""

STEPS_MOST = 3
"""The steps of the smallest example, of any mutant; most have one."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Agents that fail say so in the log, hundreds of times here."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def _play(target: Callable[..., Any], examples: int, steps: int, **parts: Any) -> None:
    play = settings(
        max_examples=examples,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seed(1)(session_machine(target, **parts)), settings=play)


def test_the_reference_agent_keeps_its_promises() -> None:
    _play(agent, examples=12, steps=20)


def test_it_does_on_the_plain_wire() -> None:
    _play(plain_model.agent, examples=15, steps=30, opener=Opener())


def test_it_does_with_a_store_of_lines() -> None:
    _play(plain_model.agent, examples=3, steps=15, options={"store": "jsonl"})


@pytest.mark.real
def test_it_does_with_calls_that_need_an_approval() -> None:
    _play(plain_model.agent, examples=15, steps=20, approvals=True)


@pytest.mark.parametrize("before", [0, 2])
def test_a_denial_that_comes_as_the_agent_is_killed_need_not_be_told(before: int) -> None:
    """Its next life knows only that the call was cut off."""
    machine = session_machine(plain_model.agent, approvals=True)()
    machine.begin(window=None)
    for _ in range(before):
        machine.gated_calls(tools=["pay"], dies=False, text=0)
    machine.gated_calls(tools=["delete"], dies=True, text=0)
    machine.teardown()
    assert machine._there.history.trace.kills


APPROVALS = {
    "runs_denied_calls": frozenset({"approval.denied"}),
    "hides_the_denial": frozenset({"approval.untold"}),
}
"""Mutants of the approval, and the rule that each breaks."""


@pytest.mark.real
@pytest.mark.parametrize("name", APPROVALS)
def test_a_mutant_of_the_approval_breaks_its_promise(name: str) -> None:
    with pytest.raises(InvariantViolation) as caught:
        _play(MUTANTS[name], examples=60, steps=6, approvals=True)
    assert caught.value.code in APPROVALS[name]
    assert _steps(caught.value) <= STEPS_MOST


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FAST else [pytest.mark.real]) for name in FOUND]
)
def test_a_wrong_agent_breaks_its_promise(name: str) -> None:
    with pytest.raises(InvariantViolation) as caught:
        _play(MUTANTS[name], examples=150, steps=8)
    assert caught.value.code in FOUND[name]
    assert _steps(caught.value) <= STEPS_MOST


def _steps(error: BaseException) -> int:
    """How many rules the smallest example has, its beginning apart."""
    lines = "\n".join(getattr(error, "__notes__", ())).splitlines()
    left_out = ("state.keeps_", "state.teardown", "state.begin")
    return sum(line.startswith("state.") and not line.startswith(left_out) for line in lines)


def test_the_naive_agent_breaks_some_promise() -> None:
    with pytest.raises(InvariantViolation):
        _play(naive_agent, examples=50, steps=8)


async def patient(brief: Brief) -> None:
    """An asynchronous agent without a model: it says what it was told."""
    for inbound in brief.inbox():
        if inbound.kind == "message" and not brief.cancelled(inbound.session):
            brief.send(inbound.text, session=inbound.session, in_reply_to=inbound.id)


@pytest.mark.real
def test_an_asynchronous_agent_is_driven_step_by_step() -> None:
    with pytest.raises(InvariantViolation, match="answered twice"):
        _play(patient, examples=50, steps=6)


def leaves_early(brief: Brief) -> None:
    """An agent that takes one message and goes."""
    for inbound in brief.inbox():
        brief.send("Bye.", session=inbound.session, in_reply_to=inbound.id)
        return


def test_an_agent_that_leaves_its_inbox_is_told_apart() -> None:
    with pytest.raises(
        InvariantViolation, match=r"target\.crashed: it returned before its inbox ended"
    ):
        _play(leaves_early, examples=50, steps=6)


def crashes(brief: Brief) -> None:
    """An agent that cannot take a message."""
    for inbound in brief.inbox():
        raise ValueError(inbound.text)


def test_a_crash_is_told_in_the_agents_words() -> None:
    with pytest.raises(InvariantViolation, match=r"target\.crashed: ValueError: hello"):
        _play(crashes, examples=50, steps=6)


SessionTest = session_machine(plain_model.agent).TestCase
"""As a user writes it; the profile says how hard it tries."""
SessionTest.settings = settings(max_examples=5, stateful_step_count=10, deadline=None)
