"""The timeline of one run, turn by turn, with each finding at its first event."""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.history.events import Answered, AnyEvent, Called, Started
from harness.core.history.history import History
from harness.core.values.calls import InboxRequest
from harness.core.values.verdict import Finding, Verdict
from harness.core.values.visible_text import visible_line
from harness.report.run_report import MARKS, Paint, cut, plain, rest, told, wrapped
from harness.verdicts.event_lines import at, event_lines


def timeline(history: History, verdict: Verdict, width: int, paint: Paint = plain) -> str:
    """Yield the whole timeline, with the verdict at the end."""
    return "\n".join(
        [
            *_head(history, paint),
            *_body(history, verdict, width, paint),
            "",
            *_verdict(verdict, width, paint),
        ]
    )


def _head(history: History, paint: Paint) -> Iterator[str]:
    first = next((e for e in history.events if isinstance(e, Started)), None)
    if first is not None:
        stream = ", streamed" if first.stream else ""
        yield paint("strong", visible_line(first.run or first.scenario))
        where = f"target {first.target}; {first.world or 'recorded'}"
        yield f"  {where}; {first.wire}{stream}; seed {first.seed}"


def _body(history: History, verdict: Verdict, width: int, paint: Paint) -> Iterator[str]:
    said = event_lines(history)
    marks = marks_of(verdict)
    place: tuple[str, int] | None = None
    for event in history.events:
        if event.n not in said or (is_dull(event) and event.n not in marks):
            continue
        if event.turn and (event.session, event.turn) != place:
            place = (event.session, event.turn)
            yield paint("strong", f"turn {event.turn} of {event.session or 'main'}")
        yield cut(f"{event.n:>6} {at(event.at_ms):>11}  {said[event.n]}", width)
        for finding in marks.get(event.n, ()):
            yield from _mark(finding, width, paint)


def marks_of(verdict: Verdict) -> dict[int, list[Finding]]:
    """Return the findings by the first event of their proof."""
    marks: dict[int, list[Finding]] = {}
    for finding in (*verdict.findings, *verdict.known):
        for n in finding.events[:1]:
            marks.setdefault(n, []).append(finding)
    return marks


def _mark(finding: Finding, width: int, paint: Paint) -> Iterator[str]:
    text = f"{MARKS['fail']} {finding.code}: {finding.message}"
    yield from (paint("fail", line) for line in wrapped(text, width, " " * 20))


def is_dull(event: AnyEvent) -> bool:
    """Whether a neighbouring line says the same: an inbox call, a successful outbox answer."""
    if isinstance(event, Called):
        return isinstance(event.request, InboxRequest)
    if isinstance(event, Answered) and event.seam in ("outbox", "store"):
        return event.outcome == "ok" and not event.faults
    return False


def _verdict(verdict: Verdict, width: int, paint: Paint) -> Iterator[str]:
    word = verdict.verdict
    yield f"{paint(word, f'{MARKS[word]} {word}')}, outcome {verdict.outcome}"
    for finding in verdict.findings:
        events = f"  events {' '.join(map(str, finding.events))}" if finding.events else ""
        yield from told(finding, verdict, width, paint, events)
    for finding in verdict.known:
        yield from wrapped(f"known: {finding.code}: {finding.message}", width, "  ")
    yield from rest(verdict, width)
