"""The fault table: every fault that a loop may meet, and the presets, a row each.

A code is a letter for the layer and a number. A row without a fault has the reason in `not_made`.
A preset is a fault that is a template with fixed constants.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Literal

import msgspec

from harness.core.values.calls import Seam
from harness.core.values.messages import Json
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


def codes_of(kind: str) -> tuple[str, ...]:
    """The codes of the rows that a fault of ours makes."""
    return tuple(code for code, row in ROWS.items() if kind in row.made_by)


def sources(codes: Iterable[str]) -> str:
    """Return the sources of the rows as text."""
    return "; ".join(f"{code}: {ROWS[code].seen or 'not seen in public'}" for code in codes)


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """A fault by its kind; `text` is its description, like the docstring of a function.

    A template is the name of a function in `harness/faults`: `shared.templates.error`, or a private
    one (`tools._answers`). `constants` fixes settings and `settings` gives defaults of the others,
    both in JSON. `drawn` are those with which a campaign draws it, as `DRAWN` of a module says.
    """

    kind: str
    template: str
    constants: dict[str, Json] = {}
    settings: dict[str, Json] = {}
    stage: Literal["value", "bytes"]
    seams: tuple[Seam, ...]
    on: str = ""
    wires: tuple[str, ...] = ()
    text: str
    drawn: tuple[dict[str, Json], ...] = ({},)


PRESETS: MappingProxyType[str, Preset] = table("harness.catalogue", "presets.tsv", Preset)
"""The presets by kind."""
