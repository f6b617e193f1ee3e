"""The outcome of a model answer and of a turn, in the words of an expectation."""

from __future__ import annotations

import math
import re

import msgspec

from harness.checks.evidence.output_tools import is_output
from harness.core.history.events import Answered
from harness.core.history.exchanges import Ask, Exchange, Sending
from harness.core.history.history import History
from harness.core.history.past import MessageName
from harness.core.history.trace import Trace, Turn
from harness.core.scenario.scenario import Expect
from harness.core.values.messages import Text, Thinking, ToolUse, without_blanks
from harness.core.values.verdict import OutcomeWord

TRUNCATED_STOPS = frozenset({"max_tokens", "length"})

_REFUSED = frozenset({"refusal", "content_filter"})

_FULL = "model_context_window_exceeded"

_TOOL_STOPS = frozenset({"tool_use", "tool_calls", "function_call"})

_CALLING_STOPS = _TOOL_STOPS | {"completed"}
"""Stop reasons of answers that may ask for tools."""

_BAD_STOPS: dict[str | None, str] = {
    **dict.fromkeys(_REFUSED, "refused"),
    **dict.fromkeys([*TRUNCATED_STOPS, _FULL, "incomplete", None], "truncated"),
    **dict.fromkeys([*_TOOL_STOPS, "pause_turn", "MALFORMED_FUNCTION_CALL"], "unfinished"),
}
"""The fault of a stop reason that ends a turn; None: no terminal event. Last: hermes-agent#83869"""

FINAL_STOPS = _REFUSED | {_FULL}
"""Stop reasons that the same request gets again."""

CUT_STOPS = frozenset(stop for stop, wrong in _BAD_STOPS.items() if wrong != "unfinished")
"""Stop reasons after which a tool call may be incomplete."""

WINDOW_RULES = frozenset({"V23", "V24"})
"""The rules of size: a prompt over the window is refused, but it is not an invalid request."""

_OWN_ERRORS = ("limit.", "script.", "cassette.")
"""The beginnings of errors that the harness itself answers with."""

_WRAPPER_ERRORS = ("prompt is too long", "api error")
"""The beginnings of wrapper messages that report an error."""

_WITH_ITS_COUNTS = frozenset({"sse.tiny_deltas"})
"""Faults of a stream that cut its text into other pieces and leave its usage as it was."""


def said_tokens(answered: Answered) -> int:
    """The tokens of an answer; 0 if they are unknown. They are unknown if the answer broke off
    before its usage. They are also unknown if faults changed its stream, because the caller may
    have seen other counts."""
    bent = (fault for fault in answered.faults if fault not in _WITH_ITS_COUNTS)
    if not answered.complete or any(answered.layer_of(fault) == "sse" for fault in bent):
        return 0
    said = answered.usage.get("output_tokens", answered.usage.get("completion_tokens"))
    return said if isinstance(said, int) else 0


def is_over_window(exchange: Exchange) -> bool:
    """Whether a request was over the window, by a rule of the dialect or by its status."""
    return bool(WINDOW_RULES.intersection(exchange.called.refused)) or exchange.status == 413


def is_uncounted(exchange: Exchange) -> bool:
    """Whether the answer counts no token, so a wrapper and not the model wrote it."""
    usage = exchange.answered.usage if exchange.answered else {}
    return bool(usage) and not any(usage.values())


def is_our_own(answered: Answered) -> bool:
    """Whether the harness itself gave the answer, as at a limit or at the script's end."""
    return answered.error.startswith(_OWN_ERRORS)


def before_own_answers(history: History) -> History:
    """The history up to and including the first answer that the harness itself gave.

    No provider answers like this, so the agent's next steps are not evidence. The last turn is
    still open, as in a truncated history.
    """
    first = next((a.n for a in history.trace.answers if is_our_own(a)), 0)
    if not first:
        return history
    part = History()
    for event in history.events:
        if event.n <= first:
            part.take(event)
    return part


def asked_ms(retry_after: str) -> float:
    """The milliseconds that an answer asks to wait; 0 for a date, and for text that is not a
    number."""
    number, _, unit = retry_after.partition(" ")
    if unit not in ("", "ms"):
        return 0
    try:
        value = float(number) * (1 if unit else 1000)
    except ValueError:
        return 0
    return value if 0 < value < math.inf else 0


def calls_tools(exchange: Exchange) -> bool:
    """Whether the model's answer asks for tools and stopped to have them run."""
    return exchange.stop in _CALLING_STOPS and bool(exchange.reply and exchange.reply.tool_uses)


def ends_with_calls(exchange: Exchange) -> bool:
    """Whether a whole answer asks for tools, and its stop reason says that the turn is over.

    Some gateways of Chat say `stop` beside calls; vLLM and Ollama did so for streamed answers.
    """
    asked = exchange.succeeded and bool(exchange.reply and exchange.reply.tool_uses)
    return asked and exchange.stop not in _CALLING_STOPS and not wrong(exchange)


def ending_calls(
    trace: Trace, turn: Turn, exchange: Exchange, until_n: float = math.inf
) -> tuple[ToolUse, ...]:
    """The calls of an answer that end the agent's turns, without those that failed.

    Such a tool is in the profile, or it is the agent's own (a structured output, a final answer):
    it never runs across the tool seam, and a reply up to the event `until_n` says its input.
    """
    endings = {*trace.profile.turn_ending_tools}
    uses = exchange.reply.tool_uses if exchange.reply else ()
    asks = [a for a in turn.asks if a.exchange is exchange] if uses else ()
    return tuple(
        use
        for use, ask in zip(uses, asks, strict=False)
        if not (ask.execution and ask.execution.failed)
        and ({use.name, ask.use.name} & endings or is_output(trace, turn, ask, until_n))
    )


def fails_for_good(exchange: Exchange) -> bool:
    """Whether the answer reports a permanent failure, and its bytes arrived as the provider meant
    them. An agent cannot know a stop reason that its SDK fails to read, or a status whose body
    broke off."""
    if exchange.stop in FINAL_STOPS:
        return _is_read(exchange)
    failed = (exchange.status or 0) >= 400 and not exchange.transient
    return failed and not exchange.is_bent_by("transport")


def _is_read(exchange: Exchange) -> bool:
    """Whether the bytes of an answer arrived as the provider meant them."""
    return not exchange.is_bent_by("http", "sse", "transport")


def in_vain(exchange: Exchange) -> str:
    """ "truncated" for an answer cut at its length, "empty" for one without content, "paused" for
    one that goes on once it is sent back, else ""; also "" for an answer that a client may have
    failed to read."""
    if not _is_read(exchange):
        return ""
    if exchange.stop in TRUNCATED_STOPS:
        return "truncated"
    if exchange.succeeded and _says_nothing(exchange):
        return "empty"
    return "paused" if exchange.stop == "pause_turn" else ""


def _says_nothing(exchange: Exchange) -> bool:
    """Whether an answer has neither words nor a call; thinking does not count as words."""
    blocks = exchange.reply.blocks if exchange.reply else None
    return blocks is not None and all(
        isinstance(b, Thinking) or (isinstance(b, Text) and not b.text.strip()) for b in blocks
    )


def failure_words(exchange: Exchange) -> str:
    """A failure in a few words."""
    if exchange.stop in FINAL_STOPS or exchange.stop in TRUNCATED_STOPS:
        return f"stopped with {exchange.stop}"
    if exchange.stop == "pause_turn" and not _says_nothing(exchange):
        return "paused within an answer"
    if exchange.succeeded:
        return "was answered with nothing, as before,"
    return f"was answered {exchange.status}"


def wrong(exchange: Exchange) -> str:
    """The fault of an answer that ends a turn; "" if it ended in order."""
    a = exchange.answered
    if a is None or (a.status or 200) >= 400 or a.outcome == "timeout":
        return "failed"
    if exchange.is_cut:
        return "failed" if not a.blocks else "incomplete"
    if a.outcome != "ok" and a.complete:
        return "failed"
    if _is_synthetic(exchange):
        return "synthetic"
    return "" if is_unsaid(exchange) else _BAD_STOPS.get(a.stop, "")


def is_unsaid(exchange: Exchange) -> bool:
    """Whether an answer came whole in one body, and some clone left out why the model stopped. Of a
    stream the last event says so, and one without it may have been cut."""
    return exchange.succeeded and exchange.stop is None and not exchange.request.stream


def lacks_its_call(exchange: Exchange) -> bool:
    """Whether an answer stopped to call a tool, and has no call."""
    return exchange.stop in _TOOL_STOPS and not (exchange.reply and exchange.reply.tool_uses)


def _is_synthetic(exchange: Exchange) -> bool:
    """Whether a wrapper wrote the answer itself: it counts no token, and reports a failure."""
    usage = exchange.answered.usage if exchange.answered else {}
    counts = [usage.get(name) for name in ("input_tokens", "output_tokens")]
    said = exchange.reply.text.strip().lower() if exchange.reply else ""
    return counts == [0, 0] and said.startswith(_WRAPPER_ERRORS)


STATUSES: dict[str, OutcomeWord] = {
    "": "completed",
    "ok": "completed",
    "completed": "completed",
    "success": "completed",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "limit": "limit",
    "command": "completed",
}
"""The outcome of each status of a final; any other status means `failed_truthfully`."""

_WAITING = "waiting"
"""The status of a final that asks the user, before the agent goes on with what the model asked."""

_COMMAND = re.compile(r"\s*/[a-z][\w:-]*(\s|$)", re.IGNORECASE)
"""A message to the program and not to the model, such as `/model opus`. Every chat channel and
terminal agent writes its commands so; a path has a second slash."""

TELLING = frozenset({"final", "error", "notice"})
"""The outbox kinds that tell a user about the state of a turn."""

_WORST: tuple[OutcomeWord, ...] = ("limit", "none", "failed_truthfully", "cancelled", "completed")


def claimed(sending: Sending) -> OutcomeWord:
    """The outcome that a final or an error claims."""
    word = STATUSES.get(sending.request.status, "failed_truthfully")
    is_end = sending.request.kind != "error" and not sending.is_question
    if word == "completed" and (not is_end or _is_apology(sending)):
        return "failed_truthfully"
    return word


def _is_apology(sending: Sending) -> bool:
    """Whether a text of an agent that says texts alone tells of a failure: the model's last answer
    failed, and the text is of the agent's own words and not the model's."""
    main = [e for e in sending.asked or () if e.purpose == "main" and e.n < sending.n]
    if not main or not wrong(main[-1]) or not (said := without_blanks(sending.request.text)):
        return False
    answers = (without_blanks(e.reply.text) for e in main if e.reply)
    return not any(text and (text in said or said in text) for text in answers)


def asks_the_user(sending: Sending) -> bool:
    """Whether a message asks the user for a decision, by its status or by the turn after it."""
    is_said = sending.request.kind == "final" and sending.request.status == _WAITING
    return is_said or sending.is_question


def is_a_reply(sending: Sending) -> bool:
    """Whether a final is a part of the conversation; "Stopped." after a cancel and a question about
    a call are words of the program."""
    return claimed(sending) != "cancelled" and not asks_the_user(sending)


def is_waiting(turn: Turn) -> bool:
    """Whether a turn ended with a question to the user, which the next message answers."""
    return any(map(asks_the_user, (turn.endings or turn.sendings)[-1:]))


def was_left_to_the_user(turn: Turn, ask: Ask) -> bool:
    """Whether the user was asked about a call before it was answered, and had not allowed it."""
    asked = ask.questions_before(ask.sent_n)
    # Many gates know yes and no alone (hermes, Claude Code, ACP): for them another input is a no.
    is_denied = bool(asked) and (not asked[-1].is_allowed or asked[-1].is_edited)
    is_late = bool(asked) and asked[-1].answer_at(ask.sent_ms) is None
    return is_denied or is_late or (is_waiting(turn) and turn.sendings[-1].n < ask.sent_n)


def is_local(turn: Turn) -> bool:
    """Whether the program itself answered the message, without the model, and the user knows."""
    told = any(s.request.kind in TELLING and is_taken(s) for s in turn.sendings)
    return told and needs_no_model(turn)


def needs_no_model(turn: Turn) -> bool:
    """Whether the program itself answers the message: it is a command (`/model opus`) or blank, or
    the agent says so by the status `command`."""
    is_asked = bool(turn.text.strip()) and not _COMMAND.match(turn.text)
    says_so = any(s.request.status == "command" for s in turn.sendings)
    return not turn.main and (says_so or not is_asked)


def is_resent(turn: Turn) -> bool:
    """Whether a message that came again gets the answer that the model gave before. An agent does
    so that stored the answer, and was killed before it knew of the delivery."""
    if turn.main or not turn.endings:
        return False
    said = without_blanks(turn.endings[-1].request.text)
    asked = (exchange for earlier in turn.earlier for exchange in earlier.main)
    good = (without_blanks(e.reply.text) for e in asked if e.reply and not wrong(e))
    return any(text and text in said for text in good)


def met_a_limit(trace: Trace) -> bool:
    """Whether a turn met a limit of the harness; an agent may also have limits itself."""
    return any(turn.limits for turn in trace.turns.values())


def outcome(history: History) -> OutcomeWord:
    """The outcome of the run: the worst of its turns (limit, none, failed, cancelled, completed).

    A turn without a reply is `none`. One that a kill cut off counts as that in which its message
    came again or was answered; one that waits for the user counts as the turn that goes on.
    """
    turns = history.trace.turns.values()
    last = {(t.session, t.delivery.inbound.id): t for t in turns if t.delivery}
    last |= {(t.session, name): t for t in turns for each in t.endings for name in each.named}
    taken = taken_turns(history.trace)
    words = {
        _of_turn(t)
        for t in turns
        if t.limits or (t.delivery and not _ignored(t, last) and not _is_taken(t, taken))
    }
    return next((word for word in _WORST if word in words), "none")


_TAKEN_BY = "persistence.second_agent"
"""The fault by which another process accepts a message first; the turn is then that process's."""


def taken_turns(trace: Trace) -> set[tuple[str, int]]:
    """The turns whose message another process on the session accepted first."""
    return {(a.session, a.turn) for a in trace.answers if _TAKEN_BY in a.faults}


def _is_taken(turn: Turn, taken: set[tuple[str, int]]) -> bool:
    return (turn.session, turn.number) in taken and not turn.sendings and not turn.main


def _ignored(turn: Turn, last: dict[MessageName, Turn]) -> bool:
    """Whether the message was answered before and gets no second reply, or was not answered before
    a kill and comes again."""
    assert turn.delivery is not None
    again = bool(turn.interrupted_n) and last[turn.session, turn.delivery.inbound.id] is not turn
    if (turn.redelivery or again) and not turn.endings:
        return True
    return is_waiting(turn) and any(
        t.session == turn.session and t.number > turn.number for t in last.values()
    )


def _of_turn(turn: Turn) -> OutcomeWord:
    if turn.limits:
        return "limit"
    if turn.endings:
        return claimed(turn.endings[-1])
    if is_local(turn):
        return "completed"
    return "cancelled" if turn.cancelled_n else "none"


def expected(history: History) -> Expect:
    """The scenario's expectation, from the start event of the run."""
    return msgspec.convert(history.trace.settings.get("expect") or {}, type=Expect)


def is_taken(sending: Sending) -> bool:
    """Whether the outbox accepted the message."""
    return sending.answered is not None and sending.answered.complete


def gave_up(trace: Trace, turn: Turn) -> bool:
    """Whether a turn of an open script ends with an error by policy: after `gives_up_after` failed
    tools, calls that never ran and wrong ends, or too long for an agent without compaction."""
    most, lacks = trace.profile.gives_up_after, trace.profile.declares("compaction") is False
    if not (most or lacks) or not trace.is_open or not turn.endings:
        return False
    if claimed(turn.endings[-1]) not in ("failed_truthfully", "limit"):
        return False
    tools = sum(ask.execution is None or ask.execution.failed for ask in turn.asks)
    answers = sum(bool(wrong(e)) and not calls_tools(e) for e in turn.main)
    is_too_long = lacks and any(e.too_large for e in turn.main[-1:])
    return is_too_long or (most is not None and tools + answers >= most)
