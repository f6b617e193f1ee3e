"""The catalogue: what is known of agents that went wrong, as tables that anybody can edit.

`incidents.tsv` holds the public incidents, `fault_table.tsv` the faults that a loop may meet, and
`presets.tsv` the faults that are others with fixed settings. `table_file` says how a table is
written; a wrong line is an error with its file and line.
"""

from __future__ import annotations

from harness.catalogue.fault_table import NOT_MADE as NOT_MADE
from harness.catalogue.fault_table import ROWS as ROWS
from harness.catalogue.fault_table import Row as Row
from harness.catalogue.fault_table import sources as sources
from harness.catalogue.incidents import CLASSES as CLASSES
from harness.catalogue.incidents import INCIDENTS as INCIDENTS
from harness.catalogue.incidents import PREFIX as PREFIX
from harness.catalogue.incidents import Incident as Incident
from harness.catalogue.incidents import incident as incident
