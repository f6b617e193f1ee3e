"""The fault table: every fault that a loop may meet, with or without a function that makes it.

A code is a letter for the layer and a number. A row without a fault has the reason in `not_made`.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

import msgspec

from harness.core.values.table_file import table


class Row(msgspec.Struct, frozen=True):
    """A fault, and the behaviour of a correct agent: an invariant, or a text.

    `made_by` are the kinds of our faults that make it; a fault of a plug-in names its rows itself.
    `seen` is its source: `incidents N` are rows of the public incidents, `REPO#N` is a thread,
    other texts are measurements. `not_made` is why no fault makes it, or what makes it instead.
    """

    code: str
    fault: str
    right: str
    made_by: tuple[str, ...] = ()
    seen: str = ""
    not_made: str = ""


ROWS: MappingProxyType[str, Row] = table("harness.catalogue", "fault_table.tsv", Row)
"""The rows by code, layer by layer."""

NOT_MADE: MappingProxyType[str, str] = MappingProxyType(
    {code: row.not_made for code, row in ROWS.items() if row.not_made}
)
"""The rows that no fault makes, with the reason."""


def codes_of(kind: str) -> tuple[str, ...]:
    """The codes of the rows that a fault of ours makes."""
    return tuple(code for code, row in ROWS.items() if kind in row.made_by)


def sources(codes: Iterable[str]) -> str:
    """Return the sources of the rows as text."""
    return "; ".join(f"{code}: {ROWS[code].seen or 'not seen in public'}" for code in codes)
