"""Names of this machine that several rooms know: the hosts of loopback, and our scratch folders.

A comparison of two runs leaves them out, and what writes or reads them stands in other rooms.
"""

from __future__ import annotations

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})
"""The hosts of a URL that leads to this machine."""

SCRATCH_PREFIX = "loop-harness-"
"""How the name of each temporary folder of ours begins."""
