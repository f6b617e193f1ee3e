"""Our loopback door beside the standard library's HTTP server, which most test doubles are made of.

Both answer the same bytes to the same SDK, call by call in turn, in threads beside the client and
in a process of their own. Ours reads, validates, scripts and records; it may not be the slower one.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.doors import compare, loopback_cases
from bench.figure import Figure
from bench.stdlib_server import serve

MOST = 1.0


def figures(rounds: int) -> Iterator[Figure]:
    """Our time as a ratio of the standard library's."""
    yield from compare([*loopback_cases("loopback to stdlib", serve, (31,), MOST)], rounds)
