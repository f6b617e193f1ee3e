"""What drawn agents were found guilty of, by code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random

import msgspec

from harness.core.scenario.scenario import Scenario
from tests.policies.constants import Constants, draw
from tests.policies.variant_agent import play
from tests.scenarios.all_runs import all_runs


class Case(msgspec.Struct, frozen=True):
    """One run of one drawn agent: its policy as a line to paste, and what was found."""

    policy: str
    run: str
    wire: str
    findings: tuple[tuple[str, str], ...] = ()


def catalogue() -> tuple[Scenario, ...]:
    """Every run of the catalogue, on each of its wires."""
    return all_runs()


def findings_of(scenario: Scenario, drawn: Constants) -> tuple[tuple[str, str], ...]:
    """The codes and messages of defects and weaknesses, and of what is about the run."""
    verdict = play(scenario, drawn).verdict
    found = [(f.code, f.message) for f in verdict.findings if f.class_ != "advice"]
    # An agent that sends results as text may stay below a window that others go over.
    is_unasked = all("which is not asked" in doubt for doubt in verdict.doubts)
    if verdict.verdict not in ("pass", "not_applicable") and not found and not is_unasked:
        found = [("verdict", verdict.verdict)]
    return tuple(found)


def drawn_agent(number: int) -> Constants:
    """The agent of this number: the same on every machine."""
    return draw(Random(f"policy {number}").randrange)


def share_of(number: int, share: int) -> list[Scenario]:
    """The runs of the agent of this number: one of `share` of the catalogue."""
    every = catalogue()
    return Random(f"runs {number}").sample(every, max(1, len(every) // share))


def played(number: int, share: int) -> list[Case]:
    """What the agent of this number is found guilty of."""
    drawn = drawn_agent(number)
    return [
        Case(repr(drawn), each.run_name, each.wire, findings_of(each, drawn))
        for each in share_of(number, share)
    ]


def report(cases: Iterable[Case]) -> Iterator[str]:
    """The log: a line for each code, then its runs, each with the policy to paste."""
    cases = list(cases)
    guilty = [(code, text, case) for case in cases for code, text in case.findings]
    agents = len({case.policy for case in cases})
    yield f"{agents} agents, {len(cases)} runs, {len(guilty)} findings"
    for code, times in Counter(code for code, _, _ in guilty).most_common():
        yield f"{times:5} {code}"
        for other, text, case in guilty:
            if other == code:
                yield f"      {case.run} ({case.wire}): {text}"
                yield f"        {case.policy}"
