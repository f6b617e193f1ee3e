"""Truthfulness: what the user and the model are told of a turn and of its tools is what happened.

The agent's word is the status of its final message; the facts are the model's last answer before
it. And a tool's failure can be seen: by the model in the result, by the user in the reply. A wire
may have no flag for an error, so the text counts as much: it says so in words, or hands on what
the tool said. What counts is the last run before the result was sent, for a tool may be tried
again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.checks.declarations import needs
from harness.checks.evidence.message_lists import squeeze
from harness.checks.evidence.model_answers import wrong
from harness.checks.evidence.outcomes import claimed, expected
from harness.core.history.exchanges import Execution, Sending
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import ToolResult
from harness.core.values.verdict import Finding


@needs("model", "outbox", told_by="run")
def truthful_outcome(history: History) -> Iterator[Finding]:
    """A turn that ends as a success was one: a whole answer of the model, ended in order.

    Findings: `empty` text, `no_answer` of the model, `limit` met, last answer `failed`,
    `incomplete`, `refused`, `truncated`, `unfinished` (it asked for a tool), or `synthetic` (an
    error in the clothes of an answer, for which no token was counted). `exit_code`: exit
    status 0 of a target that said nothing after a failed answer. Source: invariant 33.
    """
    trace = history.trace
    for turn in trace.turns.values():
        for sending in turn.sendings:
            if sending.request.kind == "final" and claimed(sending) == "completed":
                yield from _untrue(turn, sending)
    yield from _exit_status(trace)


def _untrue(turn: Turn, sending: Sending) -> Iterator[Finding]:
    limits = [a.n for a in turn.limits if a.n < sending.n]
    answered = [e for e in turn.main if e.answered and e.answered.n < sending.n]
    last = answered[-1] if answered else None
    events = (last.n, sending.n) if last else (sending.n,)
    if not sending.request.text.strip():
        yield _finding("empty", "the reply is empty", events)
    if limits:
        yield _finding("limit", "a limit was met in the turn", (limits[0], sending.n))
    elif last is None:
        yield _finding("no_answer", "the model answered nothing in the turn", events)
    elif rule := wrong(last):
        yield _finding(rule, f"the last answer of the model ({last.called.key}) is {rule}", events)


def _finding(rule: str, why: str, events: tuple[int, ...]) -> Finding:
    return Finding(f"truthful_outcome.{rule}", f"a turn ends as a success, but {why}", events)


def _exit_status(trace: Trace) -> Iterator[Finding]:
    ended = trace.ended
    main = [e for e in trace.exchanges if e.purpose == "main"]
    if ended is None or ended.exit_code != 0 or trace.sendings or not main:
        return
    if rule := wrong(main[-1]):
        text = f"exit status 0 and no word, but the last answer of the model is {rule}"
        yield Finding("truthful_outcome.exit_code", text, (main[-1].n, ended.n))


_BEGINNING = 20
"""So many characters of a tool's error stand in its result, even if an agent cuts it short."""

_SAYS_SO = re.compile(
    r"err(or|no)|fail|exception|traceback|tim(ed|e)[ -]?out|unknown|interrupt|refus|denied|reject"
    r"|invalid|could ?n[o']t|can(not|'t| not)|unable|unavailable|abort|cancel|crash|broken|broke "
    r"|\blost\b|too late|did ?n[o']t|not (run|found|done|available|allowed|finish|answer|complete)"
    r"|(exit|status)[ _]?(code|status)?\W{0,3}[1-9]|\"(ok|success)\"\W{1,3}false",
    re.IGNORECASE,
)
"""Words by which a result says that its call did not succeed."""


@needs("model", "tool", told_by="run")
def error_visible(history: History) -> Iterator[Finding]:
    """When a tool failed, the model is told so, and the user is not told that it worked.

    `hidden`: a tool raised, ran out of time, or answered with an error or an error status, and the
    result that the model is sent is not flagged as an error, says nothing of one, and does not hold
    what the tool said. `claimed`: a tool of the turn failed and did not succeed later, and the
    final that ends the turn as a success says words that the scenario forbids (`must_not.say`).
    Not meant: a tool that failed and was tried again before its result was sent; a wire without a
    flag, where the text says it; a tool that answers in order with words about errors; a reply
    that tells of the failure. A 404 with an empty body looked like a success to the model, which
    asked for it 172 times (HKUDS/nanobot#2298). An agent mends it by giving each failed call a
    result that is flagged and says what happened, and by telling the user only what a result shows.
    Source: invariant 24.
    """
    for ran in _runs(history):
        last = ran[-1]
        sent = last.ask.sent if last.ask else None
        if sent is not None and last.failed and not _is_visible(sent, last):
            assert last.ask is not None
            text = f"{last.called.key}: {last.request.name} failed, and its result does not say so"
            yield Finding("error_visible.hidden", text, (last.n, last.ask.sent_n))
    words = [words.casefold() for words in expected(history).must_not.say]
    for turn in history.trace.turns.values() if words else ():
        yield from _claims(turn, words)


def _runs(history: History) -> Iterator[list[Execution]]:
    """The answered runs of each call, up to the moment at which its result was sent."""
    runs: dict[int, list[Execution]] = {}
    for run in history.trace.executions:
        if run.ask and run.answered and run.answered.n < run.ask.sent_n:
            runs.setdefault(id(run.ask), []).append(run)
    yield from runs.values()


def _is_visible(sent: ToolResult, run: Execution) -> bool:
    own = squeeze(run.text)[:_BEGINNING]
    said = bool(own) and own in squeeze(sent.text)
    return sent.is_error or said or _SAYS_SO.search(sent.text) is not None


def _claims(turn: Turn, words: list[str]) -> Iterator[Finding]:
    """Finals that claim what the turn's tools did not do."""
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
            text = f"turn {turn.number} of {turn.session} ends as a success, and {name} failed"
            yield Finding("error_visible.claimed", text, (last.n, sending.n))
