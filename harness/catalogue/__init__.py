"""The catalogue: known failures of agents, as tables that need no code to edit.

Public incidents of agent loops, by kind: the origin of scenarios and checks.

Numbers are those of the source list; a scenario's `source` names them as `incidents:67`. Rows
repeat what the threads say; their figures were not verified.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated

import msgspec

from harness.catalogue.fault_table import ROWS as ROWS
from harness.catalogue.fault_table import Row as Row
from harness.catalogue.fault_table import sources as sources
from harness.catalogue.field_findings import FIELD_PREFIX as FIELD_PREFIX
from harness.catalogue.field_findings import FieldFinding as FieldFinding
from harness.catalogue.field_findings import field_findings as field_findings
from harness.core.values.errors import InputError
from harness.core.values.table_file import table


class Incident(msgspec.Struct, frozen=True):
    """A public incident, as its reporters describe it.

    A row has the repositories and threads of the report, the symptom, and the cause in the
    reporters' view. It also has the messages on the wire and the broken invariants.
    """

    number: Annotated[int, msgspec.Meta(ge=1)]
    kind: str
    where: str
    symptom: str
    cause: str
    trigger: str
    invariants: tuple[str, ...]

    @property
    def findings(self) -> frozenset[str]:
        """The checks, and single rules of checks, that show one of its invariants broken."""
        return frozenset(code for name in self.invariants for code in findings_of(name))

    def shows(self, code: str) -> bool:
        """Whether an agent with this finding repeats the incident."""
        return not self.findings.isdisjoint((code, code.rpartition(".")[0]))


class Invariant(msgspec.Struct, frozen=True):
    """An invariant of the incidents that covers more, or less, than the check of the same name.

    `findings` names the checks, and single rules of checks, that show it broken.
    """

    invariant: str
    findings: tuple[str, ...]
    reason: str


INVARIANTS: MappingProxyType[str, Invariant] = table(
    "harness.catalogue", "invariants.tsv", Invariant
)
"""The invariants by name; an invariant without a row equals the check of its name."""


def findings_of(invariant: str) -> tuple[str, ...]:
    """Return the checks and rules that show an invariant broken."""
    row = INVARIANTS.get(invariant)
    return row.findings if row else (invariant,)


INCIDENTS: MappingProxyType[int, Incident] = table("harness.catalogue", "incidents.tsv", Incident)
"""The incidents by number."""


PREFIX = "incidents:"


def incident(source: str) -> Incident | None:
    """Return the incident that a source names; None for a source of another kind.

    Raises InputError for an unknown number.
    """
    if not source.startswith(PREFIX):
        return None
    number = source.removeprefix(PREFIX)
    if not number.isdecimal() or int(number) not in INCIDENTS:
        raise InputError(f"no such incident; they are numbered 1 to {len(INCIDENTS)}", source)
    return INCIDENTS[int(number)]
