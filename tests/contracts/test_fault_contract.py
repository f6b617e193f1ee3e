"""Every fault keeps its laws, and a fault that breaks one is told so."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count

import msgspec
import pytest

from harness.contracts import check_fault
from harness.core.transition.ports import Moment
from harness.core.values.plans import Answer, Jump, Kill, Plan, Reply, Wait
from harness.faults import Fault, faults
from tests.contracts.amount import EXAMPLES

pytestmark = pytest.mark.hypothesis

FAULTS = faults()


@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_keeps_its_laws(kind: str) -> None:
    check_fault(FAULTS[kind], examples=EXAMPLES)


def slow(moment: Moment, plan: Plan, *, wait_s: float = 1.0, often: bool = True) -> Plan:
    """The answer comes late, on every second call."""
    late = moment.draws.random("slow", moment.call.key).random() < 0.5 or often
    return (Wait(round(wait_s * 1000) + 1), *plan) if late else plan


def test_a_right_fault_passes() -> None:
    check_fault(slow)


def draws_globally(moment: Moment, plan: Plan) -> Plan:
    """Rolls the dice of the whole process."""
    return (Wait(random.randrange(1, 9)), *plan)


_seen = count()


def remembers(moment: Moment, plan: Plan) -> Plan:
    """Counts its own calls."""
    return (Wait(next(_seen) + 1), *plan)


def changes_the_past(moment: Moment, plan: Plan) -> Plan:
    """Writes where it may only read."""
    moment.past.calls["model"] += 1
    return plan


def changes_a_reply(moment: Moment, plan: Plan) -> Plan:
    """Changes the answer in place."""
    for step in plan:
        if isinstance(step, Answer) and isinstance(step.value, Reply):
            step.value.usage["input_tokens"] = 0
    return plan


def gives_a_list(moment: Moment, plan: Plan) -> list[object]:
    """A list is not a plan."""
    return [*plan]


def gives_nothing(moment: Moment, plan: Plan) -> None:
    """It forgets to return the plan."""


def gives_words(moment: Moment, plan: Plan) -> tuple[object, ...]:
    """A tuple of something else."""
    return (*plan, "wait")


def kills_unsaid(moment: Moment, plan: Plan) -> Plan:
    """Ends the target silently in KILLS."""
    return (Kill(), *plan)


def jumps_unsaid(moment: Moment, plan: Plan) -> Plan:
    """Moves the clock silently in VIRTUAL."""
    return (Jump(1000), *plan)


def waits_backwards(moment: Moment, plan: Plan, *, wait_ms: int = -1) -> Plan:
    """A wait that cannot be."""
    return (Wait(wait_ms), *plan)


def does_nothing(moment: Moment, plan: Plan) -> Plan:
    """Changes the plan, and nothing happens."""
    return (Wait(0), *plan)


def crashes(moment: Moment, plan: Plan, *, size: int = 1) -> Plan:
    """Takes every plan for one that begins with an answer."""
    step = plan[0]
    assert isinstance(step, Answer)
    return plan


def has_a_wrong_default(moment: Moment, plan: Plan, *, size: int = "big") -> Plan:  # type: ignore[assignment]
    """Its default is not of its type."""
    return plan


def has_no_type(moment: Moment, plan: Plan, *, size=1) -> Plan:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """A setting without a type."""
    return plan


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (draws_globally, "draws from the global `random`"),
        (remembers, "gives two plans at one moment"),
        (changes_the_past, "changes the moment or the plan"),
        (changes_a_reply, "changes the moment or the plan"),
        (gives_a_list, "it gave a list"),
        (gives_nothing, "it gave a NoneType"),
        (gives_words, "a tuple with a str"),
        (kills_unsaid, "ends the target: name it in KILLS"),
        (jumps_unsaid, "moves the clock: set VIRTUAL"),
        (waits_backwards, "waits for -"),
        (does_nothing, "without an effect"),
        (crashes, "raises AssertionError"),
        (has_a_wrong_default, "the default of size does not fit"),
        (has_no_type, "the setting 'size' has no type"),
    ],
)
def test_a_wrong_fault_is_told(wrong: Callable[..., Plan], sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_fault(wrong, examples=200)


def no_fault(plan: Plan, moment: Moment) -> Plan:
    """Its parameters are the other way round."""
    return plan


def test_a_function_that_is_no_fault_is_told() -> None:
    with pytest.raises(AssertionError, match="a fault begins with `moment, plan`"):
        check_fault(no_fault)


def test_a_seam_that_there_is_not_is_told() -> None:
    fault: Fault = msgspec.structs.replace(next(iter(FAULTS.values())), seams=("nowhere",))
    with pytest.raises(AssertionError, match="SEAMS names 'nowhere'"):
        check_fault(fault)
