"""The description of a part, which all kinds have in common.

`harness explain`, `list`, `schema`, the completion of a shell and the tables of the documents read
it, so a part says each thing about itself once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class Setting(msgspec.Struct, frozen=True):
    """A setting of a part: its type, as a parameter has it, and its default."""

    type: Any
    default: Any


class Part(msgspec.Struct, frozen=True):
    """What a part says about itself.

    `text` is its docstring. `facts` are what its kind says beside, in the order in which
    `harness list --json` prints them. `plugin` is the module of the plug-in that brings it, "" for
    one of ours.
    """

    name: str
    text: str
    settings: Mapping[str, Setting] = {}
    facts: Mapping[str, Any] = {}
    plugin: str = ""

    @property
    def title(self) -> str:
        """The first line of the text."""
        return self.text.partition("\n")[0]


def docstring_of(thing: object) -> str:
    """A docstring without its indent; "" without one."""
    lines = (getattr(thing, "__doc__", "") or "").strip().splitlines()
    return "\n".join(line.strip() for line in lines)


def knobs(settings: Mapping[str, Setting]) -> dict[str, str]:
    """The settings with their defaults, as `harness list --json` prints them."""
    return {name: repr(setting.default) for name, setting in settings.items()}
