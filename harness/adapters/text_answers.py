"""A function from the user's text to the answer. Its own clients find the model at its URL."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from harness.adapters.framework_agent import FrameworkAgent

_CALLS = {
    "anthropic": r"\bmessages\.(create|stream|parse)\b",
    "openai-chat": r"\bchat\.completions\.",
    "openai-responses": r"\bresponses\.(create|stream|parse)\b",
    "gemini": r"\bgenerate_content",
}
"""How a call of each wire's SDK is written."""


def text_function(answer: Callable[..., Any]) -> FrameworkAgent:
    """An agent of `answer(text)`, sync or async; with a parameter `session` it is told that too."""
    is_told = "session" in inspect.signature(answer).parameters

    async def play(brief: Any) -> None:
        for message in brief.inbox():
            named = {"session": message.session} if is_told else {}
            said = answer(message.text, **named)
            if inspect.isawaitable(said):
                said = await said
            if not isinstance(said, str):
                raise TypeError(f"the answer is a str, not {type(said).__name__}")
            brief.send(said, session=message.session, in_reply_to=message.id)

    def play_sync(brief: Any) -> None:
        # Nothing in it waits, so one step is all: no event loop runs, and the function may run one.
        try:
            play(brief).send(None)
        except StopIteration:
            return

    asynchronous = inspect.iscoroutinefunction(answer)
    return FrameworkAgent("text_function", play if asynchronous else play_sync, _wires(answer))


def _wires(answer: Callable[..., Any]) -> tuple[str, ...]:
    """The wires whose calls stand in the source of the function's module."""
    try:
        text = inspect.getsource(inspect.getmodule(answer) or answer)
    except (OSError, TypeError):
        return ()
    return tuple(wire for wire, call in _CALLS.items() if re.search(call, text))
