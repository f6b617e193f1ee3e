"""What an example of a campaign costs, on one core, in process: drawing it and playing it.

`python -m bench.campaigns [--examples N]`. The sessions are generated ones without faults that
have eight model calls on average: the shortest are left out until that holds. The SDK is the
agent's usual client; the plain one shows what is left without it. Playing is a ratio to as many
calls of the official SDK on a bare transport. All times are processor time of this process.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from random import Random

import msgspec

from bench.figure import Figure
from bench.model_calls import bare_transport, conversation, on_transport
from harness.core.scenario.scenario import Scenario
from harness.fuzz.choice_sequence import Choices
from harness.fuzz.example import draw, options_of, play
from harness.targets import TargetSpec
from harness.targets.spec import resolve

CALLS = 8.0
CALLS_OF_A_MEASURE = 300
DRAWING_MOST_MS = 3.0
MOST = {"reference?client=plain": 6.0, "reference": 10.0}
"""The most that an example takes, as a ratio to as many bare calls of the SDK. Of the first, two
fifths are the checks, and most of the rest is the agent's store and its clean-up."""

Drawn = tuple[Scenario, Choices]


def figures(rounds: int, examples: int = 200) -> Iterator[Figure]:
    """Drawing with all faults, and playing with each client."""
    target = resolve("reference")
    random = Random(1)
    began_s = time.process_time()
    for _ in range(examples * rounds):
        draw((), random, options_of(target))
    drawing_ms = _spent_ms(began_s, examples * rounds)
    rate = f"{1000 / drawing_ms:.0f}/s"
    yield Figure("drawing an example", drawing_ms, DRAWING_MOST_MS, " ms", rate)
    chosen, calls = sessions(resolve("reference?client=plain"), examples)
    for name, most in MOST.items():
        target = resolve(name)
        bare_ms = calls * _bare_call_ms()
        began_s = time.process_time()
        for _ in range(rounds):
            for scenario, choices in chosen:
                play(scenario, choices, target, 1)
        spent_ms = _spent_ms(began_s, rounds * len(chosen))
        rate = f"{1000 / spent_ms:.0f}/s"
        yield Figure(f"{calls:.1f} model calls, {name}", spent_ms / bare_ms, most, beside=rate)


def _bare_call_ms() -> float:
    """What a call of the SDK takes on a transport that only answers."""
    call, asked = on_transport(False, bare_transport(False)), conversation(1)
    call(asked)
    began_s = time.process_time()
    for _ in range(CALLS_OF_A_MEASURE):
        call(asked)
    return _spent_ms(began_s, CALLS_OF_A_MEASURE)


def _spent_ms(began_s: float, count: int) -> float:
    return 1000 * (time.process_time() - began_s) / count


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
