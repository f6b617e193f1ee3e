"""What an agent meets of a store fault, as data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

ALL = "one, two, three, four, message 1, Looking., Done."
NOT_ACCEPTED = "one, two, three, four, Looking., Done."
ASKED = "one, two, three, four, Where is my order?"
REST = "message 1, Looking., Done."


class Meets(NamedTuple):
    """What the agent meets on a kind of store, and the rows that it reads in the end."""

    store: str
    met: tuple[str, ...]
    rows: str = ALL
    settings: Mapping[str, Any] = MappingProxyType({})
    waited_ms: int = 0


BOTH = ("sqlite", "jsonl")
