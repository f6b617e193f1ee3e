"""Parts of a plug-in and their contracts as a user writes them: for `mypy --strict`, not run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

from harness import InputError, Message, Text, load_plugins, user
from harness.checks import Case, Finding, History, excused_by, excuses, needs
from harness.contracts import check_check, check_fault, check_format, check_store
from harness.faults import Moment, Plan, Seconds, Wait
from harness.recordings import Recording, Transcript
from harness.stores import JsonlStore, Store

SEAMS = ("store",)


def slow_disk(moment: Moment, plan: Plan, *, wait_s: Seconds = 5.0) -> Plan:
    """The disk stalls before it answers."""
    late = moment.draws.random("slow_disk", moment.call.key).random() < 0.5
    return (Wait(round(wait_s * 1000)), *plan) if late else plan


@needs("outbox")
def polite(history: History, *, word: str = "darn") -> Iterator[Finding]:
    """No reply has the word."""
    for sending in history.trace.sendings:
        if word in sending.request.text:
            yield Finding("polite.word", f"a reply says {word!r}", (sending.n,))


@needs("outbox")
@excused_by(silent=(excuses.CANCEL,))
def answers(history: History) -> Iterator[Finding | Case]:
    """A turn that is over has an answer."""
    for turn in history.trace.turns.values():
        if turn.settled_n and not turn.endings:
            yield Case("silent", [Finding("answers.silent", "no answer", (turn.opened_n,))], turn)


def talk_log(document: bytes) -> Recording | None:
    """Logs of the talk agent."""
    if not document.startswith(b"TALK"):
        return None
    if len(document) < 10:
        raise InputError("the log is empty", "line 2")
    said = (Message("user", (Text(document.decode("utf-8", "replace")),)),)
    return Recording((Transcript(name="talk", messages=said),))


def lines(path: Path) -> Store:
    """Our JSON Lines, by another name."""
    return JsonlStore(path)


def add(path: Path, message: Message) -> None:
    """One message is written."""
    JsonlStore(path).append("main", message)


def holds() -> None:
    """The parts keep their laws."""
    assert_type(user("hi"), Message)
    check_fault(slow_disk)
    check_check(polite, examples=5)
    check_check(answers, at_end=True)
    check_format(talk_log, b"TALK\nhello\n")
    check_store(lines, add, cuts=False)
    assert_type(load_plugins("my_parts")[0].prefix, str)
