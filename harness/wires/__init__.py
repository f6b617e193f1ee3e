"""The wires: one package for each provider's API, all behind the port `harness.core.ports.Wire`.

A wire turns a request's bytes into a `Reading` and a value into the bytes of an answer, parses
recorded answers, and knows what its dialects refuse. It does no IO: doors carry the bytes.
"""

from __future__ import annotations

from harness.core.errors import InputError, nearest
from harness.core.ports import Wire
from harness.wires.anthropic.wire import AnthropicWire

_WIRES: dict[str, Wire] = {AnthropicWire.name: AnthropicWire()}


def names() -> tuple[str, ...]:
    """The names of the wires that there are."""
    return tuple(_WIRES)


def by_name(name: str) -> Wire:
    """The wire of that name; InputError, with the nearest name, when there is none."""
    try:
        return _WIRES[name]
    except KeyError:
        raise InputError(f"no wire is named {name!r}; {nearest(name, _WIRES)}", "wire") from None
