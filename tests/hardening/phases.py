"""The phases of each verb: the function that begins each, and what is known by then."""

from __future__ import annotations

from typing import NamedTuple

ENTRY = "import:harness.cli.verbs:1"
REPLACE = "os:replace:1"


class Phase(NamedTuple):
    """A phase: its name, and `module:function:call`, or `import:module:1`.

    `rows` are the lines of JSON that are said at least, `told` stands among them or on standard
    error. `is_judged`: the command comes to its own exit status.
    """

    name: str
    point: str
    rows: int = 0
    told: str = ""
    is_judged: bool = False


class Verb(NamedTuple):
    """A command with its phases. `after` goes on where it was broken off."""

    words: tuple[str, ...]
    phases: tuple[Phase, ...]
    after: tuple[str, ...] = ()


_PLAY = "harness.cli.run_task:play"
_MODEL = "harness.core.transition.transition:Transition.model"
_OUTPUT = "harness.cli.reports:Telling"
_HISTORY = "harness.runner.run_folder:write_history"
_STOP = "harness.engines.local:_Pool.stop:1"
_RUN = ("run", "scenarios", "--json", "--out", "out", "--target")
_SHRINK = ("shrink", "scenarios/greeting.yaml", "--only", "greeting", "--out", "out", "--json")
_FUZZ = ("fuzz", "--target", "agents:crashing", "--seed", "1", "--out", "out", "--json")
_NOT_PLAYED = '"not_played":'

_RUNNING = (
    Phase("started", ENTRY),
    Phase("scenarios are read", "harness.cli.selection:plan:1"),
    Phase("first run", f"{_PLAY}:1", 1, f"{_NOT_PLAYED}2"),
    Phase("in a run", f"{_MODEL}:1", 1, f"{_NOT_PLAYED}2"),
    Phase("second run", f"{_PLAY}:2", 1, _NOT_PLAYED),
    Phase("a history is written", f"{_HISTORY}:1", 1, _NOT_PLAYED),
    Phase("a file is moved", REPLACE, 1, _NOT_PLAYED),
    Phase("a verdict is moved", "os:replace:2", 1, _NOT_PLAYED),
    Phase("a run is reported", f"{_OUTPUT}.__call__:2", 1, _NOT_PLAYED),
    Phase("the end is reported", f"{_OUTPUT}.tell:4", 2),
    Phase("workers end", _STOP, 2),
)
_SERIAL = tuple(phase for phase in _RUNNING if phase.point != _STOP)
_PYTEST = ("pytest", "-q", "-p", "no:cacheprovider", "test_it.py", "--harness-out", "out")
_PLAYED = (
    Phase("in a run", f"{_MODEL}:1"),
    Phase("a history is written", f"{_HISTORY}:1"),
    Phase("a verdict is moved", "os:replace:2"),
)

VERBS = {
    "run": Verb((*_RUN, "agents:good"), _RUNNING),
    "run -j 2": Verb((*_RUN, "agents:good", "-j", "2"), _RUNNING),
    "run a program": Verb((*_RUN, "process:python program.py"), _SERIAL),
    "run programs -j 2": Verb((*_RUN, "process:python program.py", "-j", "2"), _RUNNING),
    "record": Verb(
        ("record", "out/x.yaml", "--target", "url_agents:good", "--prompt", "Hi", "--json",
         "--upstream"),
        (
            Phase("started", ENTRY),
            Phase("target starts", "harness.runner.cassette_model:record_run:1"),
            Phase("upstream answers", "harness.transports.upstream:Upstream.ask:1"),
            Phase("cassette is made", "harness.cassettes.recorder:Recorder.write:1", 0, "x.yaml"),
            Phase("cassette is moved", REPLACE, 0, "x.yaml"),
            Phase("it is reported", "harness.cli.record:_report:1", 0, "x.yaml"),
        ),
    ),
    "import": Verb(
        ("import", "a.yaml", "--name", "told", "--out", "out", "--json"),
        (
            Phase("started", ENTRY),
            Phase("recording is read", "harness.cli.scenario_import:imported:1"),
            Phase("cassette is moved", REPLACE),
            Phase("scenario is moved", "os:replace:2"),
        ),
        ("import", "a.yaml", "--name", "told", "--out", "out", "--force"),
    ),
    "fuzz": Verb(
        (*_FUZZ, "--workers", "1", "--examples", "3"),
        (
            Phase("started", ENTRY),
            Phase("campaign begins", "harness.fuzz.campaign:begin:1"),
            Phase("first batch", "harness.engines.local:_Pool.hand:1", 1, "to continue: "),
            Phase("in a run", "harness.fuzz.example:run_of:2", 1, "to continue: "),
            Phase("result is taken", "harness.fuzz.campaign:Campaign.take:1", 1, "to continue: "),
            Phase("shrinking", "harness.shrink.shrinker:_Search._take:2", 1, "to continue: "),
            Phase("finding is moved", REPLACE, 1, "to continue: "),
            Phase("finding is reported", "harness.cli.fuzz_report:FuzzReport.result:1", 1),
            Phase("the end is reported", "harness.cli.fuzz_report:FuzzReport.ending:1", 1),
        ),
        ("fuzz", "--resume", "out", "--workers", "1", "--examples", "3"),
    ),
    "fuzz -j 2": Verb(
        (*_FUZZ, "--workers", "2", "--examples", "40"),
        (
            Phase("in a run", "harness.fuzz.example:run_of:7", 1, "to continue: "),
            Phase("shrinking", "harness.shrink.shrinker:_Search._take:3", 1, "to continue: "),
        ),
        ("fuzz", "--resume", "out", "--workers", "2", "--examples", "40"),
    ),
    "shrink": Verb(
        (*_SHRINK, "--target", "agents:crashing"),
        (
            Phase("started", ENTRY),
            Phase("the finding is looked for", "harness.cli.shrink_source:first_that_shows:1"),
            Phase("a candidate", "harness.shrink.shrinker:_Search._take:3", 1),
            Phase("file is moved", REPLACE, 1),
            Phase("file is played", "harness.cli.shrink_run:_played_again:1", 1),
            Phase("it is reported", "harness.cli.shrink_run:row:1", 1),
        ),
    ),
    "judge": Verb(
        ("judge", "recordings", "--json"),
        (
            Phase("started", ENTRY),
            Phase("first file", "harness.cli.judge_task:judge_file:1"),
            Phase("second file", "harness.cli.judge_task:judge_file:2", 1),
            Phase("a file is reported", "harness.cli.judge:_tell:2", 1),
            Phase("the end is reported", f"{_OUTPUT}.tell:4", 2),
        ),
    ),
    "judge --resume": Verb(
        ("judge", "recordings", "--resume", "out", "--json"),
        (
            Phase("started", ENTRY),
            Phase("second file", "harness.cli.judge_task:judge_file:2", 1),
            Phase("journal", "harness.cli.judge_journal:JudgeJournal.add:2", 1),
        ),
        ("judge", "recordings", "--resume", "out", "--json"),
    ),
    "serve": Verb(
        ("serve", "scenarios/greeting.yaml", "--out", "out", "--json"),
        (
            Phase("started", ENTRY),
            Phase("it listens", "harness.cli.serve:_stopped_by_signal:1"),
            Phase("the environment is told", "harness.cli.terminal:out:1", 2, "", True),
        ),
    ),
    "doctor": Verb(
        ("doctor", "--target", "agents:good", "--write", "mine.toml", "--json"),
        (
            Phase("started", ENTRY),
            Phase("first probe", f"{_PLAY}:1"),
            Phase("in a probe", f"{_MODEL}:3"),
            Phase("it is reported", "harness.cli.doctor_report:row:1"),
            Phase("profile is moved", REPLACE),
        ),
    ),
    "play": Verb(_PYTEST, _PLAYED),
    "play isolated": Verb((*_PYTEST, "--harness-isolate"), _PLAYED),
}  # fmt: skip
