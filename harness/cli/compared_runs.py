"""`harness run --compare`: each run is compared with the first run of the same course.

The histories are read from their files: a result has only the lines that prove a finding.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.comparison.writings import Step, course_name, difference, steps, written_otherwise
from harness.runner.run_folder import read_history, write_verdict
from harness.verdicts.result import Result


class ComparedRuns:
    """The runs of a command by their course, as they come.

    Runs that fail by themselves are not compared: they have told more than a difference does.
    """

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, tuple[Step, ...]]] = {}

    def __call__(self, run: Result) -> Result:
        """The run; with a finding if it takes another course than the first run of its course."""
        if run.word != "pass" or not run.history:
            return run
        course = steps(read_history(Path(run.history)))
        name, first = self._first.setdefault(course_name(run.name), (run.name, course))
        if not (differs := difference(first, course)):
            return run
        verdict = written_otherwise(run.verdict, name, differs)
        write_verdict(Path(run.history).parent, verdict)
        return msgspec.structs.replace(run, verdict=verdict)
