"""A story: what happened in a recording, in order, whatever it was recorded by.

Three things happen: the user says something, the model says something (and each call that it asks
for gets its result, or none was recorded), the model fails. A list of messages and a history of
ours tell the same story in different ways, and everything after this point knows only the story.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from harness.core.values.calls import Purpose
from harness.core.values.errors import InputError
from harness.core.values.messages import Message, ToolResult, ToolSpec, ToolUse
from harness.core.values.plans import ApiError


class Heard(msgspec.Struct, frozen=True):
    """The user says something; `at` messages of the story stand before it."""

    text: str
    at: int
    session: str = "main"


class Said(msgspec.Struct, frozen=True):
    """The model says something; `results` are those of its calls, in order, None where missing."""

    message: Message
    stop: str | None = None
    results: tuple[ToolResult | None, ...] = ()
    purpose: Purpose = "main"

    @property
    def calls(self) -> tuple[tuple[ToolUse, ToolResult | None], ...]:
        """Each call with its result."""
        return tuple(zip(self.message.tool_uses, self.results, strict=True))


class Failed(msgspec.Struct, frozen=True):
    """A call to the model fails: with an error of the provider's, or None: the answer is cut."""

    error: ApiError | None = None


Step: TypeAlias = Heard | Said | Failed


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of one recording, and the messages that they were read from."""

    steps: tuple[Step, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    wire: str = ""
    stream: bool = False
    system: bool = False


class Fork(msgspec.Struct, frozen=True):
    """A story from one of its turns on, and the messages before that turn."""

    before: tuple[Message, ...]
    steps: tuple[Step, ...]


def fork(story: Story, turn: int | None = None) -> Fork:
    """The story from the `turn`-th message of the user on (from 1); without one, all of it.

    What stands before the first message of the user is stored before it in either case. Raises
    InputError for a turn that there is not, and for a story that cannot be played.
    """
    heard = [place for place, step in enumerate(story.steps) if isinstance(step, Heard)]
    if not heard:
        raise InputError("nobody asks anything: the recording has no message of a user")
    if turn is not None and not 1 <= turn <= len(heard):
        raise InputError(f"the recording has the turns 1 to {len(heard)}", f"--at {turn}")
    start = heard[turn - 1 if turn else 0]
    steps = story.steps[start:]
    if not any(isinstance(step, (Said, Failed)) for step in steps):
        raise InputError("nothing is answered from there on: there is no script to play")
    first = steps[0]
    assert isinstance(first, Heard)
    return Fork(story.messages[: first.at], steps)
