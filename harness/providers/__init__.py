"""The wires: one package for each provider's API, all behind the port `Provider`.

A wire turns a request's bytes into a `Reading` and a value into the bytes of an answer, parses
recorded answers, and knows what its dialects refuse. It does no IO: doors carry the bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from harness.core.transition.ports import Provider
from harness.core.values.errors import InputError, nearest


def _anthropic() -> Provider:
    from harness.providers.anthropic.provider import AnthropicProvider

    return AnthropicProvider()


def _openai_chat() -> Provider:
    from harness.providers.openai_chat.provider import OpenAIChatProvider

    return OpenAIChatProvider()


def _openai_responses() -> Provider:
    from harness.providers.openai_responses.provider import OpenAIResponsesProvider

    return OpenAIResponsesProvider()


_WIRES: dict[str, Callable[[], Provider]] = {
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
}
"""The wires by name, imported when they are asked for: a run speaks one of them."""


def names() -> tuple[str, ...]:
    """The names of the wires that there are."""
    return tuple(_WIRES)


@cache
def by_name(name: str) -> Provider:
    """The wire of that name; InputError, with the nearest name, when there is none."""
    try:
        make = _WIRES[name]
    except KeyError:
        raise InputError(f"no wire is named {name!r}; {nearest(name, _WIRES)}", "wire") from None
    return make()
