"""Names of this machine that several rooms know: the hosts of loopback, and our scratch folders.

Two runs differ in them without a reason, so a comparison ignores them. Several rooms use them.
"""

from __future__ import annotations

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})
"""The hosts of a URL that leads to this machine."""

SCRATCH_PREFIX = "loop-harness-"
"""The beginning of the name of each temporary folder of the harness."""
