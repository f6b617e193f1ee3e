"""What a fault costs in the calls that it leaves alone.

Two clients make the same call in turn: one in a run without faults, one in a run with a fault that
waits for a call that never comes. The figure is the median of the differences, in percent of the
median call.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator

from bench import pairs
from bench.figure import Figure
from bench.model_calls import CALLS, door, on_transport, same_length
from harness.core.scenario.scenario import FaultSpec
from harness.transports.httpx_transport import HttpxTransport

MOST_PERCENT = 1.5
REPEATS = 4
"""A difference of two calls is noisier than their ratio: so many times as many calls."""
KINDS = ("http.status", "transport.reset_mid_stream")
"""One that bends a value, and one that bends bytes."""


def unarmed(kind: str, stream: bool, rounds: int) -> Figure:
    """The median cost of one fault that does not fire."""
    spec = FaultSpec(kind=kind, when=1 << 40)
    extra, bares = [], []
    for _ in range(REPEATS * rounds):
        without, with_one = (on_transport(stream, HttpxTransport(door(*f))) for f in ((), (spec,)))
        for bare_s, our_s in pairs.seconds(without, with_one, same_length(1)(CALLS)):
            extra.append(1e6 * (our_s - bare_s))
            bares.append(1e6 * bare_s)
    name = f"unarmed, {('plain', 'streamed')[stream]}, {kind}"
    call_us = statistics.median(bares)
    percent = 100 * statistics.median(extra) / call_us
    return Figure(name, percent, MOST_PERCENT, " %", f"of {call_us:6.0f} us")


def figures(rounds: int) -> Iterator[Figure]:
    """A fault that bends a value and one that bends bytes, plain and streamed."""
    for kind in KINDS:
        for stream in (False, True):
            yield unarmed(kind, stream, rounds)


def main() -> int:
    """Print every figure; 1 when one is over its bound."""
    over = 0
    for figure in figures(9):
        print(figure, flush=True)
        over += figure.is_over
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
