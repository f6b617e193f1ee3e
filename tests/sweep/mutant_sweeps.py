"""`python -m tests.sweep.mutant_sweeps`: how many wrong agents a sweep of small scenarios finds.

A mutant was made for one scenario and one finding. Here it meets ten others instead, with each
fault at each call: of ten folders the smallest run in which a tool runs. Whole sweeps of all
mutants take a day. So the cases of a run come in a drawn order, up to a bound. They end with the
first finding that the reference agent does not show there too. What is not found may stand behind
the bound. The columns are: mutant, cases played, code, and `own` for the finding
that was made for it.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial

import msgspec

from harness.core.scenario.scenario import Scenario
from harness.engines import Engine, Serial
from harness.engines.local import Local
from harness.files import find_scenarios
from harness.sweep.case_runs import CaseTask, play_cases
from harness.sweep.cases import Case
from harness.sweep.survey import Survey, SurveyTask, survey
from tests import mutants
from tests.scenarios.all_runs import SCENARIOS, runs_of
from tests.scenarios.reference_counts import expected
from tests.scenarios.reference_targets import reference_for

FOLDERS, CASES, SEED = 10, 60, 7
WIRE = "anthropic"
AT_ONCE = 12


class Row(msgspec.Struct, frozen=True):
    """What a sweep of the small scenarios came to; without a code it found nothing."""

    name: str
    cases: int
    code: str = ""
    own: bool = False

    def __str__(self) -> str:
        found = f"{self.code}{'  own' if self.own else ''}" if self.code else "not found"
        return f"{self.name:40} {self.cases:6}  {found}"


@cache
def smallest(folders: int = FOLDERS) -> tuple[Scenario, ...]:
    """The run with the fewest calls of the reference agent, of each folder, the smallest first."""
    best: dict[str, tuple[int, Scenario]] = {}
    for folder, scenario in _plain_runs():
        size = _size(expected(scenario) or {})
        if size and (folder not in best or size < best[folder][0]):
            best[folder] = (size, scenario)
    ranked = sorted(best.values(), key=lambda found: (found[0], found[1].name))
    return tuple(scenario for _, scenario in ranked[:folders])


def _plain_runs() -> Iterator[tuple[str, Scenario]]:
    for file in find_scenarios([SCENARIOS]):
        for scenario in runs_of(file):
            is_plain = scenario.wire == WIRE and not scenario.stream and not scenario.variant
            # A mutant has no options, so what only an option shows cannot be swept.
            if is_plain and not reference_for(scenario).options:
                yield file.parent.name, scenario


def _size(row: Mapping[str, str]) -> int:
    """The calls of a row; 0 where no tool runs, for then most faults have nothing to strike."""
    tools = sum(int(part.partition("=")[2]) for part in row.get("tools", "").split())
    return tools and sum(int(row[name]) for name in ("main", "compact", "aux")) + tools


def row(name: str, cases: int = CASES, seed: int = SEED) -> Row:
    """Look for one mutant: each scenario as it is, then its cases in a drawn order."""
    mutant, target = mutants.named(name).mutant, mutants.named(name).target
    played = 0
    listed: list[tuple[Scenario, Survey]] = []
    for scenario in smallest():
        found = survey(SurveyTask(target=target, scenario=scenario, faults=("*",)))
        played += 1
        for finding in found.run.findings:
            return Row(name, played, finding.code, mutant.is_shown_by(finding.code))
        listed.append((scenario, found))
    for scenario, found in listed:
        drawn = random.Random(seed).sample(found.cases, min(cases, len(found.cases)))
        for first in range(0, len(drawn), AT_ONCE):
            some = tuple(drawn[first : first + AT_ONCE])
            played += len(some)
            if codes := _codes(target, scenario, some):
                own = [code for code in codes if mutant.is_shown_by(code)]
                return Row(name, played, (own or codes)[0], bool(own))
    return Row(name, played)


def _codes(target: str, scenario: Scenario, cases: tuple[Case, ...]) -> list[str]:
    """The codes of findings that the reference agent does not show at the same case."""
    results = [one.result for one in play_cases(_task(target, scenario, cases))]
    broken = {result.number: result for result in results if result.findings}
    same = tuple(case for case in cases if case.number in broken)
    right = play_cases(_task("reference", scenario, same)) if same else []
    known = {(one.result.number, f.code) for one in right for f in one.result.findings}
    return [
        finding.code
        for number, result in broken.items()
        for finding in result.findings
        if (number, finding.code) not in known
    ]


def _task(target: str, scenario: Scenario, cases: tuple[Case, ...]) -> CaseTask:
    return CaseTask(target=target, scenario=scenario, cases=cases)


def rows(chosen: Sequence[str], cases: int, workers: int) -> Iterator[Row]:
    """The rows of these mutants, in this order."""
    left = iter(chosen)
    engine: Engine = Local(workers) if workers > 1 else Serial()
    work = partial(row, cases=cases)
    yield from engine.each(work, lambda: next(left, None), window=len(chosen), lost=_lost)


def _lost(name: str) -> Row:
    return Row(name, 0)


def main() -> int:
    """Print the table as it grows, and the share that was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.sweep.mutant_sweeps")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--draw", type=int, default=0, help="so many mutants, drawn with the seed")
    parser.add_argument("--cases", type=int, default=CASES, help="of each scenario")
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    every = [name for name, _, _ in mutants.every()]
    chosen = asked.names or (random.Random(SEED).sample(every, asked.draw) if asked.draw else every)
    print("scenarios:", ", ".join(scenario.run_name for scenario in smallest()), flush=True)
    table = []
    for line in rows(sorted(chosen), asked.cases, asked.workers):
        print(line, flush=True)
        table.append(line)
    found = [line for line in table if line.code]
    print(
        f"{len(found)} of {len(table)} found, {sum(line.own for line in found)} by their own code"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
