"""Plain answers: where any answer of the model would do, it says one word.

Cutting alone ends at what the script happens to hold: a turn that calls a tool stays one, though
nothing of the call matters to the finding. What is no longer called goes with it.
"""

from __future__ import annotations

import msgspec

from harness.core.scenario.scenario import Scenario, Turn
from harness.shrink.measure import turns_of
from harness.shrink.rounds import called
from harness.shrink.steps import Reduction, Steps, in_turn

PLAIN = Turn(say="Yes.")


def plain_answers(scenario: Scenario) -> Steps[Scenario]:
    """One plain answer in place of the script, else in place of each turn that is more."""
    if (yield _with(scenario, (PLAIN,))):
        return
    yield from in_turn(scenario, [_plain(place) for place in range(len(turns_of(scenario)))])


def _plain(place: int) -> Reduction:
    def reduce(scenario: Scenario) -> Steps[Scenario]:
        script = turns_of(scenario)
        turn = script[place]
        answer = msgspec.structs.replace(PLAIN, purpose=turn.purpose)
        if turn != answer:
            yield _with(scenario, (*script[:place], answer, *script[place + 1 :]))

    return reduce


def _with(scenario: Scenario, script: tuple[Turn, ...]) -> Scenario:
    """The scenario with another script, and the tools that it calls or a fault is on."""
    used = {name for turn in script for name in called(turn)}
    used |= {fault.on.removeprefix("tool:") for fault in scenario.faults}
    tools = {name: tool for name, tool in scenario.tools.items() if name in used}
    return msgspec.structs.replace(scenario, script=script, tools=tools)
