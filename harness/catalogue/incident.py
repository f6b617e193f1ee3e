"""A public incident of an agent loop, as its reporters tell it."""

from __future__ import annotations

import msgspec


class Incident(msgspec.Struct, frozen=True):
    """Where it was reported (repositories and threads), what was seen, why in the reporters' view,
    what stands on the wire, and the invariants that it breaks."""

    where: str
    symptom: str
    cause: str
    trigger: str
    invariants: tuple[str, ...]
