"""`python -m tests.recordings.incidents`: the table of `docs/incidents.md`.

Each row is a recording with a finding. It is imported, played with the naive and with the reference
agent, and shrunk while the naive agent shows the finding. The recordings are those of the corpus,
and of programs that the corpus lacks a loop in the program's own shape.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from harness.agent import agent as reference
from harness.agent.naive_agent import agent as naive
from harness.cli.scenario_import import ImportRequest
from harness.core.scenario.scenario import Scenario
from harness.files import load_scenarios
from harness.recordings.importing.reproduction import FindingFate
from harness.runner import run
from harness.shrink import FindingOracle, shrink
from harness.shrink.scenario_size import extent
from harness.targets import of_callable
from tests.documents import ROOT
from tests.record_incidents import path_of
from tests.recordings import loops
from tests.recordings.imports import import_file

DOCUMENT = ROOT / "docs" / "incidents.md"
MARK = "<!-- From here on: python -m tests.recordings.incidents -->\n"
CORPUS = Path(os.environ.get("LOOP_HARNESS_CORPUS") or ROOT.parent / "shared" / "corpus")
SEVERAL = 400
"""So many candidates a row may cost."""

NAME_MAX = 70


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """A recording with a finding: a file of the corpus by the end of its name, or one made here."""

    format: str
    code: str
    file: str = ""
    make: Callable[[Path], Path] | None = None
    transcript: str = ""
    at: int | None = None

    def path(self, folder: Path) -> Path:
        """The recording. Raises StopIteration where the corpus lacks it."""
        if self.make is not None:
            return self.make(folder)
        return next(path for path in sorted(CORPUS.rglob("*")) if path.name.endswith(self.file))


CALL, FAILURE = "no_progress_stop.same_call", "no_progress_stop.same_failure"

INCIDENTS = (
    Incident(
        format="intercode",
        file="bash__gpt-4__ic_bash_multiturn_gpt-4_10_turns_fs_1.json",
        transcript="task 6",
        code=CALL,
    ),
    Incident(
        format="moatless",
        file="django__django-12284__trajectory.json",
        transcript="path to node 29",
        code=FAILURE,
    ),
    Incident(format="swe_agent", file="demonstrations__ctf__crypto__eps.traj", code=CALL),
    Incident(
        format="chat_json",
        file="historical_trajectories__gpt-4o-airline.json",
        transcript="item 1",
        code="unique_tool_ids.repeated",
    ),
    Incident(
        format="vcr (Go)",
        file="TestOpenAICompatibleCommon__avian-kimi__tool_streaming.yaml",
        code="nonblank_content.blank",
    ),
    Incident(
        format="vcr (Python)",
        file="test_cross_provider_capability_replay"
        "[google-gemini-3-flash-preview-anthropic-claude-sonnet-4-5].yaml",
        code="unique_tool_ids.repeated",
    ),
    Incident(
        format="claude_code",
        file="test__test_data__todowrite_examples.jsonl",
        code="role_alternation.wire",
    ),
    Incident(
        format="vcr (crewAI)",
        file="test_agent_without_max_rpm_respects_crew_rpm.yaml",
        code=CALL,
    ),
    Incident(
        format="atif",
        file="terminus_2_hello-world-context-summarization-linear-history.trajectory.cont-1.json",
        code="role_alternation.wire",
        at=2,
    ),
    Incident(format="hermes", make=loops.hermes_loop, code=CALL),
    Incident(format="codex", make=loops.codex_loop, code=CALL),
    Incident(format="pi", make=loops.pi_loop, code=FAILURE),
    Incident(format="history", make=lambda _: path_of("identical-failures"), code=FAILURE),
    Incident(format="history", make=lambda _: path_of("replay-spiral"), code="durable_first.reply"),
)


class Row(msgspec.Struct, frozen=True):
    """A row of the table, without and with what shrinking leaves."""

    cells: tuple[str, ...]
    shrunk: str = ""

    @property
    def text(self) -> str:
        """The row as the document has it."""
        return f"| {' | '.join((*self.cells, self.shrunk))} |"


HEADER = (
    "| format | recording | finding | turn | naive agent | reference agent | shrunk |",
    "|---|---|---|---|---|---|---|",
)


def row_of(incident: Incident, shrinks: bool = True) -> Row:
    """What came of a recording. Raises StopIteration where the corpus lacks it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        file = incident.path(folder)
        asked = ImportRequest(
            file=file, name="it", transcript=incident.transcript, at=incident.at, out=folder
        )
        made = import_file(asked)
        (scenario,) = load_scenarios(made.scenario)
    fate = next(f for f in made.fates if f.place.code == incident.code)
    at = f", `--at {incident.at}`" if incident.at else ""
    verdict = run(scenario, reference).verdict.verdict
    cells = (
        incident.format,
        f"{_shown(file, incident)}{', ' + incident.transcript if incident.transcript else ''}",
        f"`{incident.code}`",
        f"{fate.place.turn} of {made.turns}{at}",
        _word(fate),
        verdict,
    )
    return Row(cells, _shrunk(scenario, fate.shown) if shrinks and fate.shown else "")


def _shown(file: Path, incident: Incident) -> str:
    if incident.make is None:
        owner = file.relative_to(CORPUS).parts[1].replace("__", "/")
        return f"{owner}: `{file.name.rpartition('__')[2][-NAME_MAX:]}`"
    return (
        f"`cassettes/incidents/{file.name}`" if file.is_relative_to(ROOT) else "made for this table"
    )


def _word(fate: FindingFate) -> str:
    if not fate.shown:
        return f"lost: {fate.lost}"
    other = f" as `{fate.shown}`" if fate.shown != fate.place.code else ""
    return f"found again{other}"


def _shrunk(scenario: Scenario, code: str) -> str:
    """How many turns of the script and messages are left, and what is played for it."""
    keeps = FindingOracle(scenario, of_callable(naive, {"client": "plain"}), code)
    small = shrink(scenario, keeps, tries_max=SEVERAL)
    before, after = extent(scenario), extent(small.scenario)
    messages = f"{before.inbox + before.session} to {after.inbox + after.session} messages"
    return f"{before.turns} to {after.turns} turns, {messages}"


def table(rows: Iterable[Row]) -> str:
    """The generated part of the document."""
    return "\n".join([*HEADER, *(row.text for row in rows)]) + "\n"


def main() -> int:
    """Write the table again."""
    if not CORPUS.is_dir():
        print("no corpus of recordings: set LOOP_HARNESS_CORPUS to its folder", file=sys.stderr)
        return 2
    head, _, _ = DOCUMENT.read_text("utf-8").partition(MARK)
    rows = []
    for incident in INCIDENTS:
        rows.append(row_of(incident))
        print(rows[-1].text, flush=True)
    DOCUMENT.write_text(f"{head}{MARK}\n{table(rows)}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
