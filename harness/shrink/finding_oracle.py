"""The oracle of a finding: whether a candidate still shows it, and shows it as the agent's.

The reference agent plays the candidate too, and may show no new code, so the finding stays the
agent's. A shape is the code, the seams of the proof, and the plain words of a crash or expectation.
A code alone merges kinds of crash; a message changes with every cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from harness.agent import agent as reference
from harness.core.history.events import Answered, AnyEvent, Called
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import HarnessError, InputError, nearest
from harness.core.values.profile import NO_PROFILE
from harness.core.values.verdict import Finding, Verdict
from harness.runner import run
from harness.runner.applicability import World
from harness.runner.run import Run
from harness.targets import TargetSpec
from harness.targets.spec import of_callable


def shape(finding: Finding, history: History) -> str:
    """The shape of a finding in its history: `code`, or `code: words (seams)`."""
    events = {event.n: event for event in history.events}
    seams = sorted({_seam(events[n]) for n in finding.events if n in events})
    words = _WORDS[finding.check](finding) if finding.check in _WORDS else ""
    return f"{finding.code}{f': {words}' if words else ''} ({', '.join(seams)})"


def _seam(event: AnyEvent) -> str:
    return event.seam if isinstance(event, (Called, Answered)) else type(event).__name__.lower()


_CRASH = re.compile(r"\b(\w[\w.]*(?:Error|Exception|Exit|Interrupt|Group))\b")


def _crash(finding: Finding) -> str:
    """The exception and the function that raised it; of a program the exception that it names."""
    if finding.place:
        return f"{finding.place.error} in {finding.place.function}"
    return next(iter(_CRASH.findall(finding.message)), "")


_NAMES = re.compile(r"'[^']*'|\"[^\"]*\"|(?<=the tool )\S+")
_VALUES = re.compile(r"(\d[\d.]*( s)?(, )?)+")


def _compared(finding: Finding) -> str:
    """The words of an expectation up to the colon, without names and numbers."""
    return _VALUES.sub("#", _NAMES.sub("_", finding.message)).partition(":")[0]


_WORDS: dict[str, Callable[[Finding], str]] = {"target": _crash, "expect": _compared}


REFERENCE = of_callable(reference)


class FindingOracle:
    """`keeps` for one finding of one target.

    `finding` is the one that is kept, `shape` what makes another one the same, `world` where the
    target runs.
    """

    def __init__(
        self,
        scenario: Scenario,
        target: TargetSpec,
        code: str = "",
        *,
        world: World | None = None,
        store: str = "",
    ) -> None:
        """Play `scenario`, and keep the finding `code`, or of a check that is named so.

        Without a code the first finding is kept that fails the run and follows from no other.
        Raises NotShown for a scenario that does not give the finding.
        """
        self._target, self._world, self._store = target, world, store
        played = self._play(scenario, target)
        self.finding = chosen(played.verdict, code, scenario.run_name)
        self.shape = shape(self.finding, played.history)
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
        return any(
            finding.code == self.finding.code and shape(finding, played.history) == self.shape
            for finding in played.verdict.findings
        )

    def _play(self, scenario: Scenario, target: TargetSpec) -> Run:
        return run(scenario, target, world=self._world, store=self._store, capture="fd")

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


class NotShown(InputError):
    """A run has no such finding; `given` are the codes of those that it has."""

    def __init__(self, code: str, given: Sequence[str], place: str) -> None:
        self.given = tuple(given)
        super().__init__(_not_shown(code, given), place)


def _not_shown(code: str, given: Sequence[str]) -> str:
    if not given:
        return "no finding, so there is nothing to keep"
    if not code:
        return f"no finding fails the run; found is {', '.join(given)}, which --keep can name"
    close = nearest(code, given)
    hint = f"; {close}" if close.startswith("did") else ""
    return f"no finding {code!r}, but {', '.join(given)}{hint}"


BESIDE = frozenset({"run", "script", "limit", "cassette", "expect"})
"""Checks whose findings mostly follow from others: a turn is not reached, a limit is hit."""


def chosen(verdict: Verdict, code: str, name: str) -> Finding:
    """The finding of a code or a check; without one the first that fails the run and follows from
    no other. Raises NotShown when there is none.
    """
    named = [finding for finding in verdict.findings if code in (finding.code, finding.check)]
    fitting = named if code else [*verdict.failing]
    if not fitting:
        raise NotShown(code, list(dict.fromkeys(f.code for f in verdict.findings)), name)
    return next((f for f in fitting if f.check not in BESIDE), fitting[0])
