"""What a long run leaves in memory: its history is on disk, so a call more costs nothing.

A raw HTTP client talks to the door in process, for the run's length is what is asked and not the
SDK's speed. The first calls fill the caches; growth is measured from there on.
"""

from __future__ import annotations

import gc
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import msgspec

from bench.figure import Figure
from bench.model_calls import conversation, door
from harness.transports.httpx_transport import HttpxTransport

WARM, CALLS = 10_000, 100_000
MOST_BYTES = 100


def figures(rounds: int, warm: int = WARM, calls: int = CALLS) -> Iterator[Figure]:
    """Bytes for each call after the first ones; `rounds` is for those that measure time."""
    with httpx2.Client(transport=HttpxTransport(door())) as client:
        _ask(client, range(warm))
        before = peak_bytes()
        _ask(client, range(warm, calls))
        grown = peak_bytes() - before
    name = f"memory: a call of {calls:,}, in process"
    yield Figure(name, grown / (calls - warm), MOST_BYTES, " B", "nothing")


def _ask(client: httpx2.Client, numbers: range) -> None:
    for number in numbers:
        body = {"model": "m", "max_tokens": 1000, "messages": conversation(1, last=number)}
        answer = client.post("http://model/v1/messages", content=msgspec.json.encode(body))
        assert answer.status_code == 200, answer.text


def peak_bytes() -> int:
    """The most memory that this process has had.

    On Linux `ru_maxrss` begins with what the parent had, and VmHWM with this program.
    """
    gc.collect()
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    for figure in figures(1):
        print(figure)
