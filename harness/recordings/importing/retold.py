"""A history of ours as a story: a run that shows an incident is the best recording of it.

Here nothing must be worked out: the inbox says what the user said, the tool seam what the tools
answered, and each call to the model how it ended. A request that the dialect refused is left out,
since the fake model refuses it again.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.history.exchanges import Exchange, Execution, answer_failed, answer_text
from harness.core.history.history import History
from harness.core.history.trace import Delivery, Trace
from harness.core.values.errors import InputError
from harness.core.values.messages import Message, ToolResult, ToolSpec, user
from harness.core.values.plans import ApiError
from harness.recordings.importing.story import Failed, Heard, Said, Step, Story

_OURS = ("script.", "limit.", "cassette.")
"""Errors that are the harness's own: there was nothing more to play."""


def story(history: History) -> Story:
    """The story of a run. Raises InputError for a history without its start."""
    trace = history.trace
    if not trace.starts:
        raise InputError("a history without `started`: it cannot be told")
    steps: list[Step] = []
    messages: list[Message] = []
    happened: list[Delivery | Exchange] = [*trace.deliveries, *trace.exchanges]
    happened.sort(key=lambda one: one.n)
    results = _results(trace)
    for one in happened:
        for step in _steps(one, results, len(messages)):
            steps.append(step)
            messages += _messages(step)
    start = trace.starts[0]
    return Story(
        steps=tuple(steps),
        messages=tuple(messages),
        tools=tuple(_tools(trace)),
        wire=start.wire,
        stream=start.stream,
    )


def _results(trace: Trace) -> dict[tuple[int, str], ToolResult]:
    """What became of each call, by the exchange that asked for it and its id."""
    found: dict[tuple[int, str], ToolResult] = {}
    for ask in trace.asks:
        if ask.execution is not None and ask.execution.answered is not None:
            found[ask.exchange.n, ask.use.id] = _result(ask.use.id, ask.execution)
        elif ask.sent is not None:
            found[ask.exchange.n, ask.use.id] = ask.sent
    return found


def _result(id_: str, execution: Execution) -> ToolResult:
    answered = execution.answered
    assert answered is not None
    return ToolResult(id_, answer_text(answered), answer_failed(answered))


def _steps(
    one: Delivery | Exchange, results: dict[tuple[int, str], ToolResult], at: int
) -> Iterator[Step]:
    if isinstance(one, Delivery):
        if one.inbound.kind == "message":
            yield Heard(one.inbound.text, at, one.inbound.session)
        return
    answered = one.answered
    if answered is None or one.called.refused or answered.error.startswith(_OURS):
        return
    if one.too_large:
        yield Failed(ApiError(400, "invalid_request_error", "prompt is too long"))
    elif (answered.status or 200) >= 400:
        yield Failed(ApiError(answered.status or 500, "", ""))
    elif not one.succeeded:
        yield Failed()
    elif one.reply is not None:
        kept = tuple(results.get((one.n, use.id)) for use in one.reply.tool_uses)
        yield Said(one.reply, answered.stop, kept, one.purpose)


def _messages(step: Step) -> Iterator[Message]:
    """The messages that a step leaves in a session."""
    if isinstance(step, Heard):
        yield user(step.text)
    elif isinstance(step, Said) and step.purpose == "main":
        yield step.message
        if answered := tuple(result for result in step.results if result is not None):
            yield Message("user", answered)


def _tools(trace: Trace) -> Iterator[ToolSpec]:
    known = trace.settings.get("tools") or {}
    for name, schema in known.items() if isinstance(known, dict) else ():
        yield ToolSpec(str(name), "", schema if isinstance(schema, dict) else {})
