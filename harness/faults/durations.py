"""Seconds of settings as the milliseconds of steps; nothing here is a fault."""

from __future__ import annotations

FOREVER_MS = 10**10
"""Longer than any run."""


def ms(wait_s: float | None) -> int:
    """Seconds as milliseconds; None is for ever."""
    return FOREVER_MS if wait_s is None else min(int(wait_s * 1000), FOREVER_MS)
