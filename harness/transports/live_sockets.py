"""Calls that bypass the in-process transport: attempts to open a socket.

In simulate such a call is refused and its address kept for the verdict. CPython's audit events
report it without a patch. A hook cannot be removed, so one per process is idle between runs. Host
look-ups are refused too: without a network no connection would follow. C extensions with their own
sockets are not seen.
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
    """Return whether a look-up asks for a name: the connect event covers addresses."""
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
