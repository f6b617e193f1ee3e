"""Calls that pass by the in-process transport: attempts to reach anything by a socket.

In simulate every call has to cross a seam. One that opens a socket was not intercepted, so it is
refused, and its address is kept for the verdict. CPython's audit events tell of it without a
patch. A hook can never be taken out again, so there is one for the process, put in at first use,
which looks away while no run is on. Host names are refused when they are looked up: without a
network no connection would ever be tried. Extensions in C with sockets of their own are not seen.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_INTERNET = (socket.AF_INET, socket.AF_INET6)


class _Watch:
    """The process's hook and the list that it fills while a run is on."""

    def __init__(self) -> None:
        self.seen: list[str] | None = None
        self._installed = False

    def install(self) -> None:
        if not self._installed:
            sys.addaudithook(self._hook)
            self._installed = True

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.seen is None:
            return
        if event == "socket.connect" and arguments[0].family in _INTERNET:
            host, port = arguments[1][:2]
        elif event == "socket.getaddrinfo" and _is_foreign(arguments[0]):
            host, port = arguments[:2]
        else:
            return
        self._refuse(_address(host, port))

    def _refuse(self, address: str) -> None:
        assert self.seen is not None
        if address not in self.seen:
            self.seen.append(address)
        text = f"loop-harness: a simulated run opens no sockets, but the target tried {address}"
        raise ConnectionRefusedError(errno.ECONNREFUSED, text)


_WATCH = _Watch()


@contextmanager
def live_sockets() -> Iterator[list[str]]:
    """In this block connections by IPv4 and IPv6 are refused; their addresses fill the list.

    For the whole process, all threads. Raises RuntimeError when such a block is on already.
    """
    if _WATCH.seen is not None:
        raise RuntimeError("a simulated run is on already: one process runs one at a time")
    _WATCH.install()
    seen: list[str] = []
    _WATCH.seen = seen
    try:
        yield seen
    finally:
        _WATCH.seen = None


def _is_foreign(host: Any) -> bool:
    """Whether a look-up asks for a name: for addresses the connection itself is seen."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if not isinstance(name, str) or name in ("", "localhost", socket.gethostname()):
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return True
    return False


def _address(host: Any, port: Any) -> str:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    number = port.decode("ascii", "replace") if isinstance(port, bytes) else port
    return f"{name}:{number}"
