"""When two findings are the same one: equality of their keys, everywhere.

A key is the code, the place and the cause. The place has no number of an event, so a change of the
agent elsewhere keeps it; the cause holds values that the check gives, never a text. A screen folds
findings by code and cause alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """What tells two findings of one code apart.

    `tool` is the tool that it is about, and `fault` the kind of the fault that the agent met.
    `error` is the name of an exception, and `source` the file and function that raised it.
    `subject` is what else the rule names: a key of `expect`, an address, a part of a request, where
    a message is missing.
    """

    tool: str = ""
    fault: str = ""
    error: str = ""
    source: str = ""
    subject: str = ""

    def __reduce__(self) -> str | tuple[Any, ...]:
        # JSON leaves the default out by identity, so a worker must give back the same object.
        return "NO_CAUSE" if self is NO_CAUSE else super().__reduce__()


NO_CAUSE = Cause()


class Place(NamedTuple):
    """Where a finding stands: the scenario, its variant (`baseline`, `VARIANT@WIRE+stream`), the
    session, and the seam of the call that proves it."""

    scenario: str
    variant: str
    session: str
    seam: str


class FindingKey(NamedTuple):
    """The identity of a finding."""

    code: str
    place: Place
    cause: Cause
