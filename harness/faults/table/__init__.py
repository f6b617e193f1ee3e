"""The fault table: every fault that a loop may meet, by layer, whether a function makes it or not.

An id is a letter for the layer and a number; a fault's module says in `CODES` which rows it makes.
The table is what the functions are held against: a row without a function needs a reason
(`NOT_MADE`).
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from harness.faults.table import (
    clock,
    context,
    gateway,
    http,
    model,
    persistence,
    sse,
    tools,
    transport,
)
from harness.faults.table.row import Row

ROWS: MappingProxyType[str, Row] = MappingProxyType(
    {
        **transport.ROWS,
        **http.ROWS,
        **sse.ROWS,
        **model.ROWS,
        **tools.ROWS,
        **context.ROWS,
        **persistence.ROWS,
        **gateway.ROWS,
        **clock.ROWS,
    }
)

NOT_MADE: MappingProxyType[str, str] = MappingProxyType(
    {
        "C11": (
            "where to cut is the agent's own choice: a test cuts the reference agent's history at "
            "every index, and each dialect refuses a pair that was split"
        ),
        "P21": (
            "a comparison and no fault: `reload_equivalence` makes it at every look at the store; "
            "agents that repair in place are mutants"
        ),
    }
)
"""The rows that no fault function makes, with what makes them instead, or why nothing does."""


def sources(codes: Iterable[str]) -> str:
    """Where the rows were seen, in words."""
    return "; ".join(f"{code}: {ROWS[code].seen or 'not seen in public'}" for code in codes)
