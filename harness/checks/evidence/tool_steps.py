"""The steps of a turn that the model could learn about.

Calls are in the order of their results, so a longer history only appends. Equal calls of one
message count once. A call that did not run is a step if the agent answered it.

A file's `max` counts the calls of an agent that stops after three equal steps. `no_progress_stop`
allows one changed try after them, and a profile may set other numbers. Those win: one run must not
be right by one rule and wrong by another. So some steps are not counted.

`repeats_before` decides in the agent's favour, whether a breaker may count a repetition.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

from harness.checks.evidence.tool_inputs import is_empty
from harness.checks.evidence.turn_outcomes import calls_tools
from harness.core.history.exchanges import Ask, Exchange, Execution
from harness.core.history.repetition import REPEATS, cycles, equal_runs, without_marks
from harness.core.history.trace import Trace, Turn
from harness.core.scenario.scenario import Bounds
from harness.core.values.messages import canonical

_AGAIN = ("again",)
"""The key of a call; calls of one message with equal keys count once."""


class Step(NamedTuple):
    """A call with its result, known from event `at_n` on. `n` is the event of the call; `ran` says
    whether it ran across the tool seam."""

    at_n: int
    n: int
    name: str
    key: Hashable
    ran: bool = True


def sequence(turn: Turn, repeats: int) -> list[Step]:
    """Return the turn's steps in the order in which their results arrived.

    A call that ran before and is refused now is not a step, because the refusal is how an agent
    stops it.
    """
    first_n: dict[tuple[str, str], int] = {}
    for execution in turn.executions:
        first_n.setdefault(execution.identity, execution.n)
    own = [
        Step(ask.sent_n, ask.exchange.n, ask.use.name, call, ran=False)
        for ask in turn.asks
        if ask.refused
        and (call := (ask.use.name, canonical(ask.use.input)))
        and first_n.get(call, ask.sent_n) >= ask.sent_n
    ]
    ran = _ran(turn, repeats)
    return sorted([*ran, *own, *_told_otherwise(turn)], key=lambda step: step.at_n)


def _ran(turn: Turn, repeats: int) -> Iterator[Step]:
    """Yield the calls that ran. A call that counts once with others of its message keeps its place
    between its neighbours."""
    kept = {id(execution) for execution in steps(turn, lambda e: e.triple, repeats)}
    last: Hashable = None
    for execution in _answered(turn):
        key: Hashable = execution.triple if id(execution) in kept else _AGAIN
        is_between = key is _AGAIN and last not in (_AGAIN, execution.triple)
        if (key is not _AGAIN or is_between) and execution.answered:
            last, name = key, execution.request.name
            yield Step(execution.answered.n, execution.n, name, key, key is not _AGAIN)


def _told_otherwise(turn: Turn) -> Iterator[Step]:
    """Yield the steps whose result was reported differently than the tool gave it, for example as
    an error because it was late."""
    last: dict[Hashable, bool] = {}
    for execution in turn.executions:
        sent = execution.ask.sent if execution.ask else None
        if sent is not None and execution.ask:
            if sent.is_error != last.get(execution.triple, sent.is_error):
                name = execution.request.name
                yield Step(execution.ask.sent_n, execution.n, name, ("told", name), ran=False)
            last[execution.triple] = sent.is_error


def steps(turn: Turn, key: Callable[[Execution], Hashable | None], most: int) -> list[Execution]:
    """Return the turn's answered executions; up to `most` equal ones of one message count as one.

    With `most` 0, all equal ones of a message count as one.
    """
    done = _answered(turn)
    batches = [(id(e.ask.exchange) if e.ask else id(e), key(e)) for e in done]
    counts, seen, kept = Counter(batches), set[tuple[int, Hashable]](), list[Execution]()
    for execution, batch in zip(done, batches, strict=True):
        if batch[1] is None or batch not in seen or 0 < most < counts[batch]:
            kept.append(execution)
        seen.add(batch)
    return kept


def changes_at_last(run: list[Execution]) -> bool:
    """Whether all steps of a series are one call, except the last, which is another call."""
    *former, last = [execution.identity for execution in run]
    return len(set(former)) == 1 and last not in former


def _answered(turn: Turn) -> list[Execution]:
    """The turn's executions that were answered, in the order of the answers."""
    done = [execution for execution in turn.executions if execution.answered]
    return sorted(done, key=lambda e: e.answered.n if e.answered else 0)


PERIODS = (2, 3, 4, 5)
"""The lengths of a cycle, in calls or in messages with calls."""


def uncounted_runs(trace: Trace) -> Counter[str]:
    """The runs of each tool beyond `REPEATS` equal ones in a row. A series that is longer than the
    rules allow counts whole."""
    most, found = _repeats(trace), Counter[str]()
    for turn in trace.turns.values():
        for name in dict.fromkeys(e.request.name for e in turn.executions):
            done = [e for e in turn.executions if e.request.name == name]
            for at, length in equal_runs([_like_step(e) for e in done], REPEATS + 1):
                run = done[at : at + length]
                if length <= most + changes_at_last(run):
                    found[name] += length - REPEATS
    return found


def more_rounds(trace: Trace, most: int) -> int:
    """How many calls the profile's number of equal steps allows beyond `most`.

    A scenario counts for agents that stop after `REPEATS` rounds, of one call or of several.
    """
    return most * _repeats(trace) // REPEATS - most if _repeats(trace) > REPEATS else 0


def _repeats(trace: Trace) -> int:
    return int(_number(trace, "no_progress_stop", "repeats", REPEATS))


def uncounted_attempts(trace: Trace) -> int:
    """The attempts of one request after the first, as many as the profile's `attempts` allows."""
    most = int(_number(trace, "retry_budget", "attempts", 1))
    series = (n for turn in trace.turns.values() for n in _attempts(turn))
    return sum(n - 1 for n in series if 1 < n <= most)


def _number(trace: Trace, check: str, setting: str, default: float) -> float:
    value = trace.profile.checks.get(check, {}).get(setting, default)
    return value if isinstance(value, int | float) else default


def _like_step(execution: Execution) -> Hashable:
    """A key that is equal for equal failures of a tool, or for equal calls with equal results."""
    return execution.text if execution.failed else execution.triple


def _attempts(turn: Turn) -> Iterator[int]:
    """Yield the number of attempts of each request up to its success."""
    tried: Counter[tuple[object, ...]] = Counter()
    for exchange in turn.exchanges:
        content = exchange.purpose, *exchange.content
        tried[content] += 1
        if exchange.succeeded:
            yield tried.pop(content)
    yield from tried.values()


def counted(trace: Trace, bounds: Mapping[str, Bounds]) -> Iterator[tuple[str, Bounds]]:
    """Yield the tools whose runs can be counted. Any safe tool of the agent may stand for another
    one of the scenario, and runs unseen."""
    is_bound = bool(trace.profile.safe_tools) and not trace.takes_tools
    for name, each in bounds.items():
        if not is_bound or name in trace.profile.tool_names:
            yield name, each


def runs_of(trace: Trace, name: str) -> list[int]:
    """The numbers of the events at which a tool ran.

    A tool of the agent that the profile binds runs unseen: each result in a request is a run.
    """
    seen = [e.n for e in trace.executions if e.request.name == name]
    if seen or name not in trace.profile.tool_names:
        return seen
    own = trace.profile.agent_name(name)
    replies = (exchange.reply for exchange in trace.exchanges if exchange.reply)
    asked = {use.id for reply in replies for use in reply.tool_uses if use.name == own}
    return [
        exchange.n
        for exchange in trace.exchanges
        for node in exchange.added
        for result in node.message.tool_results
        if result.id in asked
    ]


def is_counted_otherwise(trace: Trace) -> bool:
    """Whether the agent's policy made other turns than one for each message.

    What an author expects of those turns is not asked: calls, replies, the outcome.
    """
    return any(
        turn.joined or (turn.came and trace.profile.inbound_policy(turn.session) == "interrupt")
        for turn in trace.turns.values()
    )


def repeats_before(trace: Trace, turn: Turn, n: int, repeats: int) -> bool:
    """Whether anything repeated `repeats` times before event `n`, exactly or loosely.

    A breaker may count any of these. One tool has one result, with any input. Failures follow each
    other with any text, of all tools or of one tool, and other calls between them do not count. A
    call that cannot be run, or that the user has not allowed, counts as a failure. A call has the
    same result as before. Calls or whole messages form a cycle, run or not. Inputs are empty, or
    calls are cut off.
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
    # A call of an answer that broke off is asked for again, and says nothing of itself.
    asked = [a for a in turn.asks if a.exchange.n < n and (a.exchange.succeeded or a.sent)]
    in_vain: list[bool | None] = [_is_in_vain(trace, ask, n) or None for ask in asked]
    of_tools = defaultdict[str, list[bool | None]](list)
    for ask, is_vain in zip(asked, in_vain, strict=True):
        of_tools[ask.use.name].append(is_vain)
    if any(any(equal_runs(each, repeats)) for each in [in_vain, *of_tools.values()]):
        return True
    if any(equal_runs([_own_result(trace, ask, n) for ask in asked], repeats)):
        return True
    unknown = _unknown_calls(trace, turn, n)
    return any(count >= repeats for count in (*unknown, *_useless_calls(trace, turn, n)))


def _is_in_vain(trace: Trace, ask: Ask, n: int) -> bool:
    """Whether a call failed, was told as an error, or was not run because it cannot be or the user
    has not allowed it: a breaker may count all of these as failures in a row."""
    if ask.execution is not None:
        return ask.execution.failed or _is_told_as_error(ask.execution, n)
    if any(not question.is_allowed for question in ask.questions_before(n)):
        return True
    given, required = ask.use.input, trace.schema(ask.exchange, ask.use.name).get("required") or ()
    is_known = ask.use.name in trace.settings.get("tools", {})
    return not (is_known and isinstance(given, dict) and set(required) <= set(given))


def _own_result(trace: Trace, ask: Ask, n: int) -> Hashable | None:
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


def are_told_apart(exchange: Exchange) -> bool:
    """Whether each call of an answer has its own id. An agent may refuse an answer whose results
    would not find their calls; those of Gemini need no ids."""
    ids = [use.id for use in exchange.reply.tool_uses] if exchange.reply else []
    return exchange.called.provider == "gemini" or (all(ids) and len({*ids}) == len(ids))
