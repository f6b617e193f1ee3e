"""A piece of a plan: a file of a first test, and what becomes of it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

State: TypeAlias = Literal[
    "written", "extended", "replaced", "unchanged", "kept", "elsewhere", "no source"
]


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the plan: its text, and what becomes of it.

    `added` is the part of a file that is there already. `elsewhere`: it belongs to the folder above
    that holds the repository. `no source`: no other machine could install loop-harness from where
    this one has it.
    """

    path: str
    text: str
    what: str
    state: State
    added: str = ""

    @property
    def is_written(self) -> bool:
        """Whether the file is to be written."""
        return self.state in ("written", "extended", "replaced")
