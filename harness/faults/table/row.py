"""A row of the fault table."""

from __future__ import annotations

import msgspec


class Row(msgspec.Struct, frozen=True):
    """What goes wrong, what a correct agent does then (an invariant, or in words), and where it was
    seen: `incidents N` are rows of the public incidents, `REPO#N` a thread, else measured."""

    fault: str
    right: str
    seen: str = ""
