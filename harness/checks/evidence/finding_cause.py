"""Where a finding stands, and what tells it from others of its code, read from its proof.

A check names what only it knows: the tool of a refused call, the exception of a crash, the key of
an expectation. The rest follows from the events that prove the finding, by one rule for all checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from harness.core.history.events import Answered, AnyEvent, Called, Effected
from harness.core.history.history import History
from harness.core.values.calls import ToolRequest
from harness.core.values.verdict import Finding


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
