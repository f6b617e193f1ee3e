"""The fault table: every fault that a loop may meet, whether a function makes it or not.

A code is a letter for the layer and a number. A row without a fault says why (`not_made`).
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

import msgspec

from harness.core.values.table_file import table


class Row(msgspec.Struct, frozen=True):
    """What goes wrong, and what a correct agent does then: an invariant, or words.

    `seen` is where it was seen: `incidents N` are rows of the public incidents, `REPO#N` a thread,
    else a measurement. `not_made` is why no fault makes it, or what makes it instead.
    """

    code: str
    fault: str
    right: str
    seen: str = ""
    not_made: str = ""


ROWS: MappingProxyType[str, Row] = table("harness.catalogue", "fault_table.tsv", Row)
"""The rows by their code, layer by layer."""

NOT_MADE: MappingProxyType[str, str] = MappingProxyType(
    {code: row.not_made for code, row in ROWS.items() if row.not_made}
)
"""The rows that no fault makes, with the reason."""


def sources(codes: Iterable[str]) -> str:
    """Where the rows were seen, in words."""
    return "; ".join(f"{code}: {ROWS[code].seen or 'not seen in public'}" for code in codes)
