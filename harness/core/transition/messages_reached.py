"""Which messages of the inbox a request holds, and the turn that it belongs to.

Only the words tell. A user says the same words again, and a summary repeats what was said long ago.
So equal words count as often as they are new.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile

from harness.core.history.events import Answered
from harness.core.history.exchanges import answer_text
from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.transition.ports import Reading
from harness.core.values.messages import Message, is_said_anew, with_marks, without_blanks


def reached(
    history: History, session: str, reading: Reading, before: Sequence[Message]
) -> tuple[int, tuple[str, ...]]:
    """The turn of a request, and which of the messages in mid-turn it holds.

    It is the open turn, or the next one if it holds a message that interrupts, or if no turn is
    open; the first request of a turn may hold several. Some agents write what came into the last
    result, beside what the tool said; a result of these words alone is the tool's. `before` are the
    messages of the session's last request.
    """
    past = history.past
    newest = [*takewhile(lambda m: m.role != "assistant", reversed(reading.messages))][::-1]
    waiting, turn = past.waiting(session), past.turn(session)
    # What comes again after its reply is dropped in silence: equal words are those of a new one.
    new_first = sorted(waiting, key=lambda name: (session, name) in past.finished)
    words = {name: _words(past, session, name) for name in new_first}
    results = [r.text for m in newest for r in m.tool_results]
    said = [m.text for m in newest]
    said += [text for text in results if without_blanks(text) not in words.values()]
    sent = without_blanks(with_marks("\n".join(said)))
    # After an answer or results the turn's own message is before them: equal words are new ones.
    is_beyond = len(reading.messages) - len(newest) >= len(before)
    has_results = any(m.tool_results for m in newest)
    is_read = past.turn_calls[session] and (is_beyond or has_results)
    opened = past.open_inbound(session)
    own = "" if is_read else _words(past, session, opened)
    is_copy = bool(own) and (session, opened) in past.finished and not past.turn_calls[session]
    is_passed = is_copy and sent.count(own) <= [*words.values()].count(own)
    # After a kill an agent that steers goes on with the turn, and takes in what has come.
    is_steered = past.profile.inbound_policy(session) == "steer" and bool(opened)
    goes_on = past.is_open(session) or (is_steered and (has_results or bool(own and own in sent)))
    if own and not is_passed:
        sent = sent.replace(own, "\n", 1)
    held = tuple(_held(words, sent))
    if past.is_open(session):  # without an open turn, a request is for what waits
        texts, told = reading.messages, [*_told(history, session)] if held else []
        held = tuple(n for n in held if is_said_anew(words[n], newest, texts, before, told))
    # What is asked again as it was holds no message that has come since: equal words are old.
    held = held if reading.added or not past.is_open(session) else ()
    is_next = past.profile.inbound_policy(session) == "interrupt" and past.turn_calls[session]
    begins = held and (is_next or is_passed or past.reply_refused(session))
    is_blank = not opened and bool(waiting) and not words[waiting[0]]  # and what waits is due
    if begins or (not goes_on and (held or not turn or is_blank)):
        n = _first_begun(past, session, held)
        return turn + 1 + n, tuple(name for name in held if name != waiting[n])
    return turn, held


def _first_begun(past: Past, session: str, held: Collection[str]) -> int:
    """The place, among those that wait, of the message that opens the turn.

    A message that comes again after its answer is dropped, and no event says so. The request tells:
    it holds a later message, and not that one.
    """
    passed = takewhile(lambda name: (session, name) in past.finished, past.waiting(session))
    return sum(name not in held for name in passed) if held else 0


def _told(history: History, session: str) -> Iterator[str]:
    """What the tools of a session have said since the model's last answer."""
    answers = (e for e in reversed(history.events) if isinstance(e, Answered))
    of_session = (answered for answered in answers if answered.session == session)
    for answered in takewhile(lambda one: one.seam != "model", of_session):
        if answered.seam == "tool":
            yield answer_text(answered)


def _words(past: Past, session: str, name: str) -> str:
    return without_blanks(with_marks(past.inbounds.get((session, name), {}).get("text", "")))


def _held(words: Mapping[str, str], sent: str) -> Iterator[str]:
    """The messages, by name, whose words a text holds: equal ones as often as it holds them."""
    for name, said in words.items():
        if said and said in sent:
            sent = sent.replace(said, "\n", 1)
            yield name
