"""How much the request bodies of one server may take together."""

from __future__ import annotations

import threading

from harness.transports.request_heads import RefusedRequest

BODIES_MOST_BYTES = 128 << 20


class BodyBudget:
    """The bytes of bodies that connections hold, unfinished or unanswered, under one bound.

    Beyond the bound a connection may still grow up to an equal share. So a few large bodies that
    never end do not keep small ones out. Safe to share by threads.
    """

    def __init__(self, most_bytes: int = BODIES_MOST_BYTES) -> None:
        self._most, self._total = most_bytes, 0
        self._held: dict[object, int] = {}
        self._lock = threading.Lock()

    def hold(self, owner: object, size_bytes: int) -> None:
        """Say how much a connection holds by now. Raises RefusedRequest when it is too much."""
        with self._lock:
            total = self._total - self._held.get(owner, 0) + size_bytes
            holders = len(self._held) + (owner not in self._held)
            if total > self._most and size_bytes > self._most // holders:
                text = (
                    f"the bodies of requests hold {self._total} bytes together, and may hold "
                    f"{self._most}: send this one again later"
                )
                raise RefusedRequest(503, text)
            self._held[owner], self._total = size_bytes, total

    def release(self, owner: object) -> None:
        """The connection holds nothing any more."""
        with self._lock:
            self._total -= self._held.pop(owner, 0)
