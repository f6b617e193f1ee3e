"""What repeats, however loosely: what an agent may go by when it stops a turn.

`stuck` says what must be stopped, strictly; who stops earlier is wrong only if nothing at all came
again. So this counts in the agent's favour: whatever the input, whatever the text, whatever stands
between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator

from harness.checks.execution import is_empty
from harness.checks.steps import steps
from harness.checks.stuck import PERIODS, calls_tools
from harness.core.history.exchanges import Exchange, Execution
from harness.core.history.repetition import cycles, equal_runs
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import canonical


def repeats_before(trace: Trace, turn: Turn, n: int, repeats: int) -> bool:
    """Whether anything at all was equal `repeats` times before event `n`, however loosely.

    This is what a breaker may go by: one tool with one result whatever the input; failures in a
    row whatever their text, of all tools or of one, whatever others do between, or a call that
    brings once more what it brought before; a circle of calls or of whole messages, run or not;
    empty inputs; calls that were cut off.
    """
    done = [e for e in steps(turn, id, 0) if e.answered and e.answered.n < n]
    for some in (done, _without_known(done)):
        if any(_is_equal(part, repeats) for part in (some, *_by_tool(some))):
            return True
    for keys in ([(*e.identity, _result(e)) for e in done], _messages(turn, n)):
        if any(equal_runs(keys, repeats)):
            return True
        if any(any(cycles(keys, period, repeats)) for period in PERIODS):
            return True
    cut_off = [_is_cut_off(e) or None for e in turn.main if e.n < n]
    if any(equal_runs(cut_off, repeats)):
        return True
    unknown = _unknown_calls(trace, turn, n)
    return any(count >= repeats for count in (*unknown, *_useless_calls(trace, turn, n)))


def _unknown_calls(trace: Trace, turn: Turn, n: int) -> Iterable[int]:
    """How often each tool was asked for before event `n` that there is not, also in one answer."""
    known = trace.settings.get("tools", {})
    return Counter(
        ask.use.name for ask in turn.asks if ask.exchange.n < n and ask.use.name not in known
    ).values()


def _without_known(done: list[Execution]) -> list[Execution]:
    """The executions without the successes that came with this very result before."""
    seen: set[Hashable] = set()
    news = []
    for execution in done:
        if execution.failed or execution.triple not in seen:
            news.append(execution)
        seen.add(execution.triple)
    return news


def _by_tool(done: list[Execution]) -> Iterator[list[Execution]]:
    """The executions of each tool by itself."""
    for name in dict.fromkeys(e.request.name for e in done):
        yield [e for e in done if e.request.name == name]


def _is_equal(done: list[Execution], repeats: int) -> bool:
    """Whether so many in a row have one result, or failed."""
    loosely: tuple[Callable[[Execution], Hashable | None], ...] = (
        lambda e: (e.request.name, _result(e)),
        lambda e: True if e.failed or _is_told_as_error(e) else None,
    )
    return any(any(equal_runs([key(e) for e in done], repeats)) for key in loosely)


def _result(execution: Execution) -> str:
    """What came of a call; all that says nothing is alike, whatever it is made of."""
    value = execution.answered.value if execution.answered else None
    content = value.get("content") if isinstance(value, dict) else value
    parts = content if isinstance(content, list | tuple) else ()
    has_words = content is not None and bool(execution.text.strip())
    says = execution.failed or has_words or any("text" not in part for part in parts)
    return execution.triple[2] if says else ""


def _is_told_as_error(execution: Execution) -> bool:
    """Whether the model was told of a failure, as of an answer that comes too late."""
    return bool(execution.ask and execution.ask.sent and execution.ask.sent.is_error)


def _messages(turn: Turn, n: int) -> list[Hashable]:
    """The answers with calls before event `n`: what each asked for and what came of it, whatever
    the order in it."""
    asked: dict[int, list[tuple[str, ...]]] = {}
    for ask in (a for a in turn.asks if a.exchange.n < n):
        run = ask.execution
        came = _result(run) if run else ("refused" if ask.sent else "")
        call = (ask.use.name, canonical(ask.use.input), came)
        asked.setdefault(id(ask.exchange), []).append(call)
    return [tuple(sorted(calls)) for calls in asked.values()]


def _useless_calls(trace: Trace, turn: Turn, n: int) -> Iterator[int]:
    """How often before event `n` each tool was called with nothing, no object or a part, also in
    one answer, since it was called as it should be: a harmless call of another tool is no progress.
    """
    counts = Counter[str]()
    for exchange in (e for e in turn.main if e.reply is not None and e.n < n):
        calls: dict[bool, list[str]] = {True: [], False: []}
        for use in exchange.reply.tool_uses if exchange.reply else ():
            lacks = is_empty(use.input) and trace.schema(exchange, use.name).get("required")
            is_object = isinstance(use.input, dict | None)
            calls[bool(lacks) or not is_object or _is_cut_off(exchange)].append(use.name)
        for name in calls[False]:
            del counts[name]
        counts.update(calls[True])
        yield from counts.values()


def _is_cut_off(exchange: Exchange) -> bool:
    """Whether an answer with calls ended before it could ask for them to be run."""
    return bool(exchange.reply and exchange.reply.tool_uses) and not calls_tools(exchange)
