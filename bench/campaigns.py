"""What an example of a campaign costs, on one core, in process: drawing it and playing it.

`python -m bench.campaigns [--examples N]`. The sessions are generated ones without faults that
have eight model calls on average: the shortest are left out until that holds. The SDK is the
agent's usual client; the plain one shows what is left without it. Rates are per second of this
process's own CPU time, which a busy machine disturbs less than the clock on the wall.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from random import Random

import msgspec

from bench.figure import Figure
from harness.core.scenario.scenario import Scenario
from harness.fuzz.choice_sequence import Choices
from harness.fuzz.example import draw, options_of, play
from harness.targets import TargetSpec
from harness.targets.spec import resolve

CALLS = 8.0
DRAWING_MOST_MS = 3.0
MOST_MS = {"reference?client=plain": 10.0, "reference": 25.0}
"""A hundred examples a second with the plain client, forty with the SDK."""

Drawn = tuple[Scenario, Choices]


def figures(rounds: int, examples: int = 200) -> Iterator[Figure]:
    """Drawing with all faults, and playing with each client."""
    target = resolve("reference")
    random = Random(1)
    began_s = time.process_time()
    for _ in range(examples * rounds):
        draw((), random, options_of(target))
    yield _figure("drawing an example", began_s, examples * rounds, DRAWING_MOST_MS)
    chosen, calls = sessions(resolve("reference?client=plain"), examples)
    for name, most_ms in MOST_MS.items():
        target = resolve(name)
        began_s = time.process_time()
        for _ in range(rounds):
            for scenario, choices in chosen:
                play(scenario, choices, target, 1)
        played = rounds * len(chosen)
        yield _figure(f"{calls:.1f} model calls, {name}", began_s, played, most_ms)


def _figure(name: str, began_s: float, count: int, most_ms: float) -> Figure:
    spent_ms = 1000 * (time.process_time() - began_s) / count
    return Figure(name, spent_ms, most_ms, "ms", f"{1000 / spent_ms:.0f}/s")


def sessions(target: TargetSpec, examples: int) -> tuple[Sequence[Drawn], float]:
    """Examples without faults that make eight model calls on average, and how many they make."""
    random, options = Random(2), msgspec.structs.replace(options_of(target), faults=())
    drawn = [draw((), random, options) for _ in range(examples)]
    counted = sorted(
        ((play(*one, target, 1).model_calls, n) for n, one in enumerate(drawn)), reverse=True
    )
    while len(counted) > 1 and _mean(counted) < CALLS:
        counted.pop()
    return [drawn[n] for _, n in counted], _mean(counted)


def _mean(counted: Sequence[tuple[int, int]]) -> float:
    return sum(calls for calls, _ in counted) / len(counted)


def main() -> int:
    """Print the figures; 1 when one is over its bound."""
    parser = argparse.ArgumentParser(prog="python -m bench.campaigns", description=__doc__)
    parser.add_argument("--examples", type=int, default=200)
    over = 0
    for figure in figures(1, parser.parse_args().examples):
        print(figure, flush=True)
        over += figure.is_over
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
