"""An observation: one line of what the doctor saw."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

State: TypeAlias = Literal["seen", "not seen", "not reached"]
Part: TypeAlias = Literal["connections", "behaviour"]

PROFILES, TARGETS, SCENARIO = "docs/profiles.md", "docs/targets.md", "docs/scenario.md"

SEPARATE_RUNS = "separate runs"
"""The item that says whether a session outlasts its run. Every verdict rests on it."""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen of one item.

    `not reached`: no probe could ask for it. `see` says where the docs tell how to connect it;
    `findings` are what the judge finds in that probe, as `CODE (CLASS)`.
    """

    part: Part
    item: str
    state: State
    what: str
    see: str = ""
    findings: tuple[str, ...] = ()


def connection(item: str, state: State, what: str, see: str = "") -> Observation:
    """An observation of a connection; what is seen needs no advice."""
    return Observation(
        part="connections", item=item, state=state, what=what, see="" if state == "seen" else see
    )
