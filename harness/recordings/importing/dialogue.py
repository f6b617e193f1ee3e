"""A dialogue: what happened in a recording, in order, independent of its format.

A transcript and a history of the harness give the same dialogue. A request that the dialect refused
is left out, because the fake model refuses it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from harness.core.history.exchanges import Exchange, answer_failed, answer_text
from harness.core.history.history import History
from harness.core.history.trace import Delivery, Trace
from harness.core.values.calls import Purpose
from harness.core.values.errors import InputError
from harness.core.values.messages import Message, ToolResult, ToolSpec, ToolUse, user
from harness.core.values.plans import ApiError


class UserTurn(msgspec.Struct, frozen=True):
    """The user says something; `at` messages of the story stand before it."""

    text: str
    at: int
    session: str = "main"


class ModelTurn(msgspec.Struct, frozen=True):
    """The model says something; `results` are those of its calls, in order, None where missing."""

    message: Message
    stop: str | None = None
    results: tuple[ToolResult | None, ...] = ()
    purpose: Purpose = "main"

    @property
    def calls(self) -> tuple[tuple[ToolUse, ToolResult | None], ...]:
        """Each call with its result."""
        return tuple(zip(self.message.tool_uses, self.results, strict=True))


class FailedTurn(msgspec.Struct, frozen=True):
    """A call to the model fails: with an error of the provider's, or None: the answer is cut.

    `bad_request`: the provider refused what the agent sent. `too_long`: it refused the size of the
    prompt.
    """

    error: ApiError | None = None
    bad_request: bool = False
    too_long: bool = False


DialogueStep: TypeAlias = UserTurn | ModelTurn | FailedTurn


class Dialogue(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of one recording, and the messages that they were read from."""

    steps: tuple[DialogueStep, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    wire: str = ""
    stream: bool = False
    system: bool = False


class DialogueCut(msgspec.Struct, frozen=True):
    """A story from one of its turns on, and the messages before that turn."""

    before: tuple[Message, ...]
    steps: tuple[DialogueStep, ...]


def cut_at(story: Dialogue, turn: int | None = None) -> DialogueCut:
    """The story from the `turn`-th message of the user on (from 1); without one, all of it.

    What stands before the first message of the user is stored before it in either case. Raises
    InputError for a turn that does not exist, and for a story that cannot be played.
    """
    heard = [place for place, step in enumerate(story.steps) if isinstance(step, UserTurn)]
    if not heard:
        raise InputError("the recording has no message of a user, so no turn can begin")
    if turn is not None and not 1 <= turn <= len(heard):
        raise InputError(f"the recording has the turns 1 to {len(heard)}", f"--at {turn}")
    start = heard[turn - 1 if turn else 0]
    steps = story.steps[start:]
    if not any(isinstance(step, (ModelTurn, FailedTurn)) for step in steps):
        raise InputError("nothing is answered from there on: there is no script to play")
    first = steps[0]
    assert isinstance(first, UserTurn)
    return DialogueCut(story.messages[: first.at], steps)


_OURS = ("script.", "limit.", "cassette.")
"""Errors that are the harness's own: there was nothing more to play."""


def dialogue_of_history(history: History) -> Dialogue:
    """The story of a run. Raises InputError for a history without its start."""
    trace = history.trace
    if not trace.starts:
        raise InputError("a history without `started`: it cannot be told")
    steps: list[DialogueStep] = []
    messages: list[Message] = []
    happened: list[Delivery | Exchange] = [*trace.deliveries, *trace.exchanges]
    happened.sort(key=lambda one: one.n)
    results = _results(trace)
    for one in happened:
        for step in _items(one, results, len(messages)):
            steps.append(step)
            messages += _messages(step)
    start = trace.starts[0]
    return Dialogue(
        steps=tuple(steps),
        messages=tuple(messages),
        tools=tuple(_tools(trace)),
        wire=start.wire,
        stream=start.stream,
    )


def _results(trace: Trace) -> dict[tuple[int, str], ToolResult]:
    """The outcome of each call, by its exchange and id."""
    found: dict[tuple[int, str], ToolResult] = {}
    for ask in trace.asks:
        if ask.execution is not None and ask.execution.answered is not None:
            answered = ask.execution.answered
            found[ask.exchange.n, ask.use.id] = ToolResult(
                ask.use.id, answer_text(answered), answer_failed(answered)
            )
        elif ask.sent is not None:
            found[ask.exchange.n, ask.use.id] = ask.sent
    return found


def _items(
    one: Delivery | Exchange, results: dict[tuple[int, str], ToolResult], at: int
) -> Iterator[DialogueStep]:
    if isinstance(one, Delivery):
        if one.inbound.kind == "message":
            yield UserTurn(one.inbound.text, at, one.inbound.session)
        return
    answered = one.answered
    if answered is None or one.called.refused or answered.error.startswith(_OURS):
        return
    if one.too_large:
        yield FailedTurn(ApiError(400, "", ""), too_long=True)
    elif (answered.status or 200) >= 400:
        yield FailedTurn(ApiError(answered.status or 500, "", ""))
    elif not one.succeeded:
        yield FailedTurn()
    elif one.reply is not None:
        kept = tuple(results.get((one.n, use.id)) for use in one.reply.tool_uses)
        yield ModelTurn(one.reply, answered.stop, kept, one.called.purpose)


def _messages(step: DialogueStep) -> Iterator[Message]:
    if isinstance(step, UserTurn):
        yield user(step.text)
    elif isinstance(step, ModelTurn) and step.purpose == "main":
        yield step.message
        if answered := tuple(result for result in step.results if result is not None):
            yield Message("user", answered)


def _tools(trace: Trace) -> Iterator[ToolSpec]:
    known = trace.settings.get("tools") or {}
    for name, schema in known.items() if isinstance(known, dict) else ():
        yield ToolSpec(str(name), "", schema if isinstance(schema, dict) else {})
