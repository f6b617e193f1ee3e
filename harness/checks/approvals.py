"""Whether what runs is what the user allowed, and whether the model learns what the user decided.

The question shows a call with its input; the answer names the call, and may change the input. Only
this file compares the two with what ran.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.declarations import needs
from harness.checks.evidence.tool_inputs import same_input
from harness.checks.evidence.turn_outcomes import plain
from harness.core.history.exchanges import Ask, Exchange, Execution, Question
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.calls import Approval
from harness.core.values.carried_text import lost_parts
from harness.core.values.finding_key import Cause
from harness.core.values.messages import Json, canonical
from harness.core.values.verdict import Finding


@needs("model", "tool", told_by="run", place=297)
def approval(history: History) -> Iterator[Finding]:
    """What runs is what the user allowed, with the input that was shown or edited.

    `denied`: a call runs that the user denied, or did not answer in time. `input`: it runs with
    another input than was allowed. `another`: it runs after an answer that names another call.
    `not_asked`: a call of a tool that needs an approval runs without a question, by an agent that
    asks for others. `untold`: the request with the call's result lacks the user's reason for a
    denial, or a value that the user changed.

    Not a finding: a call of a tool that the user has always allowed in the session; the same call
    that is asked about again; a value that is converted as the schema of the tool says. Runs of one
    call beyond the first are those of `effect_once`. To fix it, keep an answer under the id of its
    call, and take the input from it. Source: extra-org/extra#139, pydantic/pydantic-ai#3274.
    """
    trace = history.trace
    asked: dict[tuple[str, str], list[Question]] = {}
    for question in trace.questions:
        asked.setdefault(question.key, []).append(question)
    for run in trace.executions if trace.questions else ():
        names = {run.request.id, run.ask.use.id if run.ask else ""}
        before = [q for name in names for q in asked.get((run.called.session, name), ())]
        yield from _judged(trace, run, [q for q in before if q.n < run.n])
    requests = {exchange.n: exchange for exchange in trace.exchanges if trace.questions}
    for ask in trace.asks if trace.questions else ():
        if request := requests.get(ask.sent_n):
            before = asked.get((ask.exchange.called.session, ask.use.id), [])
            yield from _untold(trace, ask, request, before)


def _judged(trace: Trace, run: Execution, before: list[Question]) -> Iterator[Finding]:
    name = run.request.name
    said = f"{run.called.key}: {name} runs"
    if not before:
        gated = name in trace.settings.get("gated", ())
        if gated and not _is_always_allowed(trace, run):
            first = trace.questions[0].n
            events = (min(first, run.n), max(first, run.n))
            yield _finding("not_asked", f"{said}, and the user was not asked", events, name)
        return
    last, answer = before[-1], before[-1].approval
    events = (last.n, run.n)
    if answer is None or _is_always_allowed(trace, run):
        return
    if answer.answer != "allow":
        word = "denied it" if answer.answer == "deny" else "did not answer in time"
        yield _finding("denied", f"{said}, and the user {word}", events, name)
    elif answer.id != last.request.id:
        yield _finding("another", f"{said} by an answer about another call", events, name)
    elif not _is_allowed(trace, run, answer):
        text = f"{said} with another input than the user allowed"
        yield _finding("input", text, events, name)


def _finding(rule: str, text: str, events: tuple[int, ...], tool: str) -> Finding:
    return Finding(f"approval.{rule}", text, events, cause=Cause(tool=tool))


def _is_always_allowed(trace: Trace, run: Execution) -> bool:
    """Whether the user has allowed each call of the tool in the session before."""
    asked = (q for q in trace.questions if q.n < run.n and q.called.session == run.called.session)
    said = (q.approval for q in asked if q.request.name == run.request.name)
    return any(answer is not None and answer.always for answer in said)


def _is_allowed(trace: Trace, run: Execution, answer: Approval) -> bool:
    ran, allowed = plain(run.request.input), plain(answer.input)
    schema = trace.schema(run.ask.exchange if run.ask else None, run.request.name)
    return canonical(ran) == canonical(allowed) or same_input(allowed, ran, schema)


def _untold(
    trace: Trace, ask: Ask, request: Exchange, questions: list[Question]
) -> Iterator[Finding]:
    """Yield a call whose result tells the model nothing of the user's reason or of the edit."""
    decided = [q for q in questions if q.approval and q.approval.id == q.request.id]
    answer = decided[-1].approval if decided else None
    if answer is None or request.request.unread or decided[-1].n > request.n:
        return
    if ask.execution is not None and not _is_allowed(trace, ask.execution, answer):
        return  # what ran is wrong already
    denied = [answer.reason] if answer.reason and answer.answer == "deny" else []
    edited = _changed(decided[-1].request.input, answer.input) if answer.answer == "allow" else []
    text = _told(request)
    if lost := [word for word in (*denied, *edited) if lost_parts(word, text) and word not in text]:
        what = "denied it" if denied else "changed its input"
        said = f"{request.called.key}: the user {what}, and the model reads nothing of"
        events = (decided[-1].n, request.n)
        yield _finding("untold", f"{said} {canonical(lost[0])}", events, ask.use.name)


def _changed(shown: Json, allowed: Json) -> list[str]:
    """The values of an input that the user has changed, as text."""
    if not isinstance(shown, dict) or not isinstance(allowed, dict):
        return []
    changed = (v for key, v in allowed.items() if canonical(shown.get(key)) != canonical(v))
    return [value if isinstance(value, str) else canonical(value) for value in changed]


def _told(request: Exchange) -> str:
    """The words of a request: of the user, of results, and the inputs of calls."""
    found: list[str] = []
    for node in request.added:
        found += [node.message.text, *(result.text for result in node.message.tool_results)]
        found += [canonical(use.input) for use in node.message.tool_uses]
    return "\n".join(found)
