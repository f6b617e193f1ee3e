"""The chain of a finding: the answer that decided it, what its proof contradicts, and the proof.

A check names its evidence, and the last event of it is the one at which the finding is certain. (Of
285 wrong agents two were certain before; to cut and judge a history at each event finds that, and
takes as long as the futures.)
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.checks.judge import rule_of
from harness.core.history.events import Answered
from harness.core.history.history import History
from harness.core.values.verdict import Finding
from harness.diagnosis.redraws import Redraws, answers_before
from harness.verdicts.diagnosis import LINKS_MAX, Diagnosis, Link, Role
from harness.verdicts.event_lines import event_lines


def diagnosis(
    history: History, finding: Finding, redraws: Redraws, *, run: str, target: str
) -> Diagnosis:
    """Draw the futures of a run, and return why it has a finding."""
    proof_n = max(finding.events, default=history.events[-1].n)
    answers = answers_before(history, proof_n)
    decision = redraws.decisive(answers)
    last = answers[-1] if answers else None
    at = answers.index(decision) if decision else 0
    return Diagnosis(
        run=run,
        target=target,
        finding=finding,
        reason=_reason(finding.code),
        start=redraws.share(None),
        end=redraws.share(last),
        before=redraws.share(answers[at - 1] if at else None) if decision else None,
        after=redraws.share(decision) if decision else None,
        links=tuple(_links(history, finding, proof_n, decision)),
        played=redraws.played,
    )


def _reason(code: str) -> str:
    try:
        return rule_of(code).reason
    except LookupError:  # book-keeping, or a check without a table
        return ""


def _links(
    history: History, finding: Finding, proof_n: int, decision: Answered | None
) -> list[Link]:
    """The events of the chain with their roles, at most `LINKS_MAX`, in their order.

    Of long evidence the first fact and the newest before the proof stay.
    """
    before = sorted(n for n in finding.events if n < proof_n)
    roles: dict[int, Role] = dict.fromkeys(before, "step")
    roles.update(dict.fromkeys(before[:1], "fact"))
    if decision is not None:
        roles[decision.n] = "decision"
    roles[proof_n] = "proof"
    lines = event_lines(history, roles)
    at_ms = {event.n: event.at_ms for event in history.events if event.n in roles}
    chosen = _chosen(sorted(roles), {proof_n, decision.n if decision else proof_n})
    return [Link(n, lines.get(n, ""), at_ms.get(n, 0), roles[n]) for n in chosen]


def _chosen(events: Sequence[int], kept: set[int]) -> list[int]:
    facts = [n for n in events if n not in kept]
    room = LINKS_MAX - len(kept)
    shown = facts if len(facts) <= room else [facts[0], *facts[len(facts) - room + 1 :]]
    return sorted({*shown, *kept})
