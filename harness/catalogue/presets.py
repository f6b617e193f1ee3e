"""Presets: faults that are a template with fixed constants, one row each.

A template is a function of `harness/faults`, by its place there: `templates.error`, or a private
function of a layer (`tools._answers`). `constants` fixes some of its settings, `settings` gives the
default of those that a scenario may change; both are JSON. The other columns say of the fault what
a module of `harness/faults` says of its functions.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

import msgspec

from harness.catalogue.table_file import table
from harness.core.values.calls import Seam
from harness.core.values.messages import Json


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """A fault by its kind; `text` says what it does, as the docstring of a function would."""

    kind: str
    template: str
    constants: dict[str, Json] = {}
    settings: dict[str, Json] = {}
    stage: Literal["value", "bytes"]
    seams: tuple[Seam, ...]
    on: str = ""
    codes: tuple[str, ...]
    wires: tuple[str, ...] = ()
    text: str


PRESETS: MappingProxyType[str, Preset] = table("presets.tsv", Preset)
"""The presets by kind."""
