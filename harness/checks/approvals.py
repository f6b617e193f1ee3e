"""Whether what runs is what the user allowed, and whether the model learns what the user decided.

The question shows a call with its input; the answer names the call, and may change the input. Only
this file compares the two with what ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

import msgspec

from harness.checks.evidence.cut_results import is_announced
from harness.checks.evidence.declarations import needs
from harness.checks.evidence.excuses import is_killed_between
from harness.checks.evidence.messages_in_turn import is_answered_before
from harness.checks.evidence.shown_text import replaced_calls
from harness.checks.evidence.tool_inputs import is_as_given
from harness.checks.evidence.turn_outcomes import is_waiting
from harness.core.history.events import Answered
from harness.core.history.exchanges import Ask, Exchange, Execution, Question
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.history.trace_fold import REACTION_MS
from harness.core.values.calls import Approval, Inbound
from harness.core.values.carried_text import lost_parts
from harness.core.values.messages import Json, canonical
from harness.core.values.plans import waited_ms
from harness.core.values.verdict import Cause, Finding


@needs("model", "tool", told_by="run", place=297)
def approval(history: History) -> Iterator[Finding]:
    """What runs is what the user allowed, with the input that was shown or edited.

    `denied`: a call runs that the user denied, or had not answered. `input`: it runs with another
    input than was allowed. `another`: it runs after an answer that names another call, or to a
    reply that shows one. `not_asked`: a call that needs an approval runs without a question. The
    agent asks for others, or its profile has the capability `approvals`. `untold`: the request with
    the call's result lacks the user's reason for a denial, or a value that the user changed; or the
    result of a denied call is empty, or tells of a denial that the user did not give.
    `stopped`: the user stops the turn while its question is open and allows the call afterwards.
    The call runs, in a later turn or before a look for a stop. `again`: a call that is allowed or
    denied is asked about again at once.

    Not a finding: a call of a tool that the user has always allowed in the session; a call that the
    model makes again after a denial; a second question after a wait or a start; a value that is
    converted as the schema of the tool says; a denial of a call whose turn was stopped before it,
    or that came as the agent was killed; another input that the model gave once it had read the
    user's answer. Runs of one call beyond the first are those of `effect_once`. To fix it, keep an
    answer under the id of its call, and take the input from it.
    Source: extra-org/extra#139, pydantic/pydantic-ai#3274.
    """
    trace = history.trace
    yield from _asked_about_another(trace)
    asks = bool(trace.questions)
    if not (asks or trace.profile.declares("approvals")):
        return
    always: _Always = {}
    for question in trace.questions:
        if question.approval and question.approval.always:
            always.setdefault((question.called.session, question.request.name), question)
    for run in trace.executions:
        since = always.get((run.called.session, run.request.name))
        if since is None or not (since.n < run.n and since.answer_at(run.called.at_ms)):
            yield from _judged(trace, run)
    requests = {exchange.n: exchange for exchange in trace.exchanges if asks}
    for ask in trace.asks:
        yield from _asked_again(trace, ask)
        yield from _untrue_denial(trace, ask)
        if ask.questions and (request := requests.get(ask.sent_n)):
            yield from _untold(trace, ask, request)


_Always: TypeAlias = dict[tuple[str, str], Question]
"""The question after which the user always allows a tool, by session and tool."""


def _asked_about_another(trace: Trace) -> Iterator[Finding]:
    for found in replaced_calls(trace):
        run = found.run
        text = f"{run.called.key}: {run.request.name} runs with another input than the reply showed"
        events = (found.sending.n, found.delivery.n, run.n)
        yield _finding(
            "another", f"{text}, and the model had not read the answer", events, run.request.name
        )


def _asked_again(trace: Trace, ask: Ask) -> Iterator[Finding]:
    """Yield a second question about a call that is decided. An agent may have given up a wait for
    the first answer, so only one that came at once counts."""
    for first, later in pairwise(ask.questions):
        answered, killed = first.answered, any(first.n < n < later.n for n in trace.kills)
        if answered is None or answered.outcome != "ok" or waited_ms(answered.steps) or killed:
            continue
        same = first.called.turn == later.called.turn
        word = "allowed" if first.is_allowed else "denied" if _is_denied(first) else ""
        if same and word and first.request.input == later.request.input:
            text = f"{later.called.key}: the user is asked again about {ask.use.name}, and had "
            yield _finding("again", f"{text}{word} it", (first.n, later.n), ask.use.name)


def _is_denied(question: Question) -> bool:
    said = question.approval
    return said is not None and said.answer == "deny" and said.id == question.request.id


def _judged(trace: Trace, run: Execution) -> Iterator[Finding]:
    """Yield a run of a call that is not always allowed, if the user did not allow it."""
    name, ask = run.request.name, run.ask
    said = f"{run.called.key}: {name} runs"
    before = _questions(trace, ask, run.n) if ask else []
    if ask is None or not before:
        if name in trace.settings.get("gated", ()) and not _is_asked_in_words(trace, run):
            events = (ask.exchange.n, run.n) if ask else (run.n,)
            yield _finding("not_asked", f"{said}, and the user was not asked", events, name)
        return
    came = [(q, a) for q in before if (a := q.answer_at(run.called.at_ms))]
    if not came:
        text = f"{said}, and the user had not answered"
        yield _finding("denied", text, (before[-1].n, run.n), name)
        return
    last, answer = came[-1]
    events = (last.n, run.n)
    if answer.answer != "allow":
        word = "denied it" if answer.answer == "deny" else "did not answer in time"
        yield _finding("denied", f"{said}, and the user {word}", events, name)
    elif answer.id != last.request.id:
        yield _finding("another", f"{said} by an answer about another call", events, name)
    elif not _is_allowed(trace, run, answer):
        text = f"{said} with another input than the user allowed"
        yield _finding("input", text, events, name)
    elif stop_n := _stop_while_open(trace, run, last):
        where = "in a later turn" if stop_n < run.n else "without a look for a stop"
        text = f"{said} {where}, and the user had stopped the turn while its question was open"
        yield _finding("stopped", text, tuple(sorted((last.n, stop_n, run.n))), name)


def _questions(trace: Trace, ask: Ask, n: int) -> list[Question]:
    """The questions about a call before an event. Calls of one id and one input are one call."""
    before, reply = ask.questions_before(n), ask.exchange.reply
    if before or reply is None or reply.tool_uses.count(ask.use) < 2:
        return before
    turn = trace.turns[ask.exchange.called.session, ask.exchange.called.turn]
    twins = (each for each in turn.asks if each.exchange is ask.exchange and each.use == ask.use)
    return [question for twin in twins for question in twin.questions_before(n)]


def _stop_while_open(trace: Trace, run: Execution, question: Question) -> int:
    """The event of a cancel that came before the answer to a question; else 0.

    `cancel_honoured` asks within the turn what runs after the agent has seen it. Here it had not
    looked. A message that interrupts is no such stop: it answers another thing, and the question
    may stay open beside it.
    """
    asked = question.called
    turn = trace.turns.get((asked.session, asked.turn))
    if turn is None or not _is_cancelled_by_user(trace, turn):
        return 0
    if run.called.turn == asked.turn:
        is_late = asked.at_ms <= turn.cancel_came_ms <= run.called.at_ms - REACTION_MS
        return turn.cancelled_n if is_late and run.n < turn.cancelled_n else 0
    stopped_ms = trace.events[turn.cancelled_n - 1].at_ms
    is_open = question.answer_at(stopped_ms) is None
    return turn.cancelled_n if is_open and turn.cancelled_n < run.n else 0


def _is_cancelled_by_user(trace: Trace, turn: Turn) -> bool:
    """Whether a turn was cancelled by words of the user, and not by a message that comes beside it:
    under `interrupt` that may end the turn."""
    event = trace.events[turn.cancelled_n - 1] if turn.cancelled_n else None
    if not isinstance(event, Answered) or event.seam != "inbox" or not event.value:
        return False
    return msgspec.convert(event.value, Inbound).kind == "cancel"


def _is_asked_in_words(trace: Trace, run: Execution) -> bool:
    """Whether the turn of the call asked in words, and a message before the run answers: by the end
    of the turn, or while it went on."""
    called = run.ask.exchange.called if run.ask else run.called
    turn = trace.turns.get((called.session, called.turn))
    if turn is None:
        return False
    return is_answered_before(turn, run.n) or (is_waiting(turn) and turn.sendings[-1].n < run.n)


def _finding(rule: str, text: str, events: tuple[int, ...], tool: str) -> Finding:
    return Finding(f"approval.{rule}", text, events, cause=Cause(tool=tool))


def _is_allowed(trace: Trace, run: Execution, answer: Approval) -> bool:
    schema = trace.schema(run.ask.exchange if run.ask else None, run.request.name)
    return is_as_given(answer.input, run.request.input, schema)


def _untold(trace: Trace, ask: Ask, request: Exchange) -> Iterator[Finding]:
    """Yield a call whose result tells the model nothing of the user's reason or of the edit."""
    asked = ((q, q.answer_at(request.called.at_ms)) for q in ask.questions_before(request.n))
    decided = [(q, said) for q, said in asked if said and said.id == q.request.id]
    if not decided or request.request.unread:
        return
    question, answer = decided[-1]
    if ask.execution is not None and not _is_allowed(trace, ask.execution, answer):
        return  # what ran is wrong already
    if ask.execution is None and _is_stopped_first(trace, ask, request, question):
        return
    if ask.execution is None and _is_killed_at(trace, question):
        return  # it never read the answer, and knows only that it was cut off
    if _went_with_a_kill(trace, ask, request):
        return
    if answer.answer == "deny" and _says_nothing(ask):
        said = f"{request.called.key}: the user denied it, and the model reads an empty result"
        yield _finding("untold", said, (question.n, request.n), ask.use.name)
        return
    denied = [answer.reason] if answer.reason and answer.answer == "deny" else []
    edited = _changed(question.request.input, answer.input) if answer.answer == "allow" else []
    text = _told(request)
    lost = [word for word in (*denied, *edited) if lost_parts(word, text) and word not in text]
    if lost and not (ask.sent and _is_shortened(trace, request, lost[0], ask.sent.text)):
        what = "denied it" if denied else "changed its input"
        said = f"{request.called.key}: the user {what}, and the model reads nothing of"
        events = (question.n, request.n)
        yield _finding("untold", f"{said} {canonical(lost[0])}", events, ask.use.name)


# An operator may be who runs the system, whose rules deny a call without a question.
_DENIED_BY_USER = re.compile(
    r"\b(?:user|human)\b[^.\n]{0,20}?\b(?:den(?:y|ied)|declined?|reject(?:ed)?"
    r"|refused?|said no|(?:did|does|has)(?: not|n't) (?:allow|approve))\b"
    r"|\b(?:denied|declined|rejected|refused) by (?:the |your )?(?:user|human)\b",
    re.IGNORECASE,
)
_WITHOUT_ANSWER = re.compile(
    r"no answer|nothing|not answer|n't answer|unanswered|in time|timed? ?out|expire|stop|cancel",
    re.IGNORECASE,
)


def _untrue_denial(trace: Trace, ask: Ask) -> Iterator[Finding]:
    """Yield a call that did not run, and whose result tells of a denial that the user did not give.

    An agent may keep the user's denial for an equal call.
    """
    name, sent = ask.use.name, ask.sent
    if ask.execution or sent is None or name not in trace.settings.get("gated", ()):
        return
    if not _DENIED_BY_USER.search(sent.text) or _WITHOUT_ANSWER.search(sent.text):
        return
    if _is_denied_at_all(trace, ask) or _is_spoken_to(trace, ask):
        return
    asked = ask.questions_before(ask.sent_n)
    what = "had not answered" if asked else "was not asked"
    what = "allowed it" if any(question.is_allowed for question in asked) else what
    key = ask.exchange.called.key
    text = f"{key}: the model reads that the user denied the call of {name}, and the user {what}"
    yield _finding("untold", text, (ask.exchange.n, ask.sent_n), name)


def _is_denied_at_all(trace: Trace, ask: Ask) -> bool:
    """Whether the user denied or changed this call or an equal one. An answer that never came, or
    named another call, counts as a denial, and so does a question that failed."""
    for question in trace.questions:
        same = question.request.name == ask.use.name and question.request.input == ask.use.input
        if question.n > ask.sent_n or not (same or question in ask.questions):
            continue
        failed = question.answered is None or question.answered.outcome != "ok"
        if failed and not is_killed_between(trace, question.n, ask.sent_n):
            return True
        if question.approval is not None and (not question.is_allowed or question.is_edited):
            return True
    return False


def _is_spoken_to(trace: Trace, ask: Ask) -> bool:
    """Whether a message or a stop of the user came between a call and its result."""
    turn = trace.turns.get((ask.exchange.called.session, ask.exchange.called.turn))
    came = [delivery.n for delivery in trace.deliveries]
    came += [turn.cancelled_n] if turn else []
    return any(ask.exchange.n < n < ask.sent_n for n in came)


def _is_shortened(trace: Trace, request: Exchange, lost: str, sent: str) -> bool:
    """Whether a result says that it was cut, in a session whose prompt was refused as too long."""
    place = request.called.session
    refused = any(e.too_large for e in trace.exchanges if e.called.session == place)
    return refused and is_announced(lost, sent)


def _says_nothing(ask: Ask) -> bool:
    """Whether the result of a call that did not run is empty, and not told as an error either."""
    sent = None if ask.execution else ask.sent
    return sent is not None and not sent.is_error and not sent.text.strip()


def _is_stopped_first(trace: Trace, ask: Ask, request: Exchange, question: Question) -> bool:
    """Whether the turn of a call was stopped before the request, and before the user denied the
    call: by a cancel, or by a message that interrupts it. The stop then says why the call did not
    run; a denial that came before it is the reason all the same. A turn that goes on beside such a
    message was not stopped."""
    called = ask.exchange.called
    turn = trace.turns.get((called.session, called.turn))
    if turn is None or not 0 < turn.cancelled_n < request.n:
        return False
    if request.called.turn == called.turn and not _is_cancelled_by_user(trace, turn):
        return False
    stopped_ms = trace.events[turn.cancelled_n - 1].at_ms
    return question.is_allowed or question.answer_at(stopped_ms) is None


def _is_killed_at(trace: Trace, question: Question) -> bool:
    """Whether the agent was killed as the answer came, before it did anything more."""
    answered = question.answered
    return answered is not None and answered.n + 1 in trace.kills


def _went_with_a_kill(trace: Trace, ask: Ask, request: Exchange) -> bool:
    """Whether a kill took the result of a run, and the note of an edit with it. The model then
    reads that the outcome is unknown, and not that its own input ran."""
    run, sent = ask.execution, ask.sent
    if run is None or sent is None or not is_killed_between(trace, run.n, request.n):
        return False
    return run.text not in sent.text


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
