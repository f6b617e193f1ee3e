"""Seconds of settings as the milliseconds of steps; nothing here is a fault."""

from __future__ import annotations

FOREVER_MS = 10**10
"""Longer than any run."""


def ms(wait_s: float | None) -> int:
    """Seconds as milliseconds, at least 1 for any wait at all; None is a wait without end."""
    if wait_s is None:
        return FOREVER_MS
    return min(int(wait_s * 1000) or int(wait_s > 0), FOREVER_MS)
