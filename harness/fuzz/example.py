"""One example of a campaign: it is played, and the campaign's facts of the run are kept.

A run with findings becomes files before any shrinking. A worker sends it as text, and the
campaign's process writes it, because a worker may be on another machine.

A generated scenario owes no turn and no fault, so findings about unplayed turns do not count.

Orders of events from a choice sequence: few changes, at any depth of the run.

Nearly every race needs one or two changes, and a run has many points. So the number of changes is
small, and a distance is as likely short as long (Burckhardt et al., PCT, ASPLOS 2010).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from random import Random

import msgspec

from harness.core.history.events import Answered, Called
from harness.core.history.history import History
from harness.core.scenario.scenario import DEFAULT_WIRE, Scenario, Session
from harness.core.values.orders import Order
from harness.core.values.profile import CAPABILITIES, NO_PROFILE, Capability, Profile
from harness.core.values.verdict import Finding, FindingClass, Verdict
from harness.files.regular_file import write_atomically
from harness.files.scenario_text import scenario_yaml
from harness.fuzz.choice_sequence import Choices, ChoiceSequence, Choose
from harness.fuzz.corpus import CorpusEntry, checks_not_asked, pairs_of
from harness.fuzz.inbox_grammar import at_once
from harness.fuzz.scenario_grammar import LIMITS, Options, scenario_of
from harness.redaction.encoder import encoded
from harness.runner import Run, run, run_folder
from harness.runner.needs import needs_of, unplayable
from harness.shrink.finding_oracle import REFERENCE, compared
from harness.targets import TargetSpec

CHANGES_MOST = 3
DISTANCES = 6
"""A change is at most this power of two behind the one before."""

PLACES = 2
"""The second or the third in line goes first; longer lines are rare."""


def orders_of(choose: Choose) -> tuple[Order, ...]:
    """Return the changes of an order, none of them for the simplest answers."""
    found: list[Order] = []
    at = 0
    while len(found) < CHANGES_MOST and choose(3):
        at += 1 + choose(1 << choose(DISTANCES))
        found.append(Order(at=at, first=2 + choose(PLACES)))
    return tuple(found)


OWED = frozenset(
    {"run.unplayed_turn", "run.unplayed_message", "run.silent_fault", "script.exhausted"}
)
"""Findings about moments that a scenario requires; a generated one requires none: an agent that is
refused its first answer may never make the call that a message waits for."""

STOPPED = ("target.hung", "target.computes", "target.loops", "target.backs_off", "limit.memory_mb")
"""All other findings of a run that a watchdog stopped follow from it, and it is slow to play."""

UNASKED = "run.nothing_intercepted"
"""An agent need not ask the model where a fault has left it no message to ask about."""

HOPS = "transport.redirect"
CALL_LIMITS = frozenset({"limit.model_calls", "limit.turn_calls"})
"""A client follows twenty redirects by itself at each attempt, so with these no agent keeps a limit
of calls."""

MEAN_FAULTS = 1.5
"""Faults of an example on average; a third of all examples have none."""


class CampaignTask(msgspec.Struct, frozen=True, kw_only=True):
    """What the tasks of a campaign share: the agent, and when it fails.

    `isolate`: a worker has ended at this task, so each run is played in a forked child of another
    worker. After `until_s` (seconds of Unix time) no run begins. `compare`: an example without
    faults is played in its other writings too. `orders`: an example has an order of events.
    """

    target: str
    wire: str = DEFAULT_WIRE
    fail_on: FindingClass | None = None
    isolate: bool = False
    profile: Profile = NO_PROFILE
    until_s: float | None = None
    compare: bool = False
    orders: bool = False

    def drawn(
        self, given: Sequence[int], random: Random, target: TargetSpec
    ) -> tuple[Scenario, Choices]:
        """Return the scenario of the given choices and of further drawn ones, with all of them."""
        options = options_of(target, self.wire, self.profile)
        return draw(given, random, options, self.fail_on, self.profile, target, orders=self.orders)


class RawFinding(msgspec.Struct, frozen=True):
    """A finding before it is shrunk.

    Its cause names all faults that changed an answer in that run, for each of them may be the one
    that matters. `example` is its number in the campaign, from 1.
    """

    finding: Finding
    example: int
    choices: Choices

    @property
    def code(self) -> str:
        """The code of the finding."""
        return self.finding.code


class PlayedExample(msgspec.Struct, frozen=True):
    """The result of one example; `doubts` say why it cannot be judged.

    `causes` are the findings that follow from no other, one a code; only these are shrunk. `found`
    are the same ones with their choices. `needs` are the capabilities whose lack explains them,
    `used` those that the run used.
    """

    entry: CorpusEntry
    found: tuple[RawFinding, ...] = ()
    causes: tuple[Finding, ...] = ()
    doubts: tuple[str, ...] = ()
    model_calls: int = 0
    needs: tuple[Capability, ...] = ()
    used: frozenset[Capability] = frozenset()


def options_of(
    target: TargetSpec, wire: str = "anthropic", profile: Profile = NO_PROFILE
) -> Options:
    """What scenarios may hold for a target: only what is applicable to it and its profile.

    An agent with a budget of its own has no limit of a turn.
    """
    limits = LIMITS
    if "bounded_turn" in profile.checks:
        limits = msgspec.structs.replace(limits, turn_calls=LIMITS.model_calls)
    return Options(
        wire=wire,
        faults=("*",),
        mean_faults=MEAN_FAULTS,
        kills=target.kind != "http" and profile.declares("restarts") is not False,
        cancels=profile.declares("cancel") is not False,
        pushed=profile.inbound is not None,
        approvals=profile.declares("approvals") is True,
        children=profile.children is not None,
        limits=limits,
    )


def draw(
    given: Sequence[int],
    random: Random,
    options: Options,
    fail_on: FindingClass | None = None,
    profile: Profile = NO_PROFILE,
    target: TargetSpec = REFERENCE,
    *,
    orders: bool = False,
) -> tuple[Scenario, Choices]:
    """A scenario with all the choices that make it: the `given` ones first, then drawn ones.

    Findings of the class `fail_on` and worse fail it. What the profile declares absent is left out,
    and so is what cannot be played with the target.
    """
    drawing = ChoiceSequence(given, random)
    scenario = scenario_of(drawing, options).failing_on(fail_on)
    if orders and target.kind == "python":  # a program has no virtual time, so no orders
        scenario = msgspec.structs.replace(scenario, orders=orders_of(drawing))
    return _playable(_for_agent(scenario, profile), target), tuple(drawing.made)


def _playable(scenario: Scenario, target: TargetSpec) -> Scenario:
    """The scenario without the faults that need virtual time or our own store, for a program. Its
    messages come at once, because a program would wait for hours."""
    if target.kind == "python":
        return scenario
    inbox = tuple(at_once(item) for item in scenario.inbox)
    bare = Scenario(name=scenario.name, limits=scenario.limits)
    kept = tuple(
        fault
        for fault in scenario.faults
        if not unplayable(msgspec.structs.replace(bare, faults=(fault,)), target, "supervise")
    )
    return msgspec.structs.replace(scenario, faults=kept, inbox=inbox)


def _for_agent(scenario: Scenario, profile: Profile) -> Scenario:
    """The scenario under the profile, without the session, the stream and the faults that the agent
    has no connection for."""
    denied = {name for name in CAPABILITIES if profile.declares(name) is False}
    bare = msgspec.structs.replace(scenario, profile=profile)
    if "session" in denied:
        bare = msgspec.structs.replace(bare, session=Session())
    if "streaming" in denied:
        bare = msgspec.structs.replace(bare, stream=False)
    alone = ((fault, Scenario(name=bare.name, faults=(fault,))) for fault in bare.faults)
    kept = tuple(fault for fault, one in alone if denied.isdisjoint(needs_of(one)))
    return msgspec.structs.replace(bare, faults=kept)


def play(scenario: Scenario, choices: Choices, target: TargetSpec, example: int) -> PlayedExample:
    """Play an example, number `example` of the campaign, and keep what the campaign needs."""
    return played_of(run_of(scenario, target), choices, example)


def played_of(run: Run, choices: Choices, example: int) -> PlayedExample:
    """What the campaign needs of a run."""
    faults, causes = ", ".join(sorted(fired_in(run.history))), tuple(causes_of(run))
    return PlayedExample(
        CorpusEntry(choices, pairs_of(run.history), checks_not_asked(run.verdict)),
        tuple(RawFinding(_met(f, faults), example, choices) for f in causes),
        causes,
        () if _is_killed_for_good(run) else run.verdict.doubts,
        sum(isinstance(e, Called) and e.seam == "model" for e in run.history.events),
        run.connections.needs,
        run.connections.used,
    )


def _is_killed_for_good(run: Run) -> bool:
    """Whether the drawn faults kill the agent at each of its starts: the run says no more of it."""
    return (ended := run.history.trace.ended) is not None and ended.how == "killed"


def _met(finding: Finding, faults: str) -> Finding:
    cause = msgspec.structs.replace(finding.cause, fault=faults)
    return msgspec.structs.replace(finding, cause=cause)


def run_of(
    scenario: Scenario, target: TargetSpec, *, keep: bool = False, compare: bool = False
) -> Run:
    """A run whose output is discarded. With `keep` the session folder of one that fails stays.

    With `compare` it is compared with its other writings.
    """
    played = run(scenario, target, keep=keep, capture="fd")
    return compared(played, lambda other: run_of(other, target)) if compare else played


def genuine(run: Run) -> tuple[Finding, ...]:
    """The findings of a run that are about the agent. A kill at a write to its own files strikes
    without an answer that it changes."""
    killed = {"a kill"} if run.history.trace.kills else set[str]()
    return genuine_of(run.verdict, fired_in(run.history) | killed)


def genuine_of(verdict: Verdict, fired: Collection[str]) -> tuple[Finding, ...]:
    """The findings of a verdict that are about the agent; `fired` are the faults that struck."""
    owed = OWED | {UNASKED} if fired else OWED
    owed |= CALL_LIMITS if HOPS in fired else frozenset()
    found = tuple(f for f in verdict.failing if f.code not in owed)
    return tuple(f for f in found if f.code in STOPPED) or found


def causes_of(run: Run) -> Iterable[Finding]:
    """The genuine findings that follow from no other, the first of each code."""
    first: dict[str, Finding] = {}
    for finding in genuine(run):
        if not finding.follows:
            first.setdefault(finding.code, finding)
    return first.values()


def fired_in(history: History) -> set[str]:
    """The kinds of the faults that changed an answer."""
    answers = (event for event in history.events if isinstance(event, Answered))
    return {fault for event in answers for fault in event.faults}


FOUND = "found"
"""The folder of these runs in the folder of a campaign."""


class FoundRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run with findings; `kept` is its session folder, if it is kept."""

    example: int
    scenario: str
    history: bytes
    verdict: bytes
    kept: str = ""

    @classmethod
    def of(cls, example: int, scenario: Scenario, run: Run) -> FoundRun:
        """Return the run of an example as texts without secrets."""
        named = msgspec.structs.replace(
            scenario, name=f"example-{example}", title=f"Example {example} of a campaign"
        )
        return cls(
            example=example,
            scenario=scenario_yaml(named),
            history=b"".join(run_folder.history_lines(run.history)),
            verdict=run_folder.verdict_text(run.verdict),
            kept=str(run.kept or ""),
        )


def scenario_file(folder: Path, example: int) -> Path:
    """Return the path for the scenario of an example with a finding."""
    name = f"example-{example}"
    return folder / FOUND / name / f"{name}.yaml"


def write_run(folder: Path, found: FoundRun) -> None:
    """Write the files of a run; each is written atomically."""
    file = scenario_file(folder, found.example)
    write_atomically(file.with_name("history.jsonl"), found.history)
    write_atomically(file.with_name("verdict.json"), found.verdict)
    write_atomically(file, encoded(found.scenario))
    if found.kept:
        run_folder.move_kept(Path(found.kept), file.with_name(run_folder.SESSION))


def drop_run(found: FoundRun) -> None:
    """Remove the session folder of a run that is not written."""
    if found.kept:
        run_folder.drop_kept(Path(found.kept))
