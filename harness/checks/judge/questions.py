"""The event that puts the question of each rule, and which of these events a history holds.

A rule without a finding passes only if its question was put: where no tool failed, no failure was
hidden. The table beside a check names the events of its rules. The event is what the world does,
never the agent's answer to it. So an agent that does nothing is still asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import NamedTuple

from harness.checks.evidence.carried_words import BYTES_PER_TOKEN
from harness.checks.evidence.children_told import does_not_finish, ends_in_a_turn, ends_in_order
from harness.checks.evidence.repeated_replies import is_unsure
from harness.checks.evidence.shown_text import MARKED
from harness.checks.evidence.stored_messages import finished_turns
from harness.checks.evidence.summarised_past import summaries
from harness.checks.evidence.turn_outcomes import (
    CUT_STOPS,
    asked_ms,
    claimed,
    ends_with_calls,
    fails_for_good,
    in_vain,
    is_empty,
    is_our_own,
    is_over_window,
    wrong,
)
from harness.checks.judge.check_rules import CheckRule, Question
from harness.checks.recovery import fault_events
from harness.checks.spending import WOKEN, woken_by
from harness.core.history.events import Effected
from harness.core.history.exchanges import ENDINGS, Ask, Exchange
from harness.core.history.trace import Trace
from harness.core.values.calls import Seam
from harness.core.values.messages import Message, Text, Thinking, canonical
from harness.core.values.patterns import EndlessPattern
from harness.core.values.verdict import Finding, NotApplicable


class _Event(NamedTuple):
    """An event in words, and whether a trace holds one."""

    words: str
    is_in: Callable[[Trace], bool]


def _seam(words: str, name: Seam) -> _Event:
    return _Event(words, lambda trace: name in trace.seams)


def _exchange(words: str, holds: Callable[[Exchange], bool]) -> _Event:
    return _Event(words, lambda trace: any(map(holds, trace.exchanges)))


def _ask(words: str, holds: Callable[[Ask], bool]) -> _Event:
    return _Event(words, lambda trace: any(map(holds, trace.asks)))


def _answer(words: str, *kinds: str) -> _Event:
    """An answer that ends a turn in one of these wrong ways, or in any of them."""

    def holds(exchange: Exchange) -> bool:
        rule = exchange.answered is not None and wrong(exchange)
        return rule in kinds if kinds else bool(rule)

    return _exchange(words, holds)


def _is_failed(exchange: Exchange) -> bool:
    """Whether an attempt failed, and not at a limit or the end of the script."""
    return not (exchange.answered and (exchange.succeeded or is_our_own(exchange.answered)))


def _asks_for_a_wait(exchange: Exchange) -> bool:
    said = exchange.answered.retry_after if exchange.answered else ""
    return bool(said) and exchange.transient and asked_ms(said) > 0


def _goes_on(trace: Trace) -> bool:
    sessions = [e.called.session for e in trace.exchanges if e.purpose == "main"]
    return len(sessions) > len(set(sessions))


def _is_woken(trace: Trace) -> bool:
    settings = (trace.settings.get("checks") or {}).get("wake_budget") or {}
    try:
        is_woken = woken_by(settings.get("woken", WOKEN))
        return any(is_woken(delivery.inbound.text) for delivery in trace.deliveries)
    except (ValueError, TypeError, EndlessPattern):
        return True  # the check itself refuses the setting


def _sent(trace: Trace, holds: Callable[[Message], object]) -> bool:
    """Whether a request or a store added a message of this kind, or a seeded session brings it
    along. An agent that sends calls as text keeps them as its rows."""
    unknown = Message("user")
    rows = (row.digest for look in trace.stored for row in look.added)
    return any(holds(trace.messages.get(digest, unknown)) for digest in rows) or any(
        holds(trace.messages.get(digest, unknown))
        for exchange in trace.exchanges
        for digest in exchange.request.messages
    )


def _has_large_result(trace: Trace) -> bool:
    """Whether a tool answered with more than the window, or a request holds such a result."""
    window = trace.settings.get("window_tokens")
    if not isinstance(window, int):
        return False
    most = window * BYTES_PER_TOKEN

    def is_large(text: str) -> bool:
        return len(text.encode("utf-8", "replace")) > most

    ran = any(is_large(run.text) for run in trace.executions)
    return ran or _sent(trace, lambda m: any(is_large(r.text) for r in m.tool_results))


def _needs_approval(trace: Trace) -> bool:
    """Whether the user is asked about a call, or would be by an agent that says so."""
    gated = trace.settings.get("gated", ()) if trace.profile.declares("approvals") else ()
    return bool(trace.questions) or any(run.request.name in gated for run in trace.executions)


def _calls(trace: Trace) -> bool:
    return bool(trace.asks or trace.executions) or _sent(trace, lambda m: m.tool_uses)


def _is_repeated(trace: Trace) -> bool:
    """Whether a call comes twice, asked for by the model or run with another input than asked."""
    seen = set[tuple[str, str]]()
    asked = ((ask.use.name, ask.use.input) for ask in trace.asks)
    changed = (
        (run.request.name, run.request.input)
        for run in trace.executions
        if run.ask is None or run.ask.use.input != run.request.input
    )
    for name, given in chain(asked, changed):
        key = name, canonical(given)
        if key in seen:
            return True
        seen.add(key)
    return False


def _lacks_input(trace: Trace) -> bool:
    """Whether a call comes without the input that its schema requires, from model or agent."""
    asked = ((ask, ask.use.name, ask.use.input) for ask in trace.asks)
    ran = ((run.ask, run.request.name, run.request.input) for run in trace.executions)
    return any(
        is_empty(given) and trace.schema(ask.exchange if ask else None, name).get("required")
        for some in (asked, ran)
        for ask, name, given in some
    )


def _is_stopped(trace: Trace) -> bool:
    # A log without stop reasons says nothing about them, so None counts in runs only.
    stops = CUT_STOPS - {None} if trace.world == "recording" else CUT_STOPS
    return any(a.exchange.stop in stops and not a.exchange.is_cut for a in trace.asks)


def _message(is_wanted: Callable[[str], bool]) -> Callable[[Trace], bool]:
    return lambda trace: any(is_wanted(d.inbound.text) for d in trace.deliveries)


def _second(names: Callable[[Trace], Iterable[tuple[str, str]]]) -> Callable[[Trace], bool]:
    """Whether one key has two different names."""

    def holds(trace: Trace) -> bool:
        first: dict[str, str] = {}
        return any(first.setdefault(key, name) != name for key, name in names(trace))

    return holds


def _asks_after_reply(trace: Trace) -> bool:
    replied = set[str]()
    for turn in trace.turns.values():
        if turn.session in replied and turn.main:
            return True
        if any(claimed(ending) == "completed" for ending in turn.endings):
            replied.add(turn.session)
    return False


def _comes_after_fault(trace: Trace) -> bool:
    """Whether a session has a message after a fault, a kill, a cancel, a failed tool or a seed."""
    first: dict[str, int] = {}
    for session, n in fault_events(trace):
        first.setdefault(session, n)
    return any(
        first.get(session, d.n) < d.n
        for d in trace.deliveries
        for session in ("", d.inbound.session)
    )


def _forbids(trace: Trace) -> bool:
    wanted = trace.settings.get("expect")
    must_not = wanted.get("must_not") if isinstance(wanted, dict) else None
    return isinstance(must_not, dict) and bool(must_not.get("say"))


def _loads(trace: Trace) -> bool:
    """Whether a request follows a start whose store held rows before the request's turn."""
    rows = [look.n for look in trace.stored if look.added]
    if not rows:
        return False
    if len(trace.starts) > 1:
        return True
    asked = (e.called for e in trace.exchanges if e.purpose == "main")
    turns = (trace.turns.get((called.session, called.turn)) for called in asked)
    return any(turn is not None and rows[0] < turn.opened_n for turn in islice(turns, 1))


def _is_non_ascii(exchange: Exchange) -> bool:
    said = exchange.reply.text if exchange.reply and exchange.succeeded else ""
    # A file holds half a character as its escape, which is ASCII, so a half does not count.
    return not said.isascii() and any(c > "\x7f" and not "\ud800" <= c <= "\udfff" for c in said)


def _said(exchange: Exchange) -> Sequence[object]:
    return exchange.reply.blocks if exchange.reply else ()


def _texts(exchange: Exchange) -> list[str]:
    return [b.text for b in _said(exchange) if isinstance(b, Text) and b.text.strip()]


EVENTS: Mapping[Question, _Event] = {
    "run": _Event("a run of the harness", lambda t: t.world != "recording"),
    "recording": _Event("a recording of another program", lambda t: t.world == "recording"),
    "inbox": _seam("an inbox", "inbox"),
    "outbox": _seam("an outbox", "outbox"),
    "store": _seam("a store", "store"),
    "turn": _Event("a turn", lambda t: bool(t.turns)),
    "request": _Event("a request to the model", lambda t: bool(t.exchanges)),
    "later_request": _Event("a second request of a session", _goes_on),
    "second_provider": _Event(
        "a second provider", _second(lambda t: (("", e.called.provider) for e in t.exchanges))
    ),
    "tools_offered": _exchange("an offer of tools", lambda e: e.request.tools_offered),
    "sub_agent": _exchange("a sub-agent", lambda e: bool(e.called.parent)),
    "child_end": _Event("a child that ends", ends_in_order),
    "failed_child": _Event("a child that does not finish", does_not_finish),
    "child_in_turn": _Event("a child that ends while a turn is open", ends_in_a_turn),
    "woken_turn": _Event("a turn that a timer started", _is_woken),
    "large_result": _Event("a tool result that is larger than the window", _has_large_result),
    "overflow": _exchange(
        "a request that is too large", lambda e: e.too_large or is_over_window(e)
    ),
    "failed_request": _exchange("a failed request", _is_failed),
    "temporary_failure": _exchange(
        "a temporary failure of the model", lambda e: e.transient and _is_failed(e)
    ),
    "retry_after": _exchange("a failure that asks for a wait", _asks_for_a_wait),
    "vain_answer": _exchange(
        "a refused, paused, truncated or empty answer",
        lambda e: fails_for_good(e) or bool(in_vain(e)),
    ),
    "bad_answer": _answer("a failed or cut answer", "failed", "incomplete", "truncated"),
    "cut_answer": _exchange("an answer that broke off", lambda e: e.is_cut),
    "refused_answer": _answer("a refusal of the model", "refused"),
    "truncated_answer": _answer("a truncated answer", "truncated"),
    "unfinished_answer": _answer("an unfinished answer", "unfinished"),
    "synthetic_answer": _answer("an error in the form of an answer", "synthetic"),
    "non_ascii_answer": _exchange("an answer beyond ASCII", _is_non_ascii),
    "marked_answer": _exchange("Markdown with signs", lambda e: any(map(MARKED.match, _texts(e)))),
    "thought": _exchange(
        "a thought before an answer",
        lambda e: bool(_texts(e)) and any(isinstance(b, Thinking) and b.text for b in _said(e)),
    ),
    "text_blocks": _exchange("an answer of two texts", lambda e: len(_texts(e)) > 1),
    "text_beside_call": _exchange(
        "a text beside a tool call", lambda e: bool(_texts(e) and e.reply and e.reply.tool_uses)
    ),
    "approval": _Event("a call that needs the user's approval", _needs_approval),
    "tool_call": _Event("a tool call", _calls),
    "repeated_call": _Event("a repeated tool call", _is_repeated),
    "unrun_call": _ask("a tool call that the agent answers itself", lambda a: a.refused),
    "cut_call": _ask("a tool call in an answer that broke off", lambda a: a.exchange.is_cut),
    "stopped_call": _Event("a tool call beside another stop reason", _is_stopped),
    "ended_call": _ask(
        "a tool call in an answer that ends the turn", lambda a: ends_with_calls(a.exchange)
    ),
    "odd_input": _ask(
        "a tool input of another kind than an object",
        lambda a: not isinstance(a.use.input, dict | None),
    ),
    "empty_input": _Event("a tool call without its required input", _lacks_input),
    "tool_result": _Event("a tool result", lambda t: _sent(t, lambda m: m.tool_results)),
    "tool_run": _Event("a tool run", lambda t: bool(t.executions)),
    "second_tool_run": _Event(
        "a second tool run in a turn",
        lambda t: any(len(x.executions) > 1 for x in t.turns.values()),
    ),
    "failed_tool": _Event("a failed tool call", lambda t: any(e.failed for e in t.executions)),
    "effect": _Event(
        "an effect of a tool", lambda t: any(isinstance(e, Effected) for e in t.events)
    ),
    "message": _Event("a message", _message(lambda text: bool(text.strip()))),
    "blank_message": _Event("a message without text", _message(lambda text: not text.strip())),
    "second_message": _Event(
        "a second message of a session",
        _second(lambda t: ((d.inbound.session, d.inbound.id) for d in t.deliveries)),
    ),
    "message_in_turn": _Event(
        "a message while a turn is open", lambda t: any(x.came for x in t.turns.values())
    ),
    "second_session": _Event(
        "a second session", _second(lambda t: (("", d.inbound.session) for d in t.deliveries))
    ),
    "request_after_reply": _Event("a request after a reply of its session", _asks_after_reply),
    "message_after_fault": _Event("a message after a fault", _comes_after_fault),
    "cancel": _Event("a cancel", lambda t: any(x.cancelled_n for x in t.turns.values())),
    "kill": _Event("a kill", lambda t: bool(t.kills)),
    "reply": _Event("a reply", lambda t: any(s.request.kind in ENDINGS for s in t.sendings)),
    "unsure_reply": _Event(
        "a reply before a kill or with a lost answer of the outbox",
        lambda t: any(s.ends_turn and is_unsure(t, s) for s in t.sendings),
    ),
    "partial_reply": _Event(
        "a partial reply", lambda t: any(s.request.kind == "partial" for s in t.sendings)
    ),
    "forbidden_words": _Event("forbidden words", _forbids),
    "exit_status": _Event(
        "an exit with status 0 without a reply",
        lambda t: t.ended is not None and t.ended.exit_code == 0 and not t.sendings,
    ),
    "finished_turn": _Event("a finished turn", lambda t: any(True for _ in finished_turns(t))),
    "compaction": _Event("a compaction", lambda t: bool(t.compactions)),
    "failed_compaction": _Event(
        "a failed compaction", lambda t: any(c.failed for c in t.compactions)
    ),
    "summary": _Event("a summary of the model", lambda t: summaries(t) > 0),
    "second_summary": _Event("a second summary of a session", lambda t: summaries(t) > 1),
    "bad_summary": _Event(
        "an unusable summary", lambda t: any(c.calls and wrong(c.calls[-1]) for c in t.compactions)
    ),
    "stored_row": _Event(
        "a stored row", lambda t: any(s.added or s.changed or s.gone for s in t.stored)
    ),
    "loaded_session": _Event("a start with a stored session", _loads),
    "store_failure": _Event(
        "a failure of the store",
        lambda t: any(a.seam == "store" and a.outcome != "ok" for a in t.answers),
    ),
}
"""Each event in words, and how it is seen."""


class Questions:
    """The questions that one history puts. Each event is looked for once, when a rule needs it."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._is_put: dict[Question, bool] = {}

    def puts(self, question: Question) -> bool:
        """Whether the history holds the event."""
        if question not in self._is_put:
            self._is_put[question] = EVENTS[question].is_in(self._trace)
        return self._is_put[question]

    def not_asked(
        self, check: str, rules: Sequence[CheckRule], found: Iterable[Finding]
    ) -> list[NotApplicable]:
        """The rules of a check that the history does not ask, or the check if it asks none. A rule
        with a finding was asked."""
        codes = {finding.code for finding in found}
        left = [(rule.code, lacks) for rule in rules if (lacks := self._lacks(rule))]
        if len(left) < len(rules) or codes:
            return [_not_asked(rule, (lacks,)) for rule, lacks in left if rule not in codes]
        lacking = tuple(dict.fromkeys(lacks for _, lacks in left))
        return [_not_asked(check, lacking)] if lacking else []

    def _lacks(self, rule: CheckRule) -> Question | None:
        return next((question for question in rule.asked_by if not self.puts(question)), None)


@cache
def _not_asked(code: str, lacking: tuple[Question, ...]) -> NotApplicable:
    none = ", ".join(f"no {EVENTS[name].words.partition(' ')[2]}" for name in lacking)
    return NotApplicable(code, f"{UNASKED}{none}", kind="unasked")


UNASKED = "not asked: "
"""The beginning of the reason of a rule whose question was never put."""


def asked_by(rule: CheckRule) -> str:
    """The events that put the question of a rule, in words."""
    return " and ".join(EVENTS[name].words for name in rule.asked_by)
