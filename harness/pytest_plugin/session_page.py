"""`--harness-html FILE`: one page of all runs of a session, those of xdist's workers too.

Each process writes its runs into a folder as it plays them. At the end the process that the user
started makes the page. So no run stays in memory, and a worker that dies loses no other worker's
runs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.core.values.verdict import Verdict
    from harness.runner import Run

NAME = "harness-session-page"
_FOLDER = "harness_html"


def configure(config: pytest.Config) -> None:
    """Register the writer of the page, if the user asked for one.

    Raises InputError for a file that cannot be written.
    """
    named = config.getoption("--harness-html")
    if not named:
        return
    from harness.files.owner import make_scratch
    from harness.files.regular_file import check_writable

    file = config.invocation_params.dir / named
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is None:
        check_writable(file)
    folder = Path(worker[_FOLDER]) if worker else make_scratch("page-")
    config.pluginmanager.register(SessionPage(file, folder, is_worker=bool(worker)), NAME)


def page_of(config: pytest.Config) -> SessionPage | None:
    """Return the page of the session, if there is one."""
    found: SessionPage | None = config.pluginmanager.get_plugin(NAME)
    return found


class SessionPage:
    """Collects the runs of a session for the page `file`, in `folder` until the end."""

    def __init__(self, file: Path, folder: Path, *, is_worker: bool) -> None:
        self._file, self._folder, self._is_worker = file, folder, is_worker
        self._runs = 0

    def add(
        self, item: pytest.Item, repeat: str, runs: Sequence[Run], wanted: frozenset[str]
    ) -> None:
        """Keep the runs of a test; findings that it expects count as known."""
        from msgspec.structs import replace

        from harness.files.regular_file import write_atomically
        from harness.redaction.encoder import json_bytes
        from harness.runner.run_folder import history_lines
        from harness.verdicts.result import summarize

        path, _, test = item.nodeid.partition("::")
        for run in runs:
            made = summarize(run, None)
            own = test.rpartition("::")[2]  # without the class of the test
            name = made.name if own in (made.scenario, "") else f"{own} {made.name}"
            made = replace(made, name=name, file=f"{path}/{own}", repeat=repeat,
                           verdict=as_wanted(made.verdict, wanted))  # fmt: skip
            self._runs += 1
            place = self._folder / f"{os.getpid()}-{self._runs:06}.jsonl"
            write_atomically(place, history_lines(run.history), durable=False)
            # The result is written last: a process that dies leaves no result without its history.
            write_atomically(place.with_suffix(".json"), [json_bytes(made)], durable=False)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of xdist where the runs are kept."""
        node.workerinput[_FOLDER] = str(self._folder)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Write the page of all runs, and remove the folder."""
        if self._is_worker:
            return
        try:
            self._write()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self) -> None:
        """Tell the page the runs in the order of each process, as a command tells its own."""
        import msgspec
        from msgspec.structs import replace

        from harness.files.regular_file import whole, write_atomically
        from harness.report.media.html import Html, kept_history
        from harness.verdicts.command_events import CommandFinished, CommandStarted, Event
        from harness.verdicts.result import Result

        places = sorted(self._folder.glob("*.json"))
        results = [msgspec.json.decode(whole(place), type=Result) for place in places]
        # Two tests may play one run, so nothing in a result tells it from all others.
        kept = {
            id(run): str(p.with_suffix(".jsonl")) for run, p in zip(results, places, strict=True)
        }
        page = Html(lambda run: kept_history(replace(run, history=kept[id(run)])))
        started = CommandStarted(verb="pytest", title="pytest")
        events: list[Event] = [started, *results, CommandFinished()]
        lines = [f"{line}\n".encode() for event in events for line in page(event)]
        write_atomically(self._file, lines, durable=False)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print where the page is."""
        terminalreporter.write_line(f"loop-harness: page {self._file}")


def as_wanted(verdict: Verdict, wanted: frozenset[str]) -> Verdict:
    """Move the findings that a test expects to the known ones, which do not fail a run."""
    from msgspec.structs import replace

    expected = tuple(f for f in verdict.findings if f.code in wanted)
    if not expected:
        return verdict
    made = replace(verdict, known=(*verdict.known, *expected),
                   findings=tuple(f for f in verdict.findings if f not in expected))  # fmt: skip
    is_met = not made.failing and verdict.verdict == "fail"
    return replace(made, verdict="pass") if is_met else made
