"""Public incidents of agent loops, numbered, by class: what scenarios and checks are made after.

Numbers are those of the list from which the checks were derived; a scenario names them as
`incidents:67` in its `source`. A row is what the threads say; their numbers were not verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.catalogue import (
    arguments,
    compaction,
    delivery,
    hangs,
    inbound,
    limits,
    loops,
    other,
    poisoned,
    poisoned_blocks,
    resume,
    retries,
    self_wake,
    store,
)
from harness.catalogue.incident import Incident
from harness.core.values.errors import InputError

CLASSES: MappingProxyType[str, Mapping[int, Incident]] = MappingProxyType(
    {
        "poisoned": {**poisoned.INCIDENTS, **poisoned_blocks.INCIDENTS},
        "compaction": compaction.INCIDENTS,
        "loops": loops.INCIDENTS,
        "self-wake": self_wake.INCIDENTS,
        "retries": retries.INCIDENTS,
        "arguments": arguments.INCIDENTS,
        "hangs": hangs.INCIDENTS,
        "delivery": delivery.INCIDENTS,
        "inbound": inbound.INCIDENTS,
        "resume": resume.INCIDENTS,
        "store": store.INCIDENTS,
        "limits": limits.INCIDENTS,
        "other": other.INCIDENTS,
    }
)

INCIDENTS: MappingProxyType[int, Incident] = MappingProxyType(
    {number: row for rows in CLASSES.values() for number, row in rows.items()}
)

PREFIX = "incidents:"


def incident(source: str) -> Incident | None:
    """The incident that a source names; None for a source of another kind.

    Raises InputError for a number that there is not.
    """
    if not source.startswith(PREFIX):
        return None
    number = source.removeprefix(PREFIX)
    if not number.isdecimal() or int(number) not in INCIDENTS:
        raise InputError(f"no such incident; they are numbered 1 to {len(INCIDENTS)}", source)
    return INCIDENTS[int(number)]
