"""How many examples the contracts of our own parts draw: few by default, many in the long runs."""

from __future__ import annotations

from hypothesis import settings

EXAMPLES = max(3, settings().max_examples // 10)
"""Three in the fast tier; the profile `fuzz` draws hundreds."""
