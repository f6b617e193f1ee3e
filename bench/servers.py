"""Our loopback door beside the standard library's HTTP server, which most test doubles are made of.

Both answer the same bytes to the same SDK, call by call in turn, in threads beside the client and
in a process of their own. Ours reads, validates, scripts and records; it may not be the slower one.
"""

from __future__ import annotations

import multiprocessing
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from bench.doors import Call, Case, caller, canned, compare, http, our_server, same_length
from bench.figure import Figure
from bench.stdlib_server import serve

MOST = 1.0


@contextmanager
def stdlib_server(stream: bool, process: bool) -> Iterator[str]:
    """The address of the standard library's server, in a thread or a process of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    arguments = (listener, http(*canned(stream)))
    run: Any = multiprocessing.get_context("fork").Process if process else threading.Thread
    server = run(target=serve, args=arguments, daemon=True)
    server.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    if process:
        server.terminate()


@contextmanager
def beside(stream: bool, process: bool) -> Iterator[tuple[Call, Call]]:
    """The call on the standard library's server, and on our door's."""
    with stdlib_server(stream, process) as theirs, our_server(process) as ours:
        yield caller(stream, base_url=theirs), caller(stream, base_url=ours)


def figures(rounds: int) -> Iterator[Figure]:
    """Our time as a ratio of the standard library's."""
    cases = []
    for process in (False, True):
        for stream in (False, True):
            place, kind = ("thread", "process")[process], ("plain", "streamed")[stream]
            name = f"loopback to stdlib, {place}, {kind}, 31 messages"
            cases.append(Case(name, partial(beside, stream, process), same_length(31), MOST))
    yield from compare(cases, rounds)
