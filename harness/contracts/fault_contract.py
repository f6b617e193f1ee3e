"""The laws of a fault.

A fault is a pure function of its moment, in any order and process. It declares kills and clock
changes. Its settings have types, so that files can arm it, grammars can draw it, and the shrinker
can reduce it.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.laws import check_defaults, drawing, law, part_named, settings_of
from harness.contracts.moments import FaultCase, cases
from harness.core.values.calls import Seam
from harness.core.values.plans import Jump, Kill, Plan, Send, Step, Wait
from harness.faults import FAULTS, Fault

Settings = dict[str, Any]


def check_fault(fault: Fault | Callable[..., Plan], *, examples: int | None = None) -> None:
    """Raise AssertionError, with a plain sentence, for a law that a fault breaks.

    `fault` is the function, or a fault of `harness.faults.faults()`. `examples` is the number of
    moments to draw; the default is that of the Hypothesis profile.
    """
    known = fault if isinstance(fault, Fault) else part_named(fault, FAULTS)
    _check_declarations(known)

    @drawing(examples)
    @given(cases(known), settings_of(known.settings, known.defaults), st.data())
    def holds(case: FaultCase, settings: Settings, data: st.DataObject) -> None:
        bent = _check_moment(known, case, settings)
        _check_plan(known, case, bent)
        # A fault that remembers a call answers the first moment otherwise after another one.
        other = data.draw(cases(known), label="another moment")
        _called(known, other, settings)
        law(_called(known, case, settings) == bent, _two_plans(known, case))

    holds()


def _check_declarations(fault: Fault) -> None:
    """Check the module's declarations: known seams, and settings with types."""
    seams = get_args(Seam)
    for seam in fault.seams:
        law(seam in seams, f"{fault.kind}: SEAMS names {seam!r}; there are {', '.join(seams)}")
    try:
        types = fault.settings
    except KeyError as error:
        law(False, f"{fault.kind}: the setting {error.args[0]} has no type")
        raise
    check_defaults(fault.kind, types, fault.defaults)


def _check_moment(fault: Fault, case: FaultCase, settings: Settings) -> Plan:
    """Call the fault twice at one moment, with another global seed; the plans must be equal."""
    before, state = _input_bytes(case), random.getstate()
    bent = _called(fault, case, settings)
    drawn = random.getstate() != state
    law(not drawn, f"{fault.kind} draws from the global `random`: take moment.draws.random(NAME)")
    law(_input_bytes(case) == before, f"{fault.kind} changes the moment or the plan that it gets")
    random.seed(f"other than {fault.kind}")
    again = _called(fault, case, settings)
    random.setstate(state)
    law(again == bent, _two_plans(fault, case))
    return bent


def _two_plans(fault: Fault, case: FaultCase) -> str:
    key = case.moment.call.key
    return f"{fault.kind} gives two plans at one moment ({key}): its draws depend on something else"


def _input_bytes(case: FaultCase) -> bytes:
    """The current input of the fault, as bytes."""
    moment = case.moment
    return pickle.dumps(
        (moment.call, vars(moment.past), moment.draws.seed, moment.refusals, case.plan)
    )


def _called(fault: Fault, case: FaultCase, settings: Settings) -> Plan:
    try:
        bent = fault.function(case.moment, case.plan, **settings)
    except Exception as error:
        where = f"at {case.moment.call.key}, with the settings {settings}"
        law(False, f"{fault.kind} raises {type(error).__name__}: {error}; {where}")
    return _plan(fault, bent)


def _plan(fault: Fault, bent: Any) -> Plan:
    steps = get_args(Step)
    what = f"{fault.kind}: a fault gives a plan, a tuple of steps"
    law(isinstance(bent, tuple), f"{what}; it gave a {type(bent).__name__}")
    for step in bent:
        law(isinstance(step, steps), f"{what}; it gave a tuple with a {type(step).__name__}")
    return bent  # type: ignore[no-any-return]


def _check_plan(fault: Fault, case: FaultCase, bent: Plan) -> None:
    """Check that the effects of the fault are declared, and that a changed plan has an effect."""
    if bent == case.plan:
        return
    added = [step for step in bent if step not in case.plan]
    for step in added:
        if isinstance(step, Kill):
            law(fault.kills, f"{fault.kind} ends the target: name it in KILLS")
        if isinstance(step, Jump):
            law(fault.virtual, f"{fault.kind} moves the clock: set VIRTUAL = True")
        if isinstance(step, Wait):
            law(step.ms >= 0, f"{fault.kind} waits for {step.ms} ms")
    effective = tuple(step for step in bent if not _is_empty(step))
    idle = effective == tuple(step for step in case.plan if not _is_empty(step))
    what = f"{fault.kind} changes the plan without an effect: it would count as fired"
    law(not idle, f"{what}; return the plan unchanged, or bound the setting (FromOne)")


def _is_empty(step: Step) -> bool:
    return step == Wait(0) or (isinstance(step, Send) and not step.data and step.head is None)
