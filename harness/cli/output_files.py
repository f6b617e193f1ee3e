"""`--junit`, `--markdown` and `--github`: the files that a CI server reads after a command.

A verb passes its runs as summaries, with its noun for a run. Each file is checked before the first
run and written whole at the end. GitHub Actions gets the annotations and the summary of the step by
default.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
import msgspec

from harness.core.values.errors import InputError

if TYPE_CHECKING:
    from harness.results.result import Result

_F = TypeVar("_F", bound=Callable[..., Any])
_KEY = "harness.output_files"
STANDARD_OUTPUT = Path("-")


class OutputFiles(msgspec.Struct, frozen=True):
    """The files that a command writes beside its report; `-` is standard output.

    `step_summary` is a file to which a summary is appended. Annotations name files relative to
    `repository`. Both are None outside GitHub Actions.
    """

    junit: Path | None = None
    markdown: Path | None = None
    step_summary: Path | None = None
    repository: Path | None = None

    @property
    def wants_runs(self) -> bool:
        """Whether a file needs the runs, so they have to be kept until the end."""
        return any((self.junit, self.markdown, self.step_summary, self.repository))

    @property
    def takes_standard_output(self) -> bool:
        """Whether standard output is one of these files, so the report goes elsewhere."""
        return STANDARD_OUTPUT in (self.junit, self.markdown)

    def check(self, others: Mapping[str, Path | None]) -> None:
        """Raise InputError for two outputs to one file, and for a file that cannot be written.

        `others` are the files of other options, by their flag.
        """
        from harness.files.regular_file import check_writable

        named = {"--junit": self.junit, "--markdown": self.markdown, **others}
        taken: dict[str, str] = {}
        for flag, path in named.items():
            if path is None:
                continue
            place = "-" if path == STANDARD_OUTPUT else os.path.realpath(path)
            if place in taken:
                raise InputError(f"{taken[place]} writes to the same file", f"{flag} {path}")
            taken[place] = flag
            if place != "-":
                check_writable(path)
        if self.step_summary:
            _append(self.step_summary, b"")

    def write(self, runs: Sequence[Result], noun: str = "run") -> None:
        """Write all of them; `noun` is what a run is called."""
        if self.junit:
            from harness.report.junit_report import junit

            write_output(self.junit, junit(runs))
        if self.markdown:
            from harness.redaction.encoder import encoded
            from harness.report.markdown_summary import markdown

            write_output(self.markdown, encoded(markdown(runs, noun=noun)))
        if self.step_summary:
            _summarize(self.step_summary, runs, noun)
        if self.repository:
            _annotate(self.repository, runs, noun)


def write_output(path: Path, data: bytes) -> None:
    """Write a document to a file, or to standard output."""
    from harness.cli import terminal
    from harness.files.regular_file import write_atomically

    if path == STANDARD_OUTPUT:
        terminal.document(data)
    else:
        write_atomically(path, data, durable=False)


def _append(path: Path, data: bytes) -> None:
    try:
        with open(path, "ab") as file:
            file.write(data)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be written: {what}", f"GITHUB_STEP_SUMMARY {path}") from None


def _summarize(path: Path, runs: Sequence[Result], noun: str) -> None:
    """Append to the summary of the step; other commands of the step may have written to it."""
    from harness.redaction.encoder import encoded
    from harness.report.markdown_summary import STEP_MAX_BYTES, markdown

    room = STEP_MAX_BYTES - path.stat().st_size
    _append(path, encoded(markdown(runs, room, noun)))


def _annotate(repository: Path, runs: Sequence[Result], noun: str) -> None:
    """Print the annotations on standard error, which GitHub reads too."""
    from harness.cli import terminal
    from harness.report.github_annotations import annotation_lines

    for line in annotation_lines(runs, repository, noun):
        terminal.annotate(line)


def output_files(function: _F) -> _F:
    """Add the options of these files, for a verb that calls `chosen_files().write`."""

    @wraps(function)
    def with_files(
        *args: Any, junit: Path | None, markdown: Path | None, github: bool | None, **named: Any
    ) -> Any:
        found = OutputFiles(junit, markdown, *(_of_github() if _is_github(github) else ()))
        found.check({"--html": named.get("page")})
        if named.get("as_json") and found.takes_standard_output:
            raise InputError("--json writes on standard output too", "-")
        click.get_current_context().meta[_KEY] = found
        return function(*args, **named)

    path = click.Path(path_type=Path, allow_dash=True)
    junit = click.option("--junit", type=path, metavar="FILE",
                         help="Write the runs as JUnit XML; - is standard output.")  # fmt: skip
    markdown = click.option("--markdown", type=path, metavar="FILE",
                            help="Write a summary for a pull request; - is standard output.",
                            )  # fmt: skip
    github = click.option("--github/--no-github", default=None,
                          help="Write annotations and a step summary for GitHub Actions.  "
                          "[default: if GITHUB_ACTIONS is true]")  # fmt: skip
    return cast(_F, junit(markdown(github(with_files))))


def chosen_files() -> OutputFiles:
    """Return the files of this command."""
    found: OutputFiles = click.get_current_context().meta.get(_KEY, OutputFiles())
    return found


def _is_github(given: bool | None) -> bool:
    from harness.cli import terminal

    return terminal.is_github() if given is None else given


def _of_github() -> tuple[Path | None, Path]:
    """Return the file of the step's summary, if there is one, and the repository's folder."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    workspace = os.environ.get("GITHUB_WORKSPACE") or os.getcwd()
    return Path(summary) if summary else None, Path(workspace)
