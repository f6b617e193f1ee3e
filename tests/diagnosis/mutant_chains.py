"""How near the chain of a mutant's finding comes to what the mutant does wrong.

`python -m tests.diagnosis.mutant_chains [NAME ...]` prints a row for each mutant. The reference
agent plays the same scenario under the same seed. The first call that differs is what the mutant
does wrong first. The chain is near if it names that call, or one of the two after
it. Mutants whose calls differ in nothing, or from the very first on, have no such call: their own
settings differ, or only what they show the user.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import msgspec

from harness.agent import agent as reference
from harness.comparison import differences
from harness.core.history.events import Called
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.core.transition.arming import ArmedFault
from harness.core.values.verdict import Verdict
from harness.diagnosis import Redraws, diagnosis
from harness.runner import run
from harness.shrink.finding_oracle import chosen
from harness.verdicts.diagnosis import Diagnosis
from tests import mutants
from tests.mutants.__main__ import scenarios

NEAR = 2
"""How many calls after the first that differs an event of the chain may be."""


class Row(msgspec.Struct, frozen=True):
    """A mutant, the number of its first call that differs (0 for none), those of the chain, and the
    seconds that it took."""

    name: str
    code: str
    differs: int
    chain: tuple[int, ...]
    took_s: float

    @property
    def is_near(self) -> bool:
        """Whether the chain names that call, or one of the two after it."""
        return any(0 <= number - self.differs <= NEAR for number in self.chain)


@cache
def known() -> dict[str, Scenario]:
    """All scenarios, read once a process."""
    return scenarios()


def row(name: str) -> Row:
    """Draw the futures of a mutant's run, and compare it with the reference agent's."""
    wrong = mutants.named(name)
    scenario = known()[wrong.mutant.scenario]
    begun_s = time.monotonic()
    history, said = diagnosed(scenario, wrong.agent, wrong.mutant.killed_by)
    took_s = time.monotonic() - begun_s
    first = differences(history, run(scenario, reference).history).first
    number = _numbers(history)
    differs = number(first.before_n) if first and first.before_n else 0
    return Row(
        name, said.finding.code, differs, tuple(number(link.n) for link in said.links), took_s
    )


def diagnosed(scenario: Scenario, agent: object, code: str) -> tuple[History, Diagnosis]:
    """The history of an agent's run, and why it has a finding of the code."""
    assert callable(agent)

    def play(future: Scenario, probes: Sequence[ArmedFault]) -> Verdict:
        return run(future, agent, probes=probes).verdict

    played = run(scenario, agent)
    finding = chosen(played.verdict, code, scenario.run_name)
    redraws = Redraws(scenario, played.history, finding, play)
    return played.history, diagnosis(
        played.history, finding, redraws, run=scenario.run_name, target="mutant"
    )


def _numbers(history: History) -> Callable[[int], int]:
    calls = [event.n for event in history.events if isinstance(event, Called)]
    return lambda n: sum(each <= n for each in calls)


def main(names: Sequence[str]) -> int:
    """Print the rows and the share."""
    wanted = [name for name, _, _ in mutants.every() if not names or name in names]
    rows: list[Row] = []
    with ProcessPoolExecutor() as pool:
        for each in pool.map(row, wanted):
            rows.append(each)
            word = "near" if each.is_near else "far " if each.differs > 1 else "-   "
            print(
                f"{word} {each.name:40} {each.code:34} differs {each.differs:3}, "
                f"chain {list(each.chain)}, {each.took_s:.1f} s",
                flush=True,
            )
    asked = [each for each in rows if each.differs > 1]
    near = sum(each.is_near for each in asked)
    print(f"{near} of {len(asked)} near ({near / max(len(asked), 1):.0%}); {len(rows)} mutants")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
