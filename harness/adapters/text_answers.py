"""A function from the user's text to the answer. Its own clients find the model at its URL.

Such a function stands in front of an HTTP handler or a bot. An error of the API that it lets
through becomes that handler's answer (a 5xx), so the user is told, and the next message comes. Any
other exception is a crash of its code.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from harness.adapters.shared.framework_agent import LACKS, FrameworkAgent, converse, in_one_step

_CALLS = {
    "anthropic": r"\bmessages\.(create|stream|parse)\b",
    "openai-chat": r"\bchat\.completions\.",
    "openai-responses": r"\bresponses\.(create|stream|parse)\b",
    "gemini": r"\bgenerate_content",
}
"""How a call of each wire's SDK is written."""

_CLIENTS = (
    *("anthropic", "openai", "google.genai", "google.api_core", "litellm", "mistralai", "cohere"),
    *("httpx", "httpx2", "httpcore", "requests", "urllib3", "urllib.error", "aiohttp", "botocore"),
)
"""The packages whose exceptions say that a call of an API failed."""


def text_function(answer: Callable[..., Any]) -> FrameworkAgent:
    """An agent of `answer(text)`, sync or async; with a parameter `session` it is told that too."""
    is_told = "session" in _parameters(answer)

    async def said(message: Any) -> str:
        named = {"session": message.session} if is_told else {}
        text = answer(message.text, **named)
        if inspect.isawaitable(text):
            text = await text
        if not isinstance(text, str):
            raise TypeError(f"the function returns the answer as a str, not {type(text).__name__}")
        return text

    async def play(brief: Any) -> None:
        await converse(brief, said, _apology)

    def play_sync(brief: Any) -> None:
        in_one_step(play(brief))

    asynchronous = inspect.iscoroutinefunction(answer)
    lacks = msgspec.structs.replace(LACKS, session=None) if is_told else LACKS
    made = play if asynchronous else play_sync
    return FrameworkAgent("text_function", made, _wires(answer), lacks)


def _apology(error: Exception) -> str | None:
    return f"{type(error).__name__}: {error}" if is_of_an_api(error) else None


def is_of_an_api(error: BaseException) -> bool:
    """Whether an exception is the error of a client of an API, or was raised from one on purpose
    (`raise ... from error`), as frameworks do."""
    return any(_is_of_a_client(each) for each in _chain(error))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__


def _is_of_a_client(error: BaseException) -> bool:
    modules = {f"{kind.__module__}." for kind in type(error).__mro__}
    return any(module.startswith(f"{name}.") for module in modules for name in _CLIENTS)


def _parameters(answer: Callable[..., Any]) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(answer).parameters)
    except ValueError:  # of a function in C
        return ()


def _wires(answer: Callable[..., Any]) -> tuple[str, ...]:
    """The wires whose calls stand in the source of the function's module."""
    try:
        text = inspect.getsource(inspect.getmodule(answer) or answer)
    except (OSError, TypeError):
        return ()
    return tuple(wire for wire, call in _CALLS.items() if re.search(call, text))
