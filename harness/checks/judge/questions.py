"""The event that puts the question of each rule, and which of these events a history holds.

A rule without a finding passes only if its question was put: where no tool failed, no failure was
hidden. The table beside a check names the events of its rules. The event is what the world does,
never the agent's answer to it. So an agent that does nothing is still asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, islice

from harness.checks.evidence.carried_words import BYTES_PER_TOKEN
from harness.checks.evidence.children_told import does_not_finish, ends_in_a_turn, ends_in_order
from harness.checks.evidence.refused_contents import refused_content
from harness.checks.evidence.repeated_replies import is_unsure
from harness.checks.evidence.seen_marks import seen_marks
from harness.checks.evidence.shown_text import FENCED, MARKED, shown_calls
from harness.checks.evidence.stored_messages import finished_turns
from harness.checks.evidence.summarised_past import summaries
from harness.checks.evidence.tool_inputs import is_empty
from harness.checks.evidence.turn_outcomes import (
    CUT_STOPS,
    asked_ms,
    claimed,
    ends_with_calls,
    fails_for_good,
    in_vain,
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
from harness.core.values.table_file import pairs
from harness.core.values.verdict import Finding, NotApplicable

_Holds = Callable[[Trace], bool]

_WORDS = pairs("harness.checks.judge", "questions.tsv")


def _seam(name: Seam) -> _Holds:
    return lambda trace: name in trace.seams


def _exchange(holds: Callable[[Exchange], bool]) -> _Holds:
    return lambda trace: any(map(holds, trace.exchanges))


def _ask(holds: Callable[[Ask], bool]) -> _Holds:
    return lambda trace: any(map(holds, trace.asks))


def _answer(*kinds: str) -> _Holds:
    """An answer that ends a turn in one of these wrong ways, or in any of them."""

    def holds(exchange: Exchange) -> bool:
        rule = exchange.answered is not None and wrong(exchange)
        return rule in kinds if kinds else bool(rule)

    return _exchange(holds)


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
    """Whether the user is asked about a call, in words too, or would be as an agent says."""
    gated = trace.settings.get("gated", ()) if trace.profile.declares("approvals") else ()
    is_asked = bool(trace.questions) or any(r.request.name in gated for r in trace.executions)
    return is_asked or any(shown_calls(trace))


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


def _message(is_wanted: Callable[[str], bool]) -> _Holds:
    return lambda trace: any(is_wanted(d.inbound.text) for d in trace.deliveries)


def _second(names: Callable[[Trace], Iterable[tuple[str, str]]]) -> _Holds:
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
    return _comes_after(trace, fault_events(trace))


def _comes_after_refused_content(trace: Trace) -> bool:
    refused = ((e.called.session, e.n) for e in trace.exchanges if refused_content(e))
    return _comes_after(trace, refused)


def _comes_after(trace: Trace, events: Iterable[tuple[str, int]]) -> bool:
    """Whether a session has a message after such an event of it, or of all sessions ("")."""
    first: dict[str, int] = {}
    for session, n in events:
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


EVENTS: Mapping[Question, _Holds] = {
    "run": lambda t: t.world != "recording",
    "recording": lambda t: t.world == "recording",
    "inbox": _seam("inbox"),
    "outbox": _seam("outbox"),
    "store": _seam("store"),
    "turn": lambda t: bool(t.turns),
    "request": lambda t: bool(t.exchanges),
    "later_request": _goes_on,
    "second_provider": _second(lambda t: (("", e.called.provider) for e in t.exchanges)),
    "second_model": _second(
        lambda t: (("", f"{e.called.provider} {e.request.model}") for e in t.exchanges)
    ),
    "tools_offered": _exchange(lambda e: e.request.tools_offered),
    "sub_agent": _exchange(lambda e: bool(e.called.parent)),
    "child_end": ends_in_order,
    "failed_child": does_not_finish,
    "child_in_turn": ends_in_a_turn,
    "woken_turn": _is_woken,
    "large_result": _has_large_result,
    "overflow": _exchange(lambda e: e.too_large or is_over_window(e)),
    "failed_request": _exchange(_is_failed),
    "temporary_failure": _exchange(lambda e: e.transient and _is_failed(e)),
    "retry_after": _exchange(_asks_for_a_wait),
    "vain_answer": _exchange(lambda e: fails_for_good(e) or bool(in_vain(e))),
    "bad_answer": _answer("failed", "incomplete", "truncated"),
    "cut_answer": _exchange(lambda e: e.is_cut),
    "refused_answer": _answer("refused"),
    "truncated_answer": _answer("truncated"),
    "unfinished_answer": _answer("unfinished"),
    "synthetic_answer": _answer("synthetic"),
    "non_ascii_answer": _exchange(_is_non_ascii),
    "marked_answer": _exchange(lambda e: any(map(MARKED.match, _texts(e)))),
    "fenced_answer": _exchange(lambda e: any(map(FENCED.search, _texts(e)))),
    "thought": _exchange(
        lambda e: bool(_texts(e)) and any(isinstance(b, Thinking) and b.text for b in _said(e))
    ),
    "text_blocks": _exchange(lambda e: len(_texts(e)) > 1),
    "text_beside_call": _exchange(lambda e: bool(_texts(e) and e.reply and e.reply.tool_uses)),
    "approval": _needs_approval,
    "tool_call": _calls,
    "repeated_call": _is_repeated,
    "unrun_call": _ask(lambda a: a.refused),
    "cut_call": _ask(lambda a: a.exchange.is_cut),
    "stopped_call": _is_stopped,
    "ended_call": _ask(lambda a: ends_with_calls(a.exchange)),
    "odd_input": _ask(lambda a: not isinstance(a.use.input, dict | None)),
    "empty_input": _lacks_input,
    "tool_result": lambda t: _sent(t, lambda m: m.tool_results),
    "tool_run": lambda t: bool(t.executions),
    "second_tool_run": lambda t: any(len(x.executions) > 1 for x in t.turns.values()),
    "failed_tool": lambda t: any(e.failed for e in t.executions),
    "effect": lambda t: any(isinstance(e, Effected) for e in t.events),
    "message": _message(lambda text: bool(text.strip())),
    "blank_message": _message(lambda text: not text.strip()),
    "second_message": _second(lambda t: ((d.inbound.session, d.inbound.id) for d in t.deliveries)),
    "message_in_turn": lambda t: any(x.came for x in t.turns.values()),
    "second_session": _second(lambda t: (("", d.inbound.session) for d in t.deliveries)),
    "request_after_reply": _asks_after_reply,
    "message_after_fault": _comes_after_fault,
    "message_after_refused_content": _comes_after_refused_content,
    "cancel": lambda t: any(x.cancelled_n for x in t.turns.values()),
    "kill": lambda t: bool(t.kills),
    "second_kill": lambda t: len(t.kills) > 1,
    "reply": lambda t: any(s.request.kind in ENDINGS for s in t.sendings),
    "unsure_reply": lambda t: any(s.ends_turn and is_unsure(t, s) for s in t.sendings),
    "partial_reply": lambda t: any(s.request.kind == "partial" for s in t.sendings),
    "forbidden_words": _forbids,
    "exit_status": lambda t: t.ended is not None and t.ended.exit_code == 0 and not t.sendings,
    "finished_turn": lambda t: any(True for _ in finished_turns(t)),
    "compaction": lambda t: bool(t.compactions),
    "failed_compaction": lambda t: any(c.failed for c in t.compactions),
    "summary": lambda t: summaries(t) > 0,
    "second_summary": lambda t: summaries(t) > 1,
    "bad_summary": lambda t: any(c.calls and wrong(c.calls[-1]) for c in t.compactions),
    "stored_row": lambda t: any(s.added or s.changed or s.gone for s in t.stored),
    "loaded_session": _loads,
    "store_failure": lambda t: any(a.seam == "store" and a.outcome != "ok" for a in t.answers),
    "mark": lambda t: any(True for _ in seen_marks(t)),
}
"""How each event is seen; the table beside this file has its words."""


class Questions:
    """The questions that one history puts. Each event is looked for once, when a rule needs it."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._is_put: dict[Question, bool] = {}

    def puts(self, question: Question) -> bool:
        """Whether the history holds the event."""
        put = self._is_put.get(question)
        if put is None:
            put = self._is_put[question] = EVENTS[question](self._trace)
        return put

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
        for question in rule.asked_by:
            if not self.puts(question):
                return question
        return None


@cache
def _not_asked(code: str, lacking: tuple[Question, ...]) -> NotApplicable:
    none = ", ".join(f"no {_WORDS[name].partition(' ')[2]}" for name in lacking)
    return NotApplicable(code, f"{UNASKED}{none}", kind="unasked")


UNASKED = "not asked: "
"""The beginning of the reason of a rule whose question was never put."""


def asked_by(rule: CheckRule) -> str:
    """The events that put the question of a rule, in words."""
    return " and ".join(_WORDS[name] for name in rule.asked_by)
