"""The catalogue: known failures of agents, as tables that need no code to edit."""

from __future__ import annotations

from harness.catalogue.fault_table import ROWS as ROWS
from harness.catalogue.fault_table import Row as Row
from harness.catalogue.fault_table import sources as sources
from harness.catalogue.field_findings import FIELD_PREFIX as FIELD_PREFIX
from harness.catalogue.field_findings import FieldFinding as FieldFinding
from harness.catalogue.field_findings import field_findings as field_findings
from harness.catalogue.incidents import INCIDENTS as INCIDENTS
from harness.catalogue.incidents import INVARIANTS as INVARIANTS
from harness.catalogue.incidents import PREFIX as PREFIX
from harness.catalogue.incidents import Incident as Incident
from harness.catalogue.incidents import incident as incident
