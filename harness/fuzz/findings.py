"""Findings of a campaign: each is shrunk, written as a scenario file, and played from that file.

Two findings are the same if code and structure match; the structure is the shrunk scenario without
words, numbers and ids. Each becomes a failing scenario and a test, both written atomically.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from random import Random

import msgspec

from harness.core.scenario.scenario import DEFAULT_WIRE, Scenario, Turn
from harness.core.values.errors import InputError
from harness.core.values.profile import NO_PROFILE, Profile, ProfileLimits
from harness.core.values.verdict import FindingClass
from harness.files import load_scenarios
from harness.files.owner import scratch_folder
from harness.files.regular_file import write_atomically
from harness.files.scenario_text import scenario_yaml
from harness.fuzz.choice_sequence import Choices
from harness.fuzz.completion_oracle import expected_of
from harness.fuzz.example import STOPPED, RawFinding, draw, genuine, options_of, run_of
from harness.fuzz.held_examples import MOST_ALIKE
from harness.redaction.encoder import encoded, shown, text_bytes
from harness.shrink import FindingOracle, shrink
from harness.shrink.finding_oracle import REFERENCE
from harness.shrink.scenario_size import turns_of
from harness.targets import TargetSpec
from harness.targets.output_capture import captured

TRIES_MAX = 1_500
"""The most candidates that are played for one finding; most findings need far fewer."""

RUNS_OF_AN_END = 2
"""The runs after the search: the last candidate, and the file of the result."""

HANGS_S, HUNG_TRIES_MAX = 10.0, 40
"""Smaller limits for a target that hangs: it uses its whole real time at each candidate."""

SHOWN_BY_REFERENCE = "the reference agent shows it too, on the same scenario"

HELLO = Turn(say="hello")
"""The plainest answer."""


class ShrinkTask(msgspec.Struct, frozen=True, kw_only=True, tag="reduction"):
    """The task of shrinking a finding.

    After `until_s` (seconds of Unix time) no run begins, and the smallest scenario so far is the
    result. The last two runs begin before that.
    """

    code: str
    example: int
    choices: Choices
    target: str
    wire: str = DEFAULT_WIRE
    fail_on: FindingClass | None = None
    isolate: bool = False
    profile: Profile = NO_PROFILE
    until_s: float | None = None

    @classmethod
    def of(
        cls,
        found: RawFinding,
        target: str,
        wire: str,
        fail_on: FindingClass | None = None,
        profile: Profile = NO_PROFILE,
        until_s: float | None = None,
    ) -> ShrinkTask:
        """Return the task for a raw finding."""
        return cls(
            code=found.code, example=found.example, choices=found.choices, target=target,
            wire=wire, fail_on=fail_on, profile=profile, until_s=until_s,
        )  # fmt: skip


class ShrunkFinding(msgspec.Struct, frozen=True, kw_only=True, tag="reduced", omit_defaults=True):
    """A finding after it was shrunk.

    `text` is the text of the scenario file `name`. `turns` counts the remaining messages of the
    model, stored ones too. `candidates` is the number of scenarios that were played to shrink it.
    `failure` is why no file fails.
    """

    code: str
    example: int
    shape: str = ""
    name: str = ""
    text: str = ""
    message: str = ""
    turns: int = 0
    faults: int = 0
    candidates: int = 0
    failure: str = ""


def shrunk_finding(task: ShrinkTask, target: TargetSpec) -> ShrunkFinding:
    """Shrink a finding, and check that the scenario file of the result still shows it."""
    options = options_of(target, task.wire, task.profile)
    scenario, _ = draw(task.choices, Random(0), options, task.fail_on, task.profile, target)
    tries_max = TRIES_MAX
    if task.code in STOPPED:
        limits = msgspec.structs.replace(scenario.limits, real_s=HANGS_S)
        profile = msgspec.structs.replace(scenario.profile, limits=ProfileLimits())
        scenario = msgspec.structs.replace(scenario, limits=limits, profile=profile)
        tries_max = HUNG_TRIES_MAX
    begun_s = time.time()
    with captured("fd"):
        try:
            keeps = FindingOracle(scenario, target, task.code)
        except InputError:
            why = (
                "the same choices do not repeat it: the agent is not deterministic, "
                "or keeps a session between runs (harness doctor tells)"
            )
            return _failed(task, why)
        if _is_of_the_scenario(scenario, task.code, target):
            return _failed(task, SHOWN_BY_REFERENCE)
        until_s = task.until_s and task.until_s - RUNS_OF_AN_END * (time.time() - begun_s)
        in_time = _InTime(keeps_expectation(keeps, task.code), until_s)
        small = _smallest(scenario, in_time, tries_max)
    kind = structure(small)
    name = name_of(task.code, kind)
    small = msgspec.structs.replace(small, name=name, title=f"Found by fuzzing: {task.code}")
    made = _written(task, small, kind, target)
    return msgspec.structs.replace(made, candidates=in_time.candidates)


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


def _is_of_the_scenario(scenario: Scenario, code: str, target: TargetSpec) -> bool:
    """Whether the reference agent, with the options of the target, shows the finding too."""
    if target.agent is REFERENCE.agent:
        return False
    like = msgspec.structs.replace(REFERENCE, options=target.options)
    numbers = Profile(checks=scenario.profile.checks)
    return code in genuine(run_of(msgspec.structs.replace(scenario, profile=numbers), like))


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
    script = turns_of(scenario)
    for place, turn in enumerate(script):
        said = (*script[:place], HELLO, *script[place + 1 :])
        candidate = msgspec.structs.replace(scenario, script=said)
        if turn.purpose == "main" and turn.say is None and keeps(candidate):
            script, scenario = said, candidate
    return scenario


def _written(task: ShrinkTask, small: Scenario, kind: str, target: TargetSpec) -> ShrunkFinding:
    text = scenario_yaml(small)
    with scratch_folder() as folder:
        file = folder / f"{small.name}.yaml"
        file.write_bytes(encoded(text))
        (again,) = load_scenarios(file)
        again = msgspec.structs.replace(again, profile=task.profile)
        found = genuine(run_of(again, target))
        shared = _is_of_the_scenario(again, task.code, target)
    if task.code not in found or shared:
        why = SHOWN_BY_REFERENCE if shared else "its scenario file does not fail"
        return _failed(task, why)
    return ShrunkFinding(
        code=task.code,
        example=task.example,
        shape=kind,
        name=small.name,
        text=text,
        message=found[task.code],
        turns=model_messages(small),
        faults=len(small.faults),
    )


def _failed(task: ShrinkTask, why: str) -> ShrunkFinding:
    return ShrunkFinding(code=task.code, example=task.example, failure=why)


def name_of(code: str, kind: str) -> str:
    """Return the name of a finding's scenario and file: the code, and a digest of its shape.

    >>> name_of("valid_request.V4", "user text")
    'valid-request-v4-67c83c'
    """
    words = re.sub(r"[^a-z0-9]+", "-", code.lower()).strip("-")
    return f"{words}-{blake2b(kind.encode(), digest_size=3).hexdigest()}"


def model_messages(scenario: Scenario) -> int:
    """Return the number of model messages of a scenario.

    Optional turns that repeat forever do not count."""
    stored = sum(m.role == "assistant" for m in scenario.session.messages)
    return stored + sum(not (t.optional and t.times == "forever") for t in turns_of(scenario))


def structure(scenario: Scenario) -> str:
    """Return the structure of a scenario as text: its parts, without their texts."""
    return "; ".join(_parts(scenario))


def _parts(scenario: Scenario) -> Iterator[str]:
    for message in scenario.session.messages:
        blocks = message.content if isinstance(message.content, tuple) else ({"type": "text"},)
        yield " ".join([message.role, *(str(block.get("type")) for block in blocks)])
    ids = [item.id for item in scenario.inbox]
    for at, item in enumerate(scenario.inbox):
        yield f"inbox {item.kind}{' again' if item.id and item.id in ids[:at] else ''}"
    for turn in turns_of(scenario):
        fields = msgspec.to_builtins(turn)
        kinds = [name for name in ("say", "think", "use") if name in fields]
        kinds += [str(block.get("type")) for block in turn.blocks]
        yield " ".join(["model", *kinds, str(turn.stop or ""), str(turn.times)])
    for tool in scenario.tools.values():
        yield " ".join(["tool", *(kind for t in tool.script for kind in msgspec.to_builtins(t))])
    yield from sorted(f"fault {fault.kind} {fault.on}" for fault in scenario.faults)


FOLDER = "findings"

_TEST = '''"""Found by fuzzing {title}: {code}."""


def test_{function}(play):
    """{message}"""
    play("{name}.yaml", {target!r}{more})
'''


class Findings:
    """All findings of a campaign: raw ones that wait for shrinking, and shrunk ones."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._codes: dict[str, int] = {}
        self.waiting: list[RawFinding] = []
        self.kept: dict[tuple[str, str], ShrunkFinding] = {}
        self.unrepeated: list[ShrunkFinding] = []

    @property
    def known(self) -> frozenset[str]:
        """The findings that `found` refuses: by `alike`, and by codes that have enough findings."""
        return frozenset(self._known)

    def found(self, found: RawFinding) -> bool:
        """Add a raw finding; return whether it is to be shrunk."""
        chosen = not {found.alike, found.code} & self._known
        if chosen:
            self._codes[found.code] = self._codes.get(found.code, 0) + 1
            enough = self._codes[found.code] == MOST_ALIKE
            self._known.update((found.alike, *((found.code,) if enough else ())))
            self.waiting.append(found)
        return chosen

    def reduced(self, reduced: ShrunkFinding) -> bool:
        """Add a shrunk finding; return whether it is kept.

        It is kept if it is the first of its code and structure, or of an earlier example than that
        one. Shrinking may end in any order.
        """
        made = (reduced.code, reduced.example)
        self.waiting = [f for f in self.waiting if (f.code, f.example) != made]
        if reduced.failure:
            self.unrepeated.append(reduced)
            return False
        same = self.kept.get((reduced.code, reduced.shape))
        if same is None or reduced.example < same.example:
            self.kept[reduced.code, reduced.shape] = reduced
        return self.kept[reduced.code, reduced.shape] is reduced


def write(
    folder: Path, reduced: ShrunkFinding, target: str, profile: str = "", store: str = ""
) -> Path:
    """Write the two files of a finding, and return the path of the scenario file.

    The test names the profile and the store of the campaign.
    """
    inside = folder / FOLDER
    scenario = inside / f"{reduced.name}.yaml"
    test = inside / f"test_{reduced.name.replace('-', '_')}.py"
    made = _TEST.format(
        title=_plain(target), target=shown(target), code=reduced.code,
        function=test.stem.removeprefix("test_"),
        message=_plain(reduced.message), name=reduced.name,
        more="".join(f", {k}={v!r}" for k, v in (("profile", profile), ("store", store)) if v),
    )  # fmt: skip
    for path, text in ((scenario, reduced.text), (test, made)):
        write_atomically(path, text_bytes(text))
    return scenario


def _plain(text: str) -> str:
    """Return the text as one line for a docstring.

    Secrets are masked first: no pattern finds one that is cut, or that has lost its quotes.
    """
    said = "".join(c if c.isprintable() and c not in '"\\' else " " for c in shown(text))
    line = " ".join(said.split())
    return line if len(line) <= 88 else f"{line[:87]}…"
