"""The parts of a run that a report needs, and a shell command that repeats it.

The summary is a plain value, so it can be sent between processes. It keeps only the lines of the
history that prove a finding.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from harness.catalogue import incident
from harness.comparison.writings import course_name
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.messages import Json
from harness.core.values.profile import NO_CONNECTIONS, Connections
from harness.core.values.verdict import (
    NO_CAUSE,
    Cause,
    Finding,
    FindingKey,
    LackKind,
    NotApplicable,
    Verdict,
    VerdictWord,
    worst,
)
from harness.redaction.encoder import reported
from harness.verdicts.event_lines import at, event_lines
from harness.verdicts.reach import NOTHING, Reach, total

if TYPE_CHECKING:
    from harness.runner import Run


OUTPUT_MAX, LINE_MAX = 20, 300
"""The most lines of a target's output in a report, and the most characters of one."""


WORDS: dict[VerdictWord, str] = {
    "pass": "passed",
    "fail": "failed",
    "unknown": "unknown",
    "not_applicable": "not applicable",
}
"""The verdicts as people read them."""


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a run as the user wrote them.

    An empty option was not given: `world` then follows from the target, and `store` is that of the
    brief. `plugin_flags` are the flags that loaded plug-ins.
    """

    path: str
    target: str
    world: str = ""
    store: str = ""
    profile: str = ""
    fail_on: str = ""
    faults: str = ""
    compare: bool = False
    plugin_flags: tuple[str, ...] = ()


def run_command(asked: Invocation, name: str, seed: int | None) -> str:
    """Return the shell command for one run of a scenario file; without `seed` the file's is used.

    >>> run_command(Invocation(path="a b.yaml", target="reference"), "a/x+stream", 7)
    "harness run 'a b.yaml' --only a/x+stream --target reference --seed 7"
    """
    # One run says nothing of a difference, so all writings of its course are played again.
    only = f"{course_name(name)}*" if asked.compare else name
    words = ["harness", "run", asked.path, "--only", only, "--target", asked.target]
    words += ["--compare"] if asked.compare else []
    words += ["--seed", str(seed)] if seed is not None else []
    for name in ("world", "store", "profile", "fail_on", "faults"):
        value = getattr(asked, name)
        words += [f"--{name.replace('_', '-')}", value] if value else []
    return shlex.join([*words, *asked.plugin_flags])


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What one run comes to, as a report shows it; or one transcript, or what a campaign found.

    `name` is NAME[/VARIANT][@WIRE][+stream]; `evidence` maps the number of an event to its line.
    `history` is the path of the file, empty if it was not kept. `repeat` is a shell command. `file`
    is the scenario's, empty if it is unknown. `virtual_s` is the time by the run's own clock,
    `real_s` by that of the machine. `connections` are those of a `Run`. `kept` is the kept session
    folder, empty without one. `frames` are the user's own frames of a crash, and `traceback` is the
    whole one. `seen` describes each public incident that the run repeats. `output` are the last of
    `output_lines` lines that the target printed, and `output_file` has them all. Of a transcript,
    `counts` are its numbers, `asked` the applied checks of `asked_of`, and `session` is what people
    know the session of its file by: project, time and first words.
    `notes` are what a verb says of it beside its findings, a line each. `reach` is that of its
    history, `NOTHING` where only the verdict is known.
    """

    name: str
    scenario: str
    title: str
    target: str
    world: str
    seed: int
    verdict: Verdict
    wire: str = ""
    stream: bool = False
    virtual_s: float = 0.0
    real_s: float = 0.0
    file: str = ""
    history: str = ""
    kept: str = ""
    repeat: str = ""
    evidence: dict[int, str] = {}
    seen: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    traceback: str = ""
    connections: Connections = NO_CONNECTIONS
    output: tuple[str, ...] = ()
    output_lines: int = 0
    output_file: str = ""
    counts: Json = None
    session: str = ""
    asked: tuple[str, ...] = ()
    asked_of: int = 0
    notes: tuple[str, ...] = ()
    reach: Reach = NOTHING

    @property
    def label(self) -> str:
        """Its name within its scenario."""
        return label(self.name, self.scenario)

    @property
    def word(self) -> VerdictWord:
        """pass, fail, unknown or not_applicable."""
        return self.verdict.verdict

    def doubted(self, doubt: str) -> Result:
        """The result with one doubt more, so that it does not pass."""
        verdict, doubts = self.verdict, (*self.verdict.doubts, doubt)
        word = worst(verdict.verdict, "unknown")
        verdict = msgspec.structs.replace(verdict, verdict=word, doubts=doubts)
        return msgspec.structs.replace(self, verdict=verdict)

    @property
    def is_refusal(self) -> bool:
        """Whether it stands for what of a recording could not be read."""
        return any(lack.kind == "refused" for lack in self.verdict.not_applicable)


def label(name: str, scenario: str) -> str:
    """Return the name of a run within its scenario: `baseline+stream`, `VARIANT@WIRE`."""
    rest = name.removeprefix(scenario)
    return rest[1:] if rest.startswith("/") else f"baseline{rest}"


def finding_key(result: Result, finding: Finding) -> FindingKey:
    """Return the identity of a finding of a result: two findings are the same if theirs are
    equal."""
    return with_cause(finding).key(result.scenario, result.label)


def with_cause(finding: Finding) -> Finding:
    """Return a finding with its cause: a verdict of version 0.2.0 tells a crash by its place
    alone."""
    crash = finding.place
    if crash is None or finding.cause != NO_CAUSE:
        return finding
    cause = Cause(error=crash.error, source=f"{crash.file}:{crash.function}")
    return msgspec.structs.replace(finding, cause=cause)


def summarize(run: Run, asked: Invocation | None) -> Result:
    """Return the summary of a run; `asked` are the options that repeat it, if known."""
    name = run.scenario.run_name
    verdict, ended = run.verdict, run.history.trace.ended
    lines = run.output.splitlines()
    made = Result(
        name=name,
        scenario=run.scenario.name,
        title=run.scenario.title,
        target=run.target,
        world=run.world,
        seed=run.seed,
        verdict=verdict,
        wire=run.scenario.wire,
        stream=run.scenario.stream,
        virtual_s=run.history.events[-1].at_ms / 1000 if run.history.events else 0.0,
        file=asked.path if asked else "",
        history=str(run.folder / "history.jsonl") if run.folder else "",
        kept=str(run.kept or ""),
        repeat=run_command(asked, name, run.seed) if asked else "",
        evidence=evidence(run.history, (*verdict.findings, *verdict.known)),
        connections=run.connections,
        seen=tuple(_seen(run)),
        frames=ended.frames if ended else (),
        traceback=ended.traceback if ended else "",
        output=tuple(line[:LINE_MAX] for line in lines[-OUTPUT_MAX:]),
        output_lines=len(lines),
        output_file=str(run.folder / "output.txt") if run.folder and lines else "",
        reach=Reach.of(run.history, verdict),
    )
    return reported(made)


def of_history(history: History | None, verdict: Verdict, path: str) -> Result:
    """Return the summary of a run from its file; None for a file that cannot be read."""
    trace = history.trace if history else Trace()
    first = trace.starts[0] if trace.starts else None
    ended = trace.ended
    made = Result(
        name=(first.run or first.scenario if first else "") or path,
        scenario=first.scenario if first else path,
        title="",
        target=first.target if first else "",
        world=first.world if first else "",
        seed=first.seed if first else 0,
        verdict=verdict,
        history=path,
        frames=ended.frames if ended else (),
        traceback=ended.traceback if ended else "",
    )
    return reported(made)


class Lack(msgspec.Struct, frozen=True):
    """A missing capability: its kind, the reason, and the number of runs that needed it."""

    missing: str
    kind: LackKind
    reason: str
    runs: int

    @property
    def name(self) -> str:
        """The missing capability as text."""
        return f"wire {self.missing}" if self.kind == "wire" else self.missing

    @property
    def remedy(self) -> str:
        """What to do about a capability that no run used; "" if the reason says it."""
        return _REMEDIES.get(self.kind, "")


_REMEDIES: dict[LackKind, str] = {
    "wire": "; name the wires that it speaks with --wire, or in its profile",
    "mixed": "; keep a session file below brief.session_dir: docs/targets.md#a-session-file",
    "unused": "; connect it or declare it: docs/profiles.md#capabilities",
    "tools": "; take the scenario's, or name yours: docs/targets.md#tools-of-your-own",
}


def reach_of(results: Iterable[Result]) -> Reach:
    """Return what results reached; those that are not applicable do not count."""
    counted = (result for result in results if result.word != "not_applicable")
    return total(one.reach if one.reach.runs else Reach.of_verdict(one.verdict) for one in counted)


def lacks(runs: Sequence[Result]) -> list[Lack]:
    """Return what the runs that are not applicable lack; the lack of most runs comes first."""
    lost = Counter(
        (lack.missing, lack.kind, lack.reason)
        for run in runs
        if run.word == "not_applicable"
        for lack in run.verdict.not_applicable
        if lack.missing
    )
    return [Lack(*lack, number) for lack, number in lost.most_common()]


def _seen(run: Run) -> Iterator[str]:
    """Yield the incidents behind the scenario that a finding of the run shows.

    There is none for an agent that called no model, or whose finding follows from its crash.
    """
    if not run.history.trace.exchanges:
        return
    codes = [finding.code for finding in run.verdict.failing if not finding.follows]
    for source in run.scenario.source:
        row = incident(source)
        if row and any(map(row.shows, codes)):
            yield f"{row.where.partition(' ')[0].rstrip(';,')}: {row.symptom} ({source})"


def of_transcript(path: str, name: str, format: str, verdict: Verdict, **more: Any) -> Result:
    """Return the result of a transcript: its recording stands for the scenario, FILE/TRANSCRIPT.

    `more` are other fields of the result.
    """
    return Result(
        name=f"{path}/{name}", scenario=path, title=format, target="", world="", seed=0,
        verdict=verdict, file=path, repeat=shlex.join(["harness", "judge", path]), **more,
    )  # fmt: skip


def of_refusals(path: str, format: str, refusals: Sequence[str]) -> Result:
    """Return the result that stands for the refusals of a recording that the user named."""
    refused = NotApplicable("run", f"refused: {'; '.join(refusals)}", kind="refused")
    return of_transcript(
        path, "refused", format, Verdict("not_applicable", not_applicable=(refused,))
    )


def evidence(history: History, findings: tuple[Finding, ...]) -> dict[int, str]:
    """Return the lines of the findings' events: the time (if the run has times), and the event."""
    wanted = {n for finding in findings for n in finding.events}
    if not wanted:
        return {}
    found = event_lines(history, wanted)
    times = {event.n: event.at_ms for event in history.events}
    if not any(times.values()):
        return found
    return {n: f"{at(times[n]):>10}  {line}" for n, line in found.items()}
