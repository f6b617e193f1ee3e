"""A diff as Markdown for a pull request: the screen, and each differing run, folded."""

from __future__ import annotations

from collections.abc import Iterator

from harness.report.diff_screen import counts, run_lines, screen
from harness.report.media.markdown import COMMENT_MAX, WIDTH, bounded, fenced, folded
from harness.report.run_report import MARKS
from harness.results.run_diff import Diff


def markdown_of(diff: Diff, most: int = COMMENT_MAX) -> str:
    """Return the summary in at most `most` bytes."""
    return bounded(_parts(diff), most)


def _parts(diff: Diff) -> Iterator[str]:
    mark = MARKS["fail" if diff.has_new else "pass"]
    yield f"## {mark} harness diff: {counts(diff)}\n\n"
    yield fenced("\n".join(screen(diff, WIDTH))) + "\n\n"
    for run in diff.unlike:
        mark = MARKS["fail" if run.failing else "pass"]
        yield folded(mark, run.name, "\n".join(run_lines(run, WIDTH)))
