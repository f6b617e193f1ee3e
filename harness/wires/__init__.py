"""The wires: one package for each provider's API, all behind the port `harness.core.ports.Wire`.

A wire turns a request's bytes into a `Reading` and a value into the bytes of an answer, parses
recorded answers, and knows what its dialects refuse. It does no IO: doors carry the bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from harness.core.errors import InputError, nearest
from harness.core.ports import Wire


def _anthropic() -> Wire:
    from harness.wires.anthropic.wire import AnthropicWire

    return AnthropicWire()


def _openai_chat() -> Wire:
    from harness.wires.openai_chat.wire import OpenAIChatWire

    return OpenAIChatWire()


def _openai_responses() -> Wire:
    from harness.wires.openai_responses.wire import OpenAIResponsesWire

    return OpenAIResponsesWire()


_WIRES: dict[str, Callable[[], Wire]] = {
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
}
"""The wires by name, imported when they are asked for: a run speaks one of them."""


def names() -> tuple[str, ...]:
    """The names of the wires that there are."""
    return tuple(_WIRES)


@cache
def by_name(name: str) -> Wire:
    """The wire of that name; InputError, with the nearest name, when there is none."""
    try:
        make = _WIRES[name]
    except KeyError:
        raise InputError(f"no wire is named {name!r}; {nearest(name, _WIRES)}", "wire") from None
    return make()
