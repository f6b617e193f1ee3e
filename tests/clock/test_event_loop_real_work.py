"""The virtual event loop beside real work: a thread, a socket or a child holds the clock still."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import anyio.to_thread
import pytest

from harness.clock import VirtualClock, VirtualWait, run_async

pytestmark = pytest.mark.timeout(600)


def _work() -> str:
    """Real work that lets other threads run: some tens of milliseconds of hashing."""
    hashlib.pbkdf2_hmac("sha256", b"", b"", 50_000)
    return "done"


async def _in_a_thread() -> str:
    return await asyncio.to_thread(_work)


async def _in_an_anyio_thread() -> str:
    return await anyio.to_thread.run_sync(_work)


@pytest.mark.parametrize("work", [_in_a_thread, _in_an_anyio_thread])
def test_the_clock_stands_still_while_a_thread_works(
    work: Callable[[], Coroutine[Any, Any, str]],
) -> None:
    clock = VirtualClock()

    async def main() -> str:
        beat = asyncio.create_task(asyncio.sleep(7))
        result = await asyncio.wait_for(work(), 5)
        beat.cancel()
        return result

    assert run_async(main, clock) == "done"
    assert clock.waits == []


def test_the_clock_stands_still_while_a_socket_is_read() -> None:
    clock = VirtualClock()
    ours, theirs = socket.socketpair()
    ours.setblocking(False)

    def send() -> None:
        _work()
        theirs.send(b"hello")

    async def main() -> bytes:
        thread = threading.Thread(target=send)
        thread.start()
        got = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(ours, 100), 5)
        thread.join()
        return got

    with ours, theirs:
        assert run_async(main, clock) == b"hello"
    assert clock.waits == []


def test_the_clock_stands_still_while_a_child_runs() -> None:
    clock = VirtualClock()

    async def main() -> int:
        child = await asyncio.create_subprocess_exec(sys.executable, "-S", "-c", "pass")
        return await asyncio.wait_for(child.wait(), 5)

    assert run_async(main, clock) == 0
    assert clock.waits == []


def test_an_idle_connection_does_not_hold_the_clock_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.clock.event_loop.PATIENCE_S", 0.01)
    clock = VirtualClock()
    ours, theirs = socket.socketpair()

    async def main() -> None:
        asyncio.get_running_loop().add_reader(ours, lambda: None)
        await asyncio.sleep(3600)
        asyncio.get_running_loop().remove_reader(ours)

    with ours, theirs:
        run_async(main, clock)
    assert clock.waits == [VirtualWait(0, 3600.0, "loop")]
