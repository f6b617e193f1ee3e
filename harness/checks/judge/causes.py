"""What tells a finding from others of its code, and which finding follows from which.

A check names what only it knows of a cause: the tool of a refused call, the exception of a crash,
the key of an expectation. The rest follows from the events that prove the finding, by one rule for
all checks.

A verdict reports the cause of other findings first. `causes.tsv` lists, for a code or a whole
check (`check.*`), the findings that may cause it, and the tie that their events must have. `event`:
they share an event. `turn`: they share an event or a turn, or the target
crashes and the session has no later call. `later`: as `turn`, or the cause comes
before the evidence of the other finding. `run`: they are of one run. A finding without a tie is
reported by itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from types import MappingProxyType
from typing import Literal

import msgspec

from harness.core.history.events import Answered, AnyEvent, Called, Effected
from harness.core.history.history import History
from harness.core.values.calls import ToolRequest
from harness.core.values.table_file import table
from harness.core.values.verdict import CLASSES, Finding


def placed(findings: Sequence[Finding], history: History) -> list[Finding]:
    """Return the findings with session and seam, and with the tool and the faults of the proof.

    Several values of one field are sorted and joined by a comma.
    """
    wanted = {n for finding in findings for n in finding.events}
    events: dict[int, AnyEvent] = {}
    answers: dict[str, Answered] = {}
    for event in history.events if wanted else ():
        if event.n in wanted:
            events[event.n] = event
        if isinstance(event, Answered) and event.faults:
            answers[event.key] = event
    return [_placed(f, [events[n] for n in f.events if n in events], answers) for f in findings]


def _placed(finding: Finding, proof: Sequence[AnyEvent], faulty: dict[str, Answered]) -> Finding:
    if not proof:
        return finding
    cause = finding.cause
    tool = cause.tool or _joined(map(_tool, proof))
    fault = cause.fault or _joined(_faults(proof, faulty))
    if (tool, fault) != (cause.tool, cause.fault):
        cause = msgspec.structs.replace(cause, tool=tool, fault=fault)
    session, seam = _joined(event.session for event in proof), _joined(map(_seam, proof))
    return msgspec.structs.replace(finding, cause=cause, session=session, seam=seam)


def _joined(values: Iterable[str]) -> str:
    return ", ".join(sorted({*values} - {""}))


def _seam(event: AnyEvent) -> str:
    return event.seam if isinstance(event, Called | Answered) else type(event).__name__.lower()


def _tool(event: AnyEvent) -> str:
    match event:
        case Effected(name=name) | Called(request=ToolRequest(name=name)):
            return name
        case _:
            return ""


def _faults(proof: Sequence[AnyEvent], faulty: dict[str, Answered]) -> Iterable[str]:
    """The faults of the answers in the proof.

    What answers the last call of the proof came after the agent's mistake, and does not count.
    """
    last_n = max(event.n for event in proof)
    for event in proof:
        answer = faulty.get(event.key) if isinstance(event, Called | Answered) else None
        if answer is not None and answer.n <= last_n:
            yield from answer.faults


class CauseRow(msgspec.Struct, frozen=True):
    """The findings that may cause a finding, how they must be tied, and the reason."""

    finding: str
    tie: Literal["event", "turn", "later", "run"]
    causes: tuple[str, ...]
    reason: str


CAUSES: MappingProxyType[str, CauseRow] = table("harness.checks.judge", "causes.tsv", CauseRow)
"""The rows by the code of the finding that follows, in the order of the file."""

Places = dict[int, tuple[str, int]]
"""The session and the turn of events, by their number."""


def from_causes(findings: Sequence[Finding], history: History) -> tuple[Finding, ...]:
    """Return the findings in order, each after its cause; `follows` names the cause.

    The end of the target and a run without a request come first. Defects, weaknesses, advice and
    book-keeping follow. In each class the code that is proved first is reported first: what an
    agent does wrong explains what goes wrong later, in any check. Findings that are
    proved by one event stand in the order of their checks.
    """
    ordered = _in_order(findings)
    if len(ordered) < 2:
        return tuple(ordered)
    cause_of = _causes(ordered, _places(history), _works(history))
    following: dict[int, list[int]] = {}
    for place, cause in cause_of.items():
        following.setdefault(cause, []).append(place)
    roots = [place for place in range(len(ordered)) if place not in cause_of]
    return tuple(f for root in roots for f in _told(ordered, cause_of, following, root))


def _in_order(findings: Sequence[Finding]) -> list[Finding]:
    """The findings by rank, and then by the moment at which the first of their code is proved.

    The findings of one code stay together.
    """
    proved: dict[tuple[int, str], float] = {}
    for finding in findings:
        key, moment = (rank(finding), finding.code), max(finding.events, default=inf)
        proved[key] = min(moment, proved.get(key, inf))
    first = {
        key: place for place, key in enumerate(sorted(proved, key=lambda k: (k[0], proved[k])))
    }
    return sorted(findings, key=lambda finding: first[rank(finding), finding.code])


def rank(finding: Finding) -> int:
    """The sort key of a finding: the end of the target first, then the classes in order."""
    if finding.check == "target" or finding.code == "run.nothing_intercepted":
        return -1
    return CLASSES.index(finding.class_) if finding.class_ else len(CLASSES)


def _places(history: History) -> Places:
    events = ((e.n, getattr(e, "session", ""), getattr(e, "turn", 0)) for e in history.events)
    return {n: (session, turn) for n, session, turn in events if turn}


def _works(history: History) -> dict[str, int]:
    """The last call of each session, without those for a message: a thread of the agent may
    crash, and another one reads on."""
    made = (e for e in history.events if isinstance(e, Called) and e.seam != "inbox")
    return {called.session: called.n for called in made}


def _causes(ordered: Sequence[Finding], places: Places, works: Mapping[str, int]) -> dict[int, int]:
    """Map the index of each finding that has a cause to the index of that cause."""
    found: dict[int, int] = {}
    known: dict[str, _Candidates] = {}
    for place, finding in enumerate(ordered):
        row = CAUSES.get(finding.code) or CAUSES.get(f"{finding.check}.*")
        if row is None:
            continue
        if row.finding not in known:
            known[row.finding] = _Candidates(row, ordered, places, works)
        cause = known[row.finding].first_of(finding)
        if cause is not None:
            found[place] = cause
    return found


class _Candidates:
    """The findings that a row names as causes, by what may tie another finding to them.

    A log may have thousands of findings, so they are looked up instead of compared with each other.
    """

    def __init__(
        self,
        row: CauseRow,
        ordered: Sequence[Finding],
        places: Places,
        works: Mapping[str, int],
    ) -> None:
        self._tie, self._places_of_events, self._works = row.tie, places, works
        self._first: int | None = None
        self._crash: int | None = None
        self._by_event: dict[int, int] = {}
        self._by_turn: dict[tuple[str, int], int] = {}
        self._earliest: list[tuple[int, int]] = []
        for place, finding in enumerate(ordered):
            if finding.code in row.causes or f"{finding.check}.*" in row.causes:
                self._add(place, finding)

    def _add(self, place: int, cause: Finding) -> None:
        self._first = place if self._first is None else self._first
        self._crash = place if cause.code == "target.crashed" else self._crash
        for event in cause.events:
            self._by_event.setdefault(event, place)
        for turn in self._turns(cause):
            self._by_turn.setdefault(turn, place)
        begun = min(cause.events, default=None)
        if begun is not None and (not self._earliest or begun < -self._earliest[-1][0]):
            self._earliest.append((-begun, place))

    def _turns(self, finding: Finding) -> set[tuple[str, int]]:
        return {self._places_of_events[n] for n in finding.events if n in self._places_of_events}

    def first_of(self, finding: Finding) -> int | None:
        """The index of the first cause of a finding; None without one."""
        if self._tie == "run" or not finding.events:
            return self._first if self._tie == "run" else None
        own = self._turns(finding)
        tied = [self._by_event.get(event) for event in finding.events]
        if self._tie == "turn":
            tied += map(self._by_turn.get, own)
            last_n = max(finding.events)
            tied += [self._crash] * all(self._works.get(s, 0) <= last_n for s, _ in own)
        if self._tie == "later" or (self._tie == "turn" and not own):
            tied.append(self._begun_by(max(finding.events)))
        return min((place for place in tied if place is not None), default=None)

    def _begun_by(self, n: int) -> int | None:
        """The first cause that begins at an event or before it; `_earliest` has only those that
        begin before all causes ahead of them."""
        at = bisect_left(self._earliest, (-n, -1))
        return self._earliest[at][1] if at < len(self._earliest) else None


def _told(
    ordered: Sequence[Finding],
    cause_of: dict[int, int],
    following: dict[int, list[int]],
    place: int,
) -> Iterator[Finding]:
    """Yield a finding, then the findings that follow from it."""
    cause = cause_of.get(place)
    follows = ordered[cause].code if cause is not None else ""
    yield msgspec.structs.replace(ordered[place], follows=follows)
    for other in following.get(place, ()):
        yield from _told(ordered, cause_of, following, other)
