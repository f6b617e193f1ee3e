"""The oracle of a finding: whether a candidate still shows it, and shows it as the agent's.

The reference agent plays the candidate too, and may show no new code, so the finding stays the
agent's. A candidate shows the finding if it shows its key: code, place and cause, with the faults
of its proof. A looser question kept the form of a finding whose cause had been cut away. So a
careful agent was blamed for what its smaller scenario did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.agent import agent as reference
from harness.checks.judge.causes import rank
from harness.comparison.writings import WRITING, difference, steps, writings, written_otherwise
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import HarnessError, InputError, nearest
from harness.core.values.profile import NO_PROFILE
from harness.core.values.verdict import Finding, Verdict
from harness.runner import run
from harness.runner.needs import World
from harness.runner.run import Run
from harness.targets import TargetSpec
from harness.targets.spec import of_callable

REFERENCE = of_callable(reference)


class FindingOracle:
    """`keeps` for one finding of one target.

    `finding` is the one that is kept, `world` where the target runs.
    """

    def __init__(
        self,
        scenario: Scenario,
        target: TargetSpec,
        code: str = "",
        *,
        like: Finding | None = None,
        world: World | None = None,
        store: str = "",
    ) -> None:
        """Play `scenario`, and keep the finding `code`, or of a check that is named so.

        Without a code the first finding is kept that fails the run and follows from no other. One
        that is alike `like` is preferred. Raises NotShown for a scenario that does not give
        the finding.
        """
        self._target, self._world, self._store = target, world, store
        self._compares = code == WRITING
        played = self._play(scenario, target)
        self.finding = chosen(played.verdict, code, scenario.run_name, like)
        self.world = played.world
        self._in_doubt = bool(played.verdict.doubts)
        self._allowed = self._codes(scenario)

    def __call__(self, scenario: Scenario) -> bool:
        """Whether the finding is still there, and is still one of the agent."""
        try:
            played = self._play(scenario, self._target)
        except (HarnessError, InputError):  # what cannot be played does not show the finding
            return False
        if not self.is_shown(played):
            return False
        shown = self._codes(scenario)
        return shown is None or self._allowed is None or shown <= self._allowed

    def is_shown(self, played: Run) -> bool:
        """Whether a run shows the finding."""
        if played.verdict.doubts and not self._in_doubt:
            return False
        return any(is_same(finding, self.finding) for finding in played.verdict.findings)

    def _play(self, scenario: Scenario, target: TargetSpec) -> Run:
        def play(scenario: Scenario) -> Run:
            return run(scenario, target, world=self._world, store=self._store, capture="fd")

        return compared(play(scenario), play) if self._compares else play(scenario)

    def _codes(self, scenario: Scenario) -> frozenset[str] | None:
        """What the reference agent shows with the target's store; None if it cannot play it."""
        scenario = msgspec.structs.replace(scenario, profile=NO_PROFILE)
        options = {k: v for k, v in self._target.options.items() if k == "store"}
        try:
            verdict = run(scenario, REFERENCE, options=options).verdict
        except (HarnessError, InputError):
            return None
        if verdict.verdict == "not_applicable":
            return None
        return frozenset(finding.code for finding in verdict.findings)


def compared(played: Run, play: Callable[[Scenario], Run]) -> Run:
    """The run; with `run.writing` if the agent takes another course in another writing of it.

    Runs that fail by themselves are not compared, as in `run --compare`.
    """
    if played.verdict.verdict != "pass":
        return played
    course = steps(played.history)
    for writing in writings(played.scenario)[1:]:
        again = play(writing)
        if again.verdict.verdict != "pass":
            continue
        if differs := difference(course, steps(again.history)):
            verdict = written_otherwise(played.verdict, again.name, differs)
            return msgspec.structs.replace(played, verdict=verdict)
    return played


class NotShown(InputError):
    """A run has no such finding; `given` are the codes of those that it has."""

    def __init__(self, code: str, given: Sequence[str], place: str) -> None:
        self.given = tuple(given)
        super().__init__(_not_shown(code, given), place)


def _not_shown(code: str, given: Sequence[str]) -> str:
    if not given:
        return "no finding"
    if not code:
        return f"no finding fails the run; found is {', '.join(given)}, which --keep can name"
    close = nearest(code, given)
    hint = f"; {close}" if close.startswith("did") else ""
    return f"no finding {code!r}, but {', '.join(given)}{hint}"


def is_same(one: Finding, other: Finding) -> bool:
    """Whether two findings are the same while a scenario is shrunk: its name and its variant stay,
    and so do its wire and its stream."""
    return one.key() == other.key()


def is_alike(one: Finding, other: Finding) -> bool:
    """Whether two findings are the same except for their faults: in a campaign's finding the cause
    names all faults of its run, and not those of its proof alone."""
    return is_same(_without_fault(one), _without_fault(other))


def _without_fault(finding: Finding) -> Finding:
    cause = msgspec.structs.replace(finding.cause, fault="")
    return msgspec.structs.replace(finding, cause=cause)


def chosen(verdict: Verdict, code: str, name: str, like: Finding | None = None) -> Finding:
    """The worst finding of a code or a check; without one the worst that fails the run.

    One that is alike `like` is preferred, then one that follows from no other. Raises
    NotShown when there is none.
    """
    named = [finding for finding in verdict.findings if code in (finding.code, finding.check)]
    fitting = named if code else [*verdict.failing]
    if not fitting:
        raise NotShown(code, list(dict.fromkeys(f.code for f in verdict.findings)), name)
    return min(fitting, key=lambda f: (not (like and is_alike(f, like)), bool(f.follows), rank(f)))
