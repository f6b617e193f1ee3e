"""The check of a plug-in is asked by what it reads, and the rest is not applicable."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest

from harness.checks import CheckFunction, Finding, History, judge, needs
from harness.checks.judge.observed_reads import ObservedHistory
from harness.core.values.messages import assistant, user
from harness.core.values.verdict import Verdict
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript
from tests.checks.histories import Story, use

RUN = Story().turn("go").reply("darn").final().end()
SILENT = Story().turn("go").reply("darn").end()
START = Story().history
LOG = to_history(Transcript(name="s", messages=(user("a"), assistant("darn"))))
Found = Iterator[Finding]


def polite(history: History, *, word: str = "damn") -> Found:
    """No reply has the word."""
    for sending in history.trace.sendings:
        if word in sending.request.text:
            yield Finding("polite.word", f"a reply says {word!r}", (sending.n,))


def by_turn(history: History) -> Found:
    """As `polite`, turn by turn, and at the end only."""
    for turn in history.trace.turns.values():
        for ending in turn.endings if history.trace.ended else ():
            if "damn" in ending.request.text:
                yield Finding("by_turn.word", "a word", (ending.n,))


def by_request(history: History) -> Found:
    """No request is unreadable."""
    for exchange in history.trace.exchanges:
        if exchange.request.unread:
            yield Finding("by_request.unread", "unread", (exchange.n,))


def after_kills(history: History) -> Found:
    """A turn that was killed ends."""
    for turn in history.trace.turns.values():
        if turn.interrupted_n and not turn.settled_n:
            yield Finding("after_kills.open", "open", (turn.interrupted_n,))


def beside(history: History) -> Found:
    """A reply comes after a request: reads two lists."""
    first = history.trace.exchanges[:1]
    for sending in history.trace.sendings:
        if first and sending.n < first[0].n:
            yield Finding("beside.early", "early", (sending.n,))


def raw(history: History) -> Found:
    """No call is malformed: reads the events themselves."""
    for event in history.events:
        if getattr(event, "malformed", False):
            yield Finding("raw.malformed", "malformed", (event.n,))


def counts(history: History) -> Found:
    """No tool runs: reads the past."""
    if history.past.tool_calls:
        yield Finding("counts.tool", "a tool ran", (1,))


def silent(history: History) -> Found:
    """Reads nothing but settings."""
    if history.trace.settings.get("shout") or "store" not in history.trace.seams | {"store"}:
        yield Finding("silent.shout", "shouts", (1,))


def copies(history: History) -> Found:
    """Works on copies of the turns, as our own checks do."""
    for turn in history.trace.turns.values():
        part = msgspec.structs.replace(turn, sendings=turn.sendings[:1])
        if any(sending.request.text == "damn" for sending in part.sendings):
            yield Finding("copies.word", "a word", (turn.opened_n,))


def absent(history: History) -> Found:
    """Each message has a message to the user: finds what is not there."""
    if history.trace.deliveries and not history.trace.sendings:
        yield Finding("absent.silence", "nothing is said", (history.trace.deliveries[0].n,))


declared = needs("model")(beside)


def _reason(check: CheckFunction, history: History) -> str:
    """Why a check was not asked; "" if it passed."""
    verdict = judge(history, extra=[check])
    reasons = {n.check: n.reason for n in verdict.not_applicable}
    assert (check.__name__ in verdict.passed) != (check.__name__ in reasons)
    return reasons.get(check.__name__, "")


SEAM = "not asked: it reads what needs the seam outbox"
REASONS: list[tuple[CheckFunction, History, str]] = [
    (polite, RUN, ""),
    (polite, SILENT, "not asked: no message to the user"),
    (polite, LOG, SEAM),
    (by_turn, RUN, ""),
    (by_turn, SILENT, "not asked: no message to the user"),
    (by_turn, LOG, SEAM),
    (by_request, RUN, ""),
    (by_request, LOG, ""),
    (by_request, START, "not asked: no request to the model"),
    (after_kills, RUN, "not asked: no kill"),
    (beside, RUN, ""),
    (beside, SILENT, ""),
    (beside, LOG, SEAM),
    (declared, LOG, ""),
    (raw, RUN, ""),
    (raw, LOG, ""),
    (raw, START, "not asked: no call"),
    (counts, RUN, ""),
    (counts, START, "not asked: no call"),
    (silent, RUN, "not asked: it reads nothing that happens"),
    (copies, RUN, ""),
    (copies, LOG, SEAM),
]


@pytest.mark.parametrize(("check", "history", "reason"), REASONS)
def test_a_check_is_asked_by_what_it_reads(
    check: CheckFunction, history: History, reason: str
) -> None:
    assert _reason(check, history) == reason


NAMED = {check.__name__: check for check, *_ in REASONS}


@pytest.mark.parametrize("check", NAMED.values(), ids=NAMED)
def test_what_is_noted_changes_nothing(check: Callable[[History], Found]) -> None:
    for history in (RUN, SILENT, LOG):
        assert list(check(ObservedHistory(history))) == list(check(history))


def test_what_is_not_there_is_still_found() -> None:
    (found,) = (f for f in judge(SILENT, extra=[absent]).findings if f.check == "absent")
    assert found.code == "absent.silence"


def _alone(check: CheckFunction, history: History) -> Verdict:
    return judge(history, extra=[check], only=check.__name__)


def test_a_check_that_is_asked_alone_does_not_pass_without_its_question() -> None:
    assert _alone(polite, RUN).verdict == "pass"
    verdict = _alone(polite, LOG)
    assert (verdict.verdict, verdict.passed, verdict.doubts) == ("not_applicable", (), ())
    assert verdict.not_applicable[0].reason == f"polite: {SEAM}"
    assert _alone(finds, RUN).verdict == "fail"


def finds(history: History) -> Found:
    """Finds the word of the run."""
    yield from polite(history, word="darn")


def test_a_compaction_names_the_turn_that_the_trace_holds() -> None:
    story = Story().turn("go").reply("a").reply("sum", purpose="compact").reply("x").final()
    trace = ObservedHistory(story.end()).trace
    assert [c.turn for c in trace.compactions] == [trace.turns["main", 1]]
    assert all(c.turn is trace.turns["main", 1] for c in trace.compactions)


def test_a_check_of_a_run_without_its_event_makes_no_run_unknown() -> None:
    story = Story().turn("go").reply(use("list")).tool().reply("x").final()
    verdict = judge(story.end(), extra=[after_kills, silent])
    assert (verdict.verdict, verdict.doubts) == ("pass", ())
