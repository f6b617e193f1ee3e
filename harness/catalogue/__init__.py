"""The catalogue: what is known of agents that went wrong, as tables that anybody can edit.

`incidents.tsv` holds the public incidents, `fault_table.tsv` the faults that a loop may meet, and
`presets.tsv` the faults that are others with fixed settings. `table_file` says how a table is
written; a wrong line is an error with its file and line.
"""

from __future__ import annotations

from harness.catalogue.fault_table import NOT_MADE, ROWS, Row, sources
from harness.catalogue.incidents import CLASSES, INCIDENTS, PREFIX, Incident, incident

__all__ = [
    "CLASSES",
    "INCIDENTS",
    "NOT_MADE",
    "PREFIX",
    "ROWS",
    "Incident",
    "Row",
    "incident",
    "sources",
]
