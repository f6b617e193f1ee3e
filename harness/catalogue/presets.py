"""Presets: faults that are a template with fixed constants, one row each.

A template is the name of a function in `harness/faults`: `shared.templates.error`, or a private one
(`tools._answers`). `constants` fixes settings and `settings` gives defaults of the others, both in
JSON.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

import msgspec

from harness.core.values.calls import Seam
from harness.core.values.messages import Json
from harness.core.values.table_file import table


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """A fault by its kind; `text` is its description, like the docstring of a function.

    `drawn` are the settings with which a campaign draws it, as `DRAWN` of a module says them.
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
