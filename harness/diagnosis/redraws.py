"""Futures of a run: it is played again as it was up to an answer, and drawn after it.

After the answer each reply of the model is the recorded one or the end of its turn. Each fault of
the scenario strikes or not. The first future is the calm one: the model ends each turn, and no
fault strikes. What most futures show was decided before they were drawn. So the first answer after
which most of them show a finding has decided it.

A future draws only from the script and the faults of the scenario, so it holds nothing that the
scenario has not. An agent that is random by itself adds chances that no seed holds.

The chain of a finding: the answer that decided it, what its proof contradicts, and the proof.

A check names its evidence, and the last event of it is the one at which the finding is certain. (Of
285 wrong agents two were certain before; to cut and judge a history at each event finds that, and
takes as long as the futures.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from harness.checks.judge import rule_of
from harness.core.history.events import Answered, Killed
from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.core.scenario.script import AFTER_ALL, model_reply, without_end
from harness.core.transition.arming import ArmedFault
from harness.core.values.calls import Call
from harness.core.values.draws import Draws
from harness.core.values.plans import Answer, Plan
from harness.core.values.verdict import Finding, Verdict
from harness.verdicts.diagnosis import FUTURES, LINKS_MAX, Diagnosis, Link, Role, Share
from harness.verdicts.event_lines import event_lines

_SEAMS = frozenset({"model", "tool", "inbox", "approval", "outbox"})
"""The seams whose answers decide. A store's are asked for only where a fault may strike at it."""

END = Answer(model_reply(AFTER_ALL, Draws(0), ""))

Play: TypeAlias = Callable[[Scenario, Sequence[ArmedFault]], Verdict]
"""Plays a scenario with further faults armed, and judges it."""


class LaterReplies(ArmedFault):
    """Makes some replies of the model that come after an answer the end of their turn.

    `after` is the key of the answer, "" for the beginning of the run. `ends` says by the key of a
    call whether its reply is drawn as the end.
    """

    def __init__(self, after: str, ends: Callable[[str], bool]) -> None:
        super().__init__(FaultSpec(kind="redraw", must_fire=False), _unchanged, "value")
        self._after, self._ends = after, ends

    def is_due(self, call: Call, past: Past, draws: Draws) -> bool:
        """Whether the reply to a call is drawn, and is the end of its turn."""
        is_later = not self._after or past.is_answered(self._after)
        return call.seam == "model" and call.purpose == "main" and is_later and self._ends(call.key)

    def bent(self, call: Call, past: Past, draws: Draws, plan: Plan) -> Plan:
        """The end of the turn."""
        return (END,)


def _unchanged(moment: object, plan: Plan, **settings: Any) -> Plan:
    return plan


class Redraws:
    """The futures of a run with a finding; each answer is asked at most once.

    `played` counts the plays. `on_play` is called after each.
    """

    def __init__(
        self,
        scenario: Scenario,
        history: History,
        finding: Finding,
        play: Play,
        *,
        futures: int = FUTURES,
        on_play: Callable[[], object] = lambda: None,
    ) -> None:
        self._scenario, self._code, self._play = open_ended(scenario), finding.code, play
        self._futures, self._on_play = futures, on_play
        self._strikes = _first_strikes(history, scenario.faults)
        self._shares: dict[int, Share] = {}
        self.played = 0

    def share(self, answered: Answered | None) -> Share:
        """How many futures after an answer show the finding; None is the beginning of the run."""
        n, key = (answered.n, answered.key) if answered else (0, "")
        if n not in self._shares:
            self._shares[n] = self._drawn(key, n)
        return self._shares[n]

    def _drawn(self, key: str, n: int) -> Share:
        """The share after an answer. Once the others cannot change what most futures show, they are
        not played: that saves two plays of five."""
        shown = 0
        for number in range(self._futures):
            shown += self._shows(key, n, number)
            others = number + 1 - shown
            if 2 * shown > self._futures or 2 * others >= self._futures:
                break
        return Share(shown, number + 1)

    def _shows(self, key: str, n: int, number: int) -> bool:
        draws = Draws(number)

        def is_drawn(*names: str) -> bool:
            return number > 0 and draws.random("redraw", *names).random() < 0.5

        faults = tuple(
            fault
            for place, fault in enumerate(self._scenario.faults)
            if self._strikes.get(fault.kind, n + 1) <= n or is_drawn("fault", str(place))
        )
        later = LaterReplies(key, lambda call: not is_drawn("reply", call))
        verdict = self._play(msgspec.structs.replace(self._scenario, faults=faults), [later])
        self.played += 1
        self._on_play()
        return any(finding.code == self._code for finding in verdict.findings)

    def decisive(self, answers: Sequence[Answered]) -> Answered | None:
        """The first answer after which most futures show the finding; None if they do so from the
        beginning on, or after no answer.

        It halves the distance, because what an answer decided stays so after the next one.
        """
        if not answers or self.share(None).is_likely or not self.share(answers[-1]).is_likely:
            return None
        low, high = -1, len(answers) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.share(answers[middle]).is_likely else (middle, high)
        return answers[high]


def answers_before(history: History, n: int) -> list[Answered]:
    """The answers of the world that come before an event, in order."""
    answers = (event for event in history.events if isinstance(event, Answered))
    return [answer for answer in answers if answer.n < n and answer.seam in _SEAMS]


def _first_strikes(history: History, faults: Sequence[FaultSpec]) -> dict[str, int]:
    """The event at which each kind of fault first changed something. Kinds are all that a history
    names, so two faults of one kind count as one. A kill leaves no answer that could name its
    fault, so the first one is that of each kind that no answer names."""
    strikes: dict[str, int] = {}
    killed_n = 0
    for event in history.events:
        if isinstance(event, Answered):
            for kind in event.faults:
                strikes.setdefault(kind, event.n)
        elif isinstance(event, Killed):
            killed_n = killed_n or event.n
    unnamed = {fault.kind for fault in faults} - strikes.keys() if killed_n else ()
    return strikes | dict.fromkeys(unnamed, killed_n)


def open_ended(scenario: Scenario) -> Scenario:
    """The scenario for a run that leaves its course, with faults that need not strike."""
    faults = tuple(msgspec.structs.replace(f, must_fire=False) for f in scenario.faults)
    return msgspec.structs.replace(without_end(scenario), faults=faults)


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
