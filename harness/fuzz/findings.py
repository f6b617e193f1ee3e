"""Findings of a campaign: each is shrunk, written as a scenario file, and played from that file.

Two findings are the same if code and cause match, for a drawn scenario has no place that stays. The
cause of a shrunk one names the faults that it needs. Each becomes a failing scenario and a test,
both written atomically.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from random import Random

import msgspec

from harness.comparison.writings import WRITING
from harness.core.scenario.scenario import Scenario, Turn
from harness.core.values.errors import InputError
from harness.core.values.profile import Profile, ProfileLimits
from harness.core.values.verdict import Cause, Finding
from harness.core.values.visible_text import abridged
from harness.files import load_scenarios
from harness.files.owner import scratch_folder
from harness.files.regular_file import write_atomically
from harness.files.scenario_text import scenario_yaml
from harness.fuzz.completion_oracle import expected_of
from harness.fuzz.example import (
    STOPPED,
    CampaignTask,
    RawFinding,
    genuine,
    run_of,
)
from harness.fuzz.held_examples import MOST_ALIKE
from harness.redaction.encoder import encoded, shown, text_bytes
from harness.shrink import FindingOracle, shrink
from harness.shrink.finding_oracle import REFERENCE, is_same
from harness.shrink.scenario_size import turns_of, with_turn
from harness.targets import TargetSpec
from harness.targets.output_capture import captured

TRIES_MAX = 1_500
"""The most candidates that are played for one finding; most findings need far fewer."""

RUNS_OF_AN_END = 2
"""The runs after the search: the last candidate, and the file of the result."""

HANGS_S, HUNG_TRIES_MAX = 10.0, 40
"""Smaller limits for a target that hangs: it uses its whole real time at each candidate."""

NOT_REPEATED = (
    "the same choices do not repeat it: the agent is not deterministic, "
    "or keeps a session between runs (harness doctor tells)"
)
SHOWN_BY_REFERENCE = "the reference agent shows it too, on the same scenario"

NOT_SHOWN = "its scenario file does not fail"

UNNAMED = "found"
"""The name of a scenario until its finding is known, which gives the name."""

HELLO = Turn(say="hello")
"""The plainest answer."""


class ShrinkTask(CampaignTask, frozen=True, kw_only=True, tag="reduction"):
    """The task of shrinking a finding.

    When its time is over, the smallest scenario so far is the result. The last two runs begin
    before that. `by` says in the title of the file what has found it.
    """

    found: RawFinding
    by: str = "fuzzing"


class ShrunkFinding(msgspec.Struct, frozen=True, kw_only=True, tag="reduced", omit_defaults=True):
    """A finding after it was shrunk, as the scenario file shows it.

    `text` is the text of the scenario file `name`. `turns` counts the remaining messages of the
    model, stored ones too. `candidates` is the number of scenarios that were played to shrink it.
    `failure` is why no file fails.
    """

    finding: Finding
    example: int
    name: str = ""
    text: str = ""
    turns: int = 0
    faults: int = 0
    candidates: int = 0
    failure: str = ""

    @property
    def code(self) -> str:
        """The code of the finding."""
        return self.finding.code


def shrunk_finding(task: ShrinkTask, target: TargetSpec) -> ShrunkFinding:
    """Shrink a finding, and check that the scenario file of the result still shows it."""
    scenario, _ = task.drawn(task.found.choices, Random(0), target)
    return shrunk_from(scenario, task, target)


def shrunk_from(scenario: Scenario, task: ShrinkTask, target: TargetSpec) -> ShrunkFinding:
    """Shrink the scenario that shows a finding."""
    found, tries_max = task.found, TRIES_MAX
    if found.code in STOPPED:
        limits = msgspec.structs.replace(scenario.limits, real_s=HANGS_S)
        profile = msgspec.structs.replace(scenario.profile, limits=ProfileLimits())
        scenario = msgspec.structs.replace(scenario, limits=limits, profile=profile)
        tries_max = HUNG_TRIES_MAX
    begun_s = time.time()
    with captured("fd"):
        try:
            scenario = _as_asked(scenario, target)
            keeps = FindingOracle(scenario, target, found.code, like=found.finding)
        except InputError:
            return not_shrunk(task, NOT_REPEATED)
        if is_of_the_scenario(scenario, found.code, target):
            return not_shrunk(task, SHOWN_BY_REFERENCE)
        until_s = task.until_s and task.until_s - RUNS_OF_AN_END * (time.time() - begun_s)
        in_time = _InTime(keeps_expectation(keeps, found.code), until_s)
        small = _smallest(scenario, in_time, tries_max)
    made = _written(task, keeps, small, target)
    return msgspec.structs.replace(made, candidates=in_time.candidates)


def _as_asked(scenario: Scenario, target: TargetSpec) -> Scenario:
    """The scenario without its stream, where the agent asks for none: shrinking keeps a stream, and
    alone the file of such a run would not be applicable."""
    if not scenario.stream:
        return scenario
    asked = [exchange.request for exchange in run_of(scenario, target).history.trace.exchanges]
    is_streamed = not asked or any(request.stream for request in asked)
    return scenario if is_streamed else msgspec.structs.replace(scenario, stream=False)


def not_shrunk(task: ShrinkTask, why: str) -> ShrunkFinding:
    """Return the finding of a task without a file."""
    return ShrunkFinding(finding=task.found.finding, example=task.found.example, failure=why)


def is_late(until_s: float | None) -> bool:
    """Whether the time of a campaign is over."""
    return until_s is not None and time.time() >= until_s


class _InTime:
    """An oracle that denies each scenario after `until_s`; it counts what it has played."""

    def __init__(self, keeps: Callable[[Scenario], bool], until_s: float | None) -> None:
        self._keeps, self._until_s = keeps, until_s
        self.candidates = 0

    def __call__(self, scenario: Scenario) -> bool:
        if is_late(self._until_s):
            return False
        self.candidates += 1
        return self._keeps(scenario)


def is_of_the_scenario(scenario: Scenario, code: str, target: TargetSpec) -> bool:
    """Whether the reference agent, with the options of the target, shows the finding too."""
    if target.agent is REFERENCE.agent:
        return False
    like = msgspec.structs.replace(REFERENCE, options=target.options)
    numbers = Profile(checks=scenario.profile.checks)
    scenario = msgspec.structs.replace(scenario, profile=numbers)
    played = run_of(scenario, like, compare=code == WRITING)
    return any(finding.code == code for finding in genuine(played))


def keeps_expectation(keeps: Callable[[Scenario], bool], code: str) -> Callable[[Scenario], bool]:
    """The oracle of a finding; for a broken expectation it also keeps the scenario benign."""
    if not code.startswith("expect."):
        return keeps

    def is_benign(scenario: Scenario) -> bool:
        expected = msgspec.structs.replace(expected_of(scenario), fail_on=scenario.expect.fail_on)
        return bool(scenario.expect == expected)

    return lambda scenario: is_benign(scenario) and keeps(scenario)


def _smallest(scenario: Scenario, keeps: Callable[[Scenario], bool], tries_max: int) -> Scenario:
    """Return the smallest scenario.

    Shrinking only cuts, and may keep a tool call where any answer is enough. So plain answers are
    tried too.
    """
    plain = msgspec.structs.replace(scenario, script=(HELLO,))
    small = shrink(plain if keeps(plain) else scenario, keeps, tries_max=tries_max).scenario
    simpler = _with_plain_answers(small, keeps)
    return small if simpler is small else shrink(simpler, keeps, tries_max=tries_max).scenario


def _with_plain_answers(scenario: Scenario, keeps: Callable[[Scenario], bool]) -> Scenario:
    for place, turn in enumerate(turns_of(scenario)):
        candidate = with_turn(scenario, place, HELLO)
        if turn.purpose == "main" and turn.say is None and keeps(candidate):
            scenario = candidate
    return scenario


def _written(
    task: ShrinkTask, keeps: FindingOracle, small: Scenario, target: TargetSpec
) -> ShrunkFinding:
    """Return the finding with its file, if the file still shows it."""
    found = task.found
    small = msgspec.structs.replace(small, name=UNNAMED, title=f"Found by {task.by}: {found.code}")
    with scratch_folder() as folder:
        file = folder / f"{UNNAMED}.yaml"
        file.write_bytes(encoded(scenario_yaml(small)))
        (again,) = load_scenarios(file)
        again = msgspec.structs.replace(again, profile=task.profile)
        played = run_of(again, target, compare=found.code == WRITING)
        shown = next((f for f in genuine(played) if is_same(f, keeps.finding)), None)
        shared = is_of_the_scenario(again, found.code, target)
    if shown is None or shared:
        return not_shrunk(task, SHOWN_BY_REFERENCE if shared else NOT_SHOWN)
    name = name_of(shown)
    return ShrunkFinding(
        finding=shown,
        example=found.example,
        name=name,
        text=scenario_yaml(msgspec.structs.replace(small, name=name)),
        turns=model_messages(small),
        faults=len(small.faults),
    )


def name_of(finding: Finding) -> str:
    """Return the name of a finding's scenario and file: the code, and a digest of its cause.

    >>> name_of(Finding("valid_request.V4", ""))
    'valid-request-v4-4a29ea'
    """
    words = re.sub(r"[^a-z0-9]+", "-", finding.code.lower()).strip("-")
    cause = msgspec.json.encode(finding.cause, order="deterministic")
    return f"{words}-{blake2b(cause, digest_size=3).hexdigest()}"


def model_messages(scenario: Scenario) -> int:
    """Return the number of model messages of a scenario.

    Optional turns that repeat forever do not count."""
    stored = sum(m.role == "assistant" for m in scenario.session.messages)
    return stored + sum(not (t.optional and t.times == "forever") for t in turns_of(scenario))


FOLDER = "findings"

_TEST = '''"""Found by {by} {title}: {code}."""


def test_{function}(play):
    """{message}"""
    play("{name}.yaml", {target!r}{more})
'''


class Findings:
    """All findings of a campaign: raw ones that wait for shrinking, and shrunk ones.

    Both are told apart by code and cause. `known` are the raw ones that `found` refuses, and
    `enough` the codes of which it has taken enough: further ones mostly shrink to one of these.
    """

    def __init__(self) -> None:
        self.known: frozenset[tuple[str, Cause]] = frozenset()
        self.enough: frozenset[str] = frozenset()
        self._codes: Counter[str] = Counter()
        self.waiting: list[RawFinding] = []
        self.kept: dict[tuple[str, Cause], ShrunkFinding] = {}
        self.unrepeated: list[ShrunkFinding] = []

    def found(self, found: RawFinding) -> bool:
        """Add a raw finding; return whether it is to be shrunk."""
        chosen = found.code not in self.enough and found.finding.group not in self.known
        if chosen:
            self.known |= {found.finding.group}
            self._codes[found.code] += 1
            if self._codes[found.code] == MOST_ALIKE:
                self.enough |= {found.code}
            self.waiting.append(found)
        return chosen

    def reduced(self, reduced: ShrunkFinding) -> bool:
        """Add a shrunk finding; return whether it is kept.

        It is kept if it is the first of its code and cause, or of an earlier example than that
        one. Shrinking may end in any order.
        """
        made = (reduced.code, reduced.example)
        self.waiting = [f for f in self.waiting if (f.code, f.example) != made]
        if reduced.failure:
            self.unrepeated.append(reduced)
            return False
        group = reduced.finding.group
        same = self.kept.get(group)
        if same is None or reduced.example < same.example:
            self.kept[group] = reduced
        return self.kept[group] is reduced


def write(
    folder: Path,
    reduced: ShrunkFinding,
    target: str,
    profile: str = "",
    store: str = "",
    by: str = "fuzzing",
) -> Path:
    """Write the two files of a finding, and return the path of the scenario file.

    The test names the profile and the store of the campaign, and what has found it (`by`).
    `run.writing` has no test, because only a command compares runs.
    """
    inside = folder / FOLDER
    scenario = inside / f"{reduced.name}.yaml"
    test = inside / f"test_{reduced.name.replace('-', '_')}.py"
    made = _TEST.format(
        by=by, title=_plain(target), target=shown(target), code=reduced.code,
        function=test.stem.removeprefix("test_"),
        message=_plain(str(reduced.finding)), name=reduced.name,
        more="".join(f", {k}={v!r}" for k, v in (("profile", profile), ("store", store)) if v),
    )  # fmt: skip
    write_atomically(scenario, text_bytes(reduced.text))
    if reduced.code != WRITING:
        write_atomically(test, text_bytes(made))
    return scenario


def _plain(text: str) -> str:
    """Return the text as one line for a docstring.

    Secrets are masked first: no pattern finds one that is cut, or that has lost its quotes.
    """
    said = "".join(c if c.isprintable() and c not in '"\\' else " " for c in shown(text))
    return abridged(" ".join(said.split()), 88)
