"""What a breaker may count as a repetition: equal or similar calls, results, failures, messages.

`no_false_stop` reads it in the agent's favour; `tool_steps` decides strictly what must be stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator

from harness.checks.evidence.tool_steps import PERIODS, steps
from harness.checks.evidence.turn_outcomes import calls_tools, is_empty
from harness.core.history.exchanges import Ask, Exchange, Execution
from harness.core.history.repetition import cycles, equal_runs, without_marks
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import canonical


def repeats_before(trace: Trace, turn: Turn, n: int, repeats: int) -> bool:
    """Whether anything repeated `repeats` times before event `n`, exactly or loosely.

    A breaker may count any of these. One tool has one result, with any input. Failures follow each
    other with any text, of all tools or of one tool, and other calls between them do not count. A
    call that cannot be run counts as a failure. A call has the same result as before. Calls or
    whole messages form a cycle, run or not. Inputs are empty, or calls are cut off.
    """
    done = [e for e in steps(turn, id, 0) if e.answered and e.answered.n < n]
    for some in (done, _without_known(done)):
        if any(_is_equal(part, repeats, n) for part in (some, *_by_tool(some))):
            return True
    for keys in ([(*e.identity, _result(e)) for e in done], _messages(turn, n)):
        if any(equal_runs(keys, repeats)):
            return True
        if any(any(cycles(keys, period, repeats)) for period in PERIODS):
            return True
    cut_off = [_is_cut_off(e) or None for e in turn.main if e.n < n]
    if any(equal_runs(cut_off, repeats)):
        return True
    asked = [ask for ask in turn.asks if ask.exchange.n < n]
    for each in (
        [_is_in_vain(trace, ask, n) or None for ask in asked],
        [_answered(trace, ask, n) for ask in asked],
    ):
        if any(equal_runs(each, repeats)):
            return True
    unknown = _unknown_calls(trace, turn, n)
    return any(count >= repeats for count in (*unknown, *_useless_calls(trace, turn, n)))


def _is_in_vain(trace: Trace, ask: Ask, n: int) -> bool:
    """Whether a call failed, was told as an error, or was not run because it cannot be: a breaker
    may count all of these as failures in a row."""
    if ask.execution is not None:
        return ask.execution.failed or _is_told_as_error(ask.execution, n)
    given, required = ask.use.input, trace.schema(ask.exchange, ask.use.name).get("required") or ()
    is_known = ask.use.name in trace.settings.get("tools", {})
    return not (is_known and isinstance(given, dict) and set(required) <= set(given))


def _answered(trace: Trace, ask: Ask, n: int) -> Hashable | None:
    """A call of the agent's own tool with the result that the model reads: the run is not seen."""
    is_own = ask.refused and ask.sent_n <= n and not trace.takes_tools
    return (ask.use.name, canonical(ask.use.input), ask.sent.text) if is_own and ask.sent else None


def _unknown_calls(trace: Trace, turn: Turn, n: int) -> Iterable[int]:
    """Count the calls of each unknown tool before event `n`, also within one answer."""
    known = trace.settings.get("tools", {})
    return Counter(
        ask.use.name for ask in turn.asks if ask.exchange.n < n and ask.use.name not in known
    ).values()


def _without_known(done: list[Execution]) -> list[Execution]:
    """The executions without successes whose result occurred before."""
    seen: set[Hashable] = set()
    news = []
    for execution in done:
        if execution.failed or execution.triple not in seen:
            news.append(execution)
        seen.add(execution.triple)
    return news


def _by_tool(done: list[Execution]) -> Iterator[list[Execution]]:
    """Group the executions by tool."""
    for name in dict.fromkeys(e.request.name for e in done):
        yield [e for e in done if e.request.name == name]


def _is_equal(done: list[Execution], repeats: int, n: int) -> bool:
    """Whether `repeats` executions in a row have one result, or failed."""
    loosely: tuple[Callable[[Execution], Hashable | None], ...] = (
        lambda e: (e.request.name, _result(e)),
        lambda e: _read(e, n),
        lambda e: (e.request.name, without_marks(_result(e))) if _result(e) else None,
        lambda e: True if e.failed or _is_told_as_error(e, n) else None,
    )
    return any(any(equal_runs([key(e) for e in done], repeats)) for key in loosely)


def _result(execution: Execution) -> str:
    """The result of a call. All empty results are equal, and all with the same words, in any form:
    a tool may give one text now as a string and now as a block."""
    value = execution.answered.value if execution.answered else None
    content = value.get("content") if isinstance(value, dict) else value
    parts = content if isinstance(content, list | tuple) else ()
    has_words = content is not None and bool(execution.text.strip())
    says = execution.failed or has_words or any("text" not in part for part in parts)
    if not says or not execution.triple[2] or not (isinstance(content, str) or parts):
        return execution.triple[2] if says else ""
    has_more = any("text" not in part for part in parts)
    return execution.triple[2] if has_more else f"{execution.failed} {execution.text}"


def _read(execution: Execution, n: int) -> Hashable | None:
    """The tool, with the text that the model had read of its call by event `n`."""
    ask = execution.ask
    text = ask.sent.text if ask is not None and ask.sent and _is_sent(ask, n) else ""
    return (execution.request.name, text) if text.strip() else None


def _is_told_as_error(execution: Execution, n: int) -> bool:
    """Whether the model had learned of a failure by event `n`, for example of an answer that came
    too late."""
    ask = execution.ask
    return ask is not None and _is_sent(ask, n) and bool(ask.sent and ask.sent.is_error)


def _is_sent(ask: Ask, n: int) -> bool:
    """Whether the model had a result of the call by event `n`; a later one shows no repetition."""
    return ask.sent is not None and ask.sent_n <= n


def _messages(turn: Turn, n: int) -> list[Hashable]:
    """The calls and results of each answer before event `n`, without regard to their order within
    the answer."""
    asked: dict[int, list[tuple[str, ...]]] = {}
    for ask in (a for a in turn.asks if a.exchange.n < n):
        run = ask.execution
        came = _result(run) if run else ("refused" if _is_sent(ask, n) else "")
        call = (ask.use.name, canonical(ask.use.input), came)
        asked.setdefault(id(ask.exchange), []).append(call)
    return [tuple(sorted(calls)) for calls in asked.values()]


def _useless_calls(trace: Trace, turn: Turn, n: int) -> Iterator[int]:
    """Count, for each tool, the calls before event `n` with an empty, incomplete or non-object
    input, since its last proper call. Calls in one answer count too. A call of another tool is not
    progress.
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
    """Whether an answer with calls ended before its stop reason asked to run them."""
    return bool(exchange.reply and exchange.reply.tool_uses) and not calls_tools(exchange)
