"""What a generated scenario costs before it is played: drawn by Hypothesis, and by the grammar.

The first is all that Hypothesis does for an example whose test does nothing; the second is the
driver of a campaign, as a part of the first.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator

from hypothesis import HealthCheck, Phase, given, seed, settings

from bench.figure import Figure
from harness.core.scenario.scenario import Scenario
from harness.strategies import Options, scenario_of, scenarios

EXAMPLES = 300
DRAWN_MOST_MS, GRAMMAR_MOST = 3.0, 0.5
EVERYTHING = ("*",)


def _drawn(scenario: Scenario) -> None:
    """A test that asks nothing."""


def _by_hypothesis(number: int) -> None:
    play = settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    play(seed(number)(given(scenarios(faults=EVERYTHING))(_drawn)))()


def _by_the_grammar(number: int) -> None:
    drawn, options = random.Random(number), Options(faults=EVERYTHING)
    for _ in range(EXAMPLES):
        scenario_of(drawn.randrange, options)


def _ms(call: Callable[[int], None], rounds: int) -> float:
    """The least of some rounds, for one example, in time of the processor."""
    call(0)
    taken = []
    for number in range(rounds):
        began = time.process_time()
        call(number)
        taken.append(time.process_time() - began)
    return 1000 * min(taken) / EXAMPLES


def figures(rounds: int) -> Iterator[Figure]:
    """Whole scenarios with faults of all layers."""
    drawn, plain = _ms(_by_hypothesis, rounds), _ms(_by_the_grammar, rounds)
    yield Figure("a scenario, drawn by Hypothesis", drawn, DRAWN_MOST_MS, " ms", "")
    yield Figure(
        "a scenario, by the grammar", plain / drawn, GRAMMAR_MOST, "", f"of {drawn:.2f} ms"
    )


def main() -> int:
    """Print every figure; 1 when one is over its bound."""
    found = list(figures(5))
    for figure in found:
        print(figure, flush=True)
    return int(any(figure.is_over for figure in found))


if __name__ == "__main__":
    sys.exit(main())
