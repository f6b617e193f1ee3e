"""Public incidents of agent loops, by kind: the origin of scenarios and checks.

Numbers are those of the source list; a scenario's `source` names them as `incidents:67`. Rows
repeat what the threads say; their figures were not verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.table_file import table


class Incident(msgspec.Struct, frozen=True):
    """A public incident, as its reporters tell it.

    A row says where it was reported (repositories and threads), what was seen, why in the
    reporters' view, what stands on the wire, and the invariants that it breaks.
    """

    number: Annotated[int, msgspec.Meta(ge=1)]
    kind: str
    where: str
    symptom: str
    cause: str
    trigger: str
    invariants: tuple[str, ...]


INCIDENTS: MappingProxyType[int, Incident] = table("harness.catalogue", "incidents.tsv", Incident)
"""The incidents by their number."""


def _by_kind() -> dict[str, dict[int, Incident]]:
    found: dict[str, dict[int, Incident]] = {}
    for number, row in INCIDENTS.items():
        found.setdefault(row.kind, {})[number] = row
    return found


CLASSES: MappingProxyType[str, Mapping[int, Incident]] = MappingProxyType(_by_kind())
"""The incidents by kind, in the order of the file."""

PREFIX = "incidents:"


def incident(source: str) -> Incident | None:
    """The incident that a source names; None for a source of another kind.

    Raises InputError for a number that no incident has.
    """
    if not source.startswith(PREFIX):
        return None
    number = source.removeprefix(PREFIX)
    if not number.isdecimal() or int(number) not in INCIDENTS:
        raise InputError(f"no such incident; they are numbered 1 to {len(INCIDENTS)}", source)
    return INCIDENTS[int(number)]
