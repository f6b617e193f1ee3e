"""Truthfulness: the reports to the user and the model match the events of a turn and its tools.

The facts are the model's last answer before the final message, and a tool's last run before its
result. Some providers have no error flag, so any text that differs from a success counts too. A
broken stream has status 200 but no complete answer, so its calls must not run.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest

from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import (
    CANCEL,
    KILL,
    KILL_BETWEEN,
    LIMIT,
    REFUSED_WRITE,
    Case,
    is_killed_between,
)
from harness.checks.evidence.misplaced_results import error_words, lack_of_error, with_error_of
from harness.checks.evidence.shown_text import is_silent
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.told_results import answered_runs, call_of, says_success
from harness.checks.evidence.tool_inputs import kept_as_run
from harness.checks.evidence.turn_outcomes import (
    TELLING,
    claimed,
    ending_calls,
    ends_with_calls,
    expected,
    in_vain,
    is_resent,
    is_taken,
    lacks_its_call,
    needs_no_model,
    wrong,
)
from harness.core.history.exchanges import Exchange, Execution, Sending
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn, children
from harness.core.values.messages import Message, ToolResult, canonical, side
from harness.core.values.plans import Kill, Sent
from harness.core.values.verdict import Finding
from harness.core.values.visible_text import SHOWN, abridged


@needs("model", "outbox", told_by="run", place=420)
def truthful_outcome(history: History) -> Iterator[Finding]:
    """A turn that is reported as a success has a complete answer of the model.

    Findings: `empty` text; `no_answer` of the model; last answer `failed`, `incomplete`, `refused`,
    `truncated`, `unfinished` (it asked for a tool), `lost_call` (it stopped for a tool, and names
    none); or `synthetic` (an error as an answer, without a token count). `dropped`: the last answer
    asks for tools although its stop reason says that the turn is over, and no call runs.
    `without_tools`: the last answer is that of a request without tools, which replaced a failed
    request with tools. `exit_code`: the target exits with status 0 and without a report after a
    failed answer. `unfounded`: "Done." for an empty answer.

    Not a finding: what the program itself answers, such as a command (`/model x`), a blank message,
    or by the status `command`; what follows a limit of the harness. Source: invariant 33.
    """
    trace = history.trace
    for turn in trace.turns.values():
        for sending in turn.sendings:
            if sending.request.kind == "final" and claimed(sending) == "completed":
                yield from _untrue(trace, turn, sending)
    yield from _exit_status(trace)


def _untrue(trace: Trace, turn: Turn, sending: Sending) -> Iterator[Finding]:
    answered = [e for e in turn.main if e.answered and e.answered.n < sending.n]
    last = answered[-1] if answered else None
    events = (last.n, sending.n) if last else (sending.n,)
    said = sending.request.text.strip()
    if not said and not is_silent(trace, turn):
        yield _finding("empty", turn, "the reply is empty", events)
    if last is None and not (needs_no_model(turn) or is_resent(turn)):
        yield _finding("no_answer", turn, "the model answered nothing in it", events)
    elif (
        last
        and (rule := wrong(last))
        and not (rule == "unfinished" and ending_calls(trace, turn, last, sending.n))
    ):
        is_ = _unrun(turn, last) if rule == "unfinished" else f"is {rule}"
        rule = "lost_call" if rule == "unfinished" and lacks_its_call(last) else rule
        reads = f"; the user reads {canonical(abridged(said, SHOWN))}" if said else ""
        text = f"the last answer of the model ({last.called.key}) {is_}{reads}"
        yield _finding(rule, turn, text, events)
    elif last and _drops_calls(trace, turn, last, sending):
        yield _finding("dropped", turn, f"the calls in {last.called.key} are dropped", events)
    elif last and _lost_its_tools(answered):
        text = f"{last.called.key} offers no tools, after a failed request that offered them"
        yield _finding("without_tools", turn, text, events)
    elif last and said and in_vain(last) == "empty" and not turn.executions and says_success(said):
        text = f"{last.called.key} is empty, no tool ran, and the user reads {said!r}"
        yield _finding("unfounded", turn, text, events)


def _unrun(turn: Turn, last: Exchange) -> str:
    """What an answer waits for that does not end the turn: its calls, or another request."""
    asks = [a for a in turn.asks if a.exchange is last and a.execution is None and a.sent is None]
    names = ", ".join(dict.fromkeys(a.use.name for a in asks))
    return f"asks for {names}, which never ran" if asks else f"is unfinished ({last.stop})"


def _drops_calls(trace: Trace, turn: Turn, last: Exchange, sending: Sending) -> bool:
    """Whether no call of an answer that is told as the end of the turn was run or answered."""
    if not ends_with_calls(last) or ending_calls(trace, turn, last, sending.n):
        return False
    asks = [ask for ask in turn.asks if ask.exchange is last]
    offered = trace.schemas.get(last.request.tools, {})
    return all(a.execution is None and a.sent is None and a.use.name in offered for a in asks)


def _lost_its_tools(answered: list[Exchange]) -> bool:
    """Whether the newest answer replaces one that failed with tools on offer. An answer that a
    breaker asks for without tools follows a good one; a smaller request may leave tools out."""
    if len(answered) < 2 or answered[-1].request.tools_offered:
        return False
    replaced = answered[-2]
    return replaced.request.tools_offered and not replaced.succeeded and not replaced.too_large


def _finding(rule: str, turn: Turn, why: str, events: tuple[int, ...]) -> Finding:
    text = f"{turn.words} ends as a success, but {why}"
    return Finding(f"truthful_outcome.{rule}", text, events)


def _exit_status(trace: Trace) -> Iterator[Finding]:
    ended = trace.ended
    main = [e for e in trace.exchanges if e.purpose == "main" and not trace.sendings]
    if ended and ended.exit_code == 0 and main and (rule := wrong(main[-1])):
        text = f"exit status 0 without a report, but the last answer of the model is {rule}"
        yield Finding("truthful_outcome.exit_code", text, (main[-1].n, ended.n))


@needs("model", "tool", told_by="run", place=320)
@excused_by(reworded=(CANCEL, KILL_BETWEEN, REFUSED_WRITE))
def error_visible(history: History) -> Iterator[Finding | Case]:
    """The model learns of each failed tool, and the user is not told that the tool worked.

    `hidden`: a tool raised, timed out, or answered with an error or an error status, and the model
    reads a success. The result has no error flag. Its text is empty, or `OK`, `null` or `no
    results`, or a text that the agent sends for another call. `reworded`: nothing of the tool's
    error stands in the result, with an error flag or without one; or one alone of its lines; or its
    beginning alone, cut in the middle of a sentence.
    `claimed`: a tool of the turn failed and did not succeed later, and the user is told that it
    worked. The final reports a success, with words that the scenario forbids (`must_not.say`).

    Not a finding: a tool that failed and was tried again before its result was sent; other words,
    in any language, that hold a part of the tool's error; any words about a tool that gave none; a
    successful tool result with words about errors; a reply that reports the failure.

    A 404 with an empty body looked like a success to the model, which requested it 172 times
    (HKUDS/nanobot#2298). To fix it, flag the result of each failed call and describe the failure.
    Tell the user only what a result shows. Source: invariant 24.
    """
    successes = _successes(history)
    for ran in answered_runs(history.trace):
        last = ran[-1]
        sent = last.ask.sent if last.ask else None
        if sent is None or not last.failed or last.ask is None or last.answered is None:
            continue
        said, sent_n = f"{last.called.key}: {last.request.name} failed, and its", last.ask.sent_n
        equal_n = _reads_as_success(sent, last, successes)
        if equal_n is not None:
            events = (last.n, sent_n, equal_n) if equal_n > sent_n else (last.n, sent_n)
            yield Finding("error_visible.hidden", f"{said} result reads like a success", events)
        # What a request showed stays true when a later success has the same text.
        is_hidden = equal_n is not None and equal_n <= sent_n
        if not is_hidden and (lack := lack_of_error(sent, last)):
            other = with_error_of(history.trace, last.ask, "")
            instead = f", and that of {call_of(other)}" if other else ""
            text = f"{said} result holds {lack}{instead}"
            finding = Finding("error_visible.reworded", text, (last.n, sent_n))
            called = last.ask.exchange.called
            turn = history.trace.turns.get((called.session, called.turn))
            yield Case("reworded", [finding], turn, sent_n, last.answered.n) if turn else finding
    words = [words.casefold() for words in expected(history).must_not.say]
    for turn in history.trace.turns.values() if words else ():
        yield from _claims(turn, words)


def _successes(history: History) -> dict[str, int]:
    """The results of calls that succeeded, with the event of the first request that holds each.

    What an agent sends of a call whose result a kill took from it does not count: it says the same
    of a call that never ended. So it does of one whose answer came too late. Nor does a text count
    in which the results of several calls stand together, as an agent writes that sends results as
    text.
    """
    found: dict[str, int] = {}
    runs = list(answered_runs(history.trace))
    is_text = history.trace.profile.results == "text"
    together = Counter(ran[-1].ask.sent_n for ran in runs if ran[-1].ask and is_text)
    for ran in runs:
        ask, answered = ran[-1].ask, ran[-1].answered
        if ask is None or ask.sent is None or answered is None:
            continue
        is_lost = ran[-1].given_up or is_killed_between(history.trace, answered.n, ask.sent_n)
        is_shared = together[ask.sent_n] > 1
        if not (ran[-1].failed or ask.sent.is_error or is_lost or is_shared):
            for text in (squeeze(ask.sent.text), squeeze(ran[-1].text)):
                found[text] = min(ask.sent_n, found.get(text, ask.sent_n))
    return found


def _reads_as_success(sent: ToolResult, run: Execution, successes: dict[str, int]) -> int | None:
    """The event at which the result of a failed call is known to read like a success; 0 for an
    empty one and for plain words, and None for no such event.

    An agent may tell of a failure in any language, so no words decide but those of a success.
    """
    if sent.is_error:
        return None
    said, words = squeeze(sent.text), error_words(run)
    if not said or (says_success(sent.text) and not (words and says_success(words))):
        return 0
    return successes.get(said)


def _claims(turn: Turn, words: list[str]) -> Iterator[Finding]:
    """Yield the finals that claim the success of a failed tool."""
    failed: dict[str, Execution] = {}
    executions = iter([*turn.executions, None])
    run = next(executions)
    for sending in turn.endings:
        while run is not None and run.n < sending.n:
            if run.failed:
                failed[run.request.name] = run
            else:
                failed.pop(run.request.name, None)
            run = next(executions)
        said = sending.request.text.casefold()
        if failed and claimed(sending) == "completed" and any(w in said for w in words):
            name, last = next(iter(failed.items()))
            text = f"{turn.words} ends as a success, and {name} failed"
            yield Finding("error_visible.claimed", text, (last.n, sending.n))


_CODE = "stream_error_handled"
_REPLACED = "\ufffd"
_ORDERLY = ("next", "returned", "crashed")
_HALF = re.compile(r"[\ud800-\udfff]|\\ud[89a-f][0-9a-f]{2}")
"""Half of a character, which U+FFFD may replace; a history that was read from a file escapes it."""


@needs("model", told_by="run", place=330)
@excused_by(stored=(CANCEL,), told=(CANCEL, KILL, LIMIT))
def stream_error_handled(history: History) -> Iterator[Finding | Case]:
    """An answer that breaks off is not run or kept; the agent retries or reports the failure.

    Four rules are about a main answer with a good status that ends with an error event, or before
    its terminal event. `executed`: a tool runs for a call in it. `stored`: a row holds its partial
    text, and no row says that it broke off, or its call with the result of one that ran.
    `passed_off`: it is delivered as the reply of a successful turn. `silent`: the model is not
    called again in the turn, and the user is told nothing. `chunks`: the final has replacement
    characters that its whole answer has not, as its chunks were decoded one by one.

    Not a finding: a partial answer that is stored with a mark, or reported as partial; a partial
    answer that was streamed to the user and then replaced by a reply or an error; an answer that a
    kill or a cancel cut off; a sub-agent that tells the user nothing, because `child_result` asks
    whether its parent is told; replacement characters that the model wrote.

    An overloaded provider sent an error event after its status 200, and neither retry nor fallback
    saw it (BerriAI/litellm#6532). To fix it, accept an answer only after its terminal event.
    Source: invariant 25, with chunking_neutral.
    """
    trace = history.trace
    family = children(trace)
    for run in trace.executions:
        if run.ask is not None and _is_broken(run.ask.exchange):
            text = f"{run.called.key}: {run.request.name} runs for an answer that broke off"
            yield Finding(f"{_CODE}.executed", text, (run.ask.exchange.n, run.n))
    for turn in trace.turns.values():
        main = turn.main
        for exchange, after in zip_longest(main, main[1:]):
            if _is_broken(exchange):
                yield Case("stored", _kept(trace, turn, exchange, after), turn)
                if turn.session not in family:  # a child tells its parent: `child_result.untold`
                    yield Case("told", _ended(trace, turn, exchange, after), turn)
            elif exchange.succeeded:
                yield from _decoded(turn, exchange, after)


def _is_broken(exchange: Exchange) -> bool:
    """Whether only a part of an answer arrived, for another reason than a kill of the agent."""
    a = exchange.answered
    if a is None or not exchange.is_cut or not a.blocks or (a.status or 200) >= 400:
        return False
    kinds = set(map(type, a.steps))
    return exchange.purpose == "main" and Sent in kinds and Kill not in kinds


def _kept(trace: Trace, turn: Turn, broken: Exchange, after: Exchange | None) -> Iterator[Finding]:
    """Yield the partial answer as a row, up to the next answer or the turn's end, if no row marks
    it."""
    assert broken.answered is not None
    until = turn.settled_n
    if after is not None:
        until = after.answered.n if after.answered else 0
    rows = list(_rows(trace, turn.session, broken.answered.n, until))
    said = squeeze(broken.reply.text) if broken.reply else ""
    told = {squeeze(e.reply.text) for e in turn.main if e.n < broken.n and e.reply and e.succeeded}
    parts = [n for n, row in rows if _is_part(row, said) and squeeze(row.text) not in told]
    if parts and all(_is_part(row, said) or not row.text.strip() for _, row in rows):
        text = f"a part of {broken.called.key} is stored as an answer, and it broke off"
        yield Finding(f"{_CODE}.stored", text, (broken.n, parts[0]))
    if broken.reply and (kept := kept_as_run(broken.reply, rows)):
        text = f"a call of {broken.called.key}, which broke off, is stored with a result: {kept[1]}"
        yield Finding(f"{_CODE}.stored", text, (broken.n, kept[0]))


def _rows(trace: Trace, session: str, after_n: int, until_n: int) -> Iterator[tuple[int, Message]]:
    """The rows that a session stored between two events."""
    stored = trace.stored
    for place in range(bisect_left(stored, after_n, key=lambda s: s.n), len(stored)):
        event = stored[place]
        if event.n > until_n:
            return
        if event.session in ("", session):
            for row in event.added:
                if row.session in ("", session):
                    yield event.n, trace.messages.get(row.digest, Message("user"))


def _is_part(row: Message, said: str) -> bool:
    text = squeeze(row.text)
    return side(row) == "assistant" and bool(text) and said.startswith(text)


def _ended(trace: Trace, turn: Turn, broken: Exchange, after: Exchange | None) -> Iterator[Finding]:
    """Judge the messages to the user before the model is called again, if it is.

    Without an outbox, the harness does not see messages to the user: the code under test may raise
    an exception.
    """
    told = [s for s in turn.sendings if s.n > broken.n and _tells(s)]
    later = [s for s in told if after is None or s.n < after.n]
    is_seen = "outbox" in trace.seams
    if is_seen and after is None and not later and turn.settled_by in _ORDERLY:
        text = f"{broken.called.key} broke off, was not retried, and the user is told nothing"
        yield Finding(f"{_CODE}.silent", text, (broken.n, turn.settled_n))
    said = squeeze(broken.reply.text) if broken.reply else ""
    for sending in later:
        part = squeeze(sending.request.text)
        whole = sending.request.kind == "final" and claimed(sending) == "completed"
        if whole and part and said.startswith(part):
            text = f"a part of {broken.called.key} is delivered as a reply, and it broke off"
            yield Finding(f"{_CODE}.passed_off", text, (broken.n, sending.n))


def _tells(sending: Sending) -> bool:
    return sending.request.kind in TELLING and is_taken(sending)


def _decoded(turn: Turn, whole: Exchange, after: Exchange | None) -> Iterator[Finding]:
    """Yield the final after a complete answer, if it lost characters of that answer."""
    said = whole.reply.text if whole.reply else ""
    if not said.strip() or said.isascii() or _REPLACED in said or _HALF.search(said):
        return
    for sending in turn.endings:
        last = whole.n < sending.n and (after is None or sending.n < after.n)
        if last and _REPLACED in sending.request.text:
            text = f"{whole.called.key} came whole, and the reply has lost characters of it"
            yield Finding(f"{_CODE}.chunks", text, (whole.n, sending.n))
