"""Whether tools run with what the model really said: whole, unchanged, allowed by the schema."""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.exchanges import Ask, Execution
from harness.core.history import History
from harness.core.messages import Json, canonical
from harness.core.ports import needs
from harness.core.trace import Trace
from harness.core.verdict import Finding

_CUT_STOPS = frozenset(
    {
        None,
        "max_tokens",
        "length",
        "refusal",
        "content_filter",
        "incomplete",
        "model_context_window_exceeded",
    }
)
"""Stop reasons after which a tool call may be part of one; None: the terminal event is missing."""

_UNPARSED = "__unparsedToolInput"
"""The key under which some clients hand on an input that was cut in transit."""


@needs("model", "tool")
def args_complete(history: History) -> Iterator[Finding]:
    """A tool runs only for a whole answer, with the input that the answer said.

    `incomplete`: the answer never ended. `truncated`: it stopped for another reason than to call a
    tool. `changed`: the input that ran is not the one on the wire. `empty_input`: `{}` ran although
    the schema requires a name. In a recording a failed call may never have run and is left alone.
    Source: invariant 22.
    """
    trace = history.trace
    recorded = trace.world == "recording"
    for execution in trace.executions:
        ask = execution.ask
        if ask is None or (recorded and (execution.failed or execution.answered is None)):
            continue
        for rule, text in _broken(trace, execution, ask, recorded):
            events = (ask.exchange.n, execution.n)
            yield Finding(f"args_complete.{rule}", f"{execution.called.key}: {text}", events)


def _broken(
    trace: Trace, execution: Execution, ask: Ask, recorded: bool
) -> Iterator[tuple[str, str]]:
    name, exchange = execution.request.name, ask.exchange
    answered = exchange.answered
    if answered is not None and not answered.complete:
        yield "incomplete", f"{name} runs although the model's answer was cut"
    elif exchange.stop in _CUT_STOPS and not (recorded and exchange.stop is None):
        yield "truncated", f"{name} runs although the answer stopped with {exchange.stop}"
    if canonical(plain(execution.request.input)) != canonical(plain(ask.use.input)):
        yield "changed", f"{name} runs with another input than the model gave"
    if is_empty(execution.request.input) and trace.schema(exchange, name).get("required"):
        yield "empty_input", f"{name} runs with an empty input although its schema requires one"


def plain(value: Json) -> Json:
    """An input with the spellings of nothing (`null`, `""`) as `{}`."""
    return {} if value is None or value == "" else value


def is_empty(value: Json) -> bool:
    """Whether an input says nothing: `{}`, `""`, null, or one that was cut in transit."""
    return plain(value) == {} or (isinstance(value, dict) and set(value) == {_UNPARSED})
