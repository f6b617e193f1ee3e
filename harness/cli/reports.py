"""The reports of a command: `--report`, `--junit`, `--markdown`, `--html`, `--github`, the screen.

A verb tells events, and knows no medium. Each report gets every event; the lines that it gives go
to the screen, to a file that is written whole at the end, or to GitHub. Each file is checked before
the first run. A report that fails ends alone, and makes the command doubtful.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
import msgspec
from msgspec.structs import replace

from harness.cli import terminal
from harness.cli.baseline import chosen_baseline
from harness.cli.interrupts import deferred
from harness.core.values.errors import InputError
from harness.core.values.visible_text import visible
from harness.redaction.encoder import Encoded, encoded, shown

if TYPE_CHECKING:
    from harness.core.history.history import History
    from harness.core.values.verdict import VerdictWord
    from harness.verdicts.command_events import CommandStarted, Event, Matrix, Report
    from harness.verdicts.reach import Reach
    from harness.verdicts.result import Result

    Read = Callable[[Result], History | None]

_F = TypeVar("_F", bound=Callable[..., Any])
_KEY = "harness.reports"
_OPENS = "harness.reports.open"
STANDARD_OUTPUT = Path("-")


class Wanted(msgspec.Struct, frozen=True):
    """The reports that a command writes beside its screen.

    `files` holds a report and its file, by the flag that names them; `-` is standard output.
    `is_github`: annotations are printed. `step_summary` is a file of GitHub Actions to which a
    summary is appended. `folder` is where the user started the command: a file is named from there,
    also when the command or a target has left it. `repository` is what GitHub has checked out.
    """

    files: Mapping[str, tuple[str, Path]] = {}
    is_github: bool = False
    step_summary: Path | None = None
    folder: Path = Path()
    repository: Path = Path()

    @property
    def takes_standard_output(self) -> bool:
        """Whether standard output is one of these files, so the screen is left out."""
        return any(path == STANDARD_OUTPUT for _, path in self.files.values())

    def check(self) -> None:
        """Raise InputError for two reports to one file, and for a file that cannot be written."""
        from harness.files.regular_file import check_writable

        taken: dict[str, str] = {}
        for flag, (_, path) in self.files.items():
            place = "-" if path == STANDARD_OUTPUT else os.path.realpath(path)
            if place in taken:
                raise InputError(f"{taken[place]} writes to the same file", f"{flag} {path}")
            taken[place] = flag
            if place != "-":
                check_writable(path)
        if self.step_summary:
            append(self.step_summary, b"")


class Printed:
    """A report whose lines are printed as they come."""

    def __init__(self, report: Report, print_line: Callable[[str], None]) -> None:
        self._report, self._print = report, print_line

    def tell(self, event: Event) -> None:
        """Give the report an event, and print what it says."""
        for line in self._report(event) or ():
            self._print(line)


class Filed:
    """A report whose lines are written together, at the end; `is_guest`: a plug-in brings it."""

    def __init__(
        self, report: Report, write: Callable[[Sequence[str]], None], *, is_guest: bool = False
    ) -> None:
        self._report, self._write, self.is_guest = report, write, is_guest
        self._lines: list[str] = []

    def tell(self, event: Event) -> None:
        """Give the report an event, and keep what it says; write all of it at the end."""
        from harness.verdicts.command_events import CommandFinished

        self._lines += self._report(event) or ()
        if isinstance(event, CommandFinished):
            self._write(self._lines)


class Telling:
    """Tells the events of a command to its reports.

    `words` are the verdicts of the results that were told. `totals` are what the verb counts
    beside them, `matrices` what it brought together and `reach` what is reached besides; the
    reports get them at the end. `has_failed`: a report of a plug-in did.
    """

    def __init__(self, outputs: Mapping[str, Printed | Filed]) -> None:
        self._outputs = dict(outputs)
        self._accept = chosen_baseline().take
        self.words: set[VerdictWord] = set()
        self.totals: Any = None
        self.matrices: tuple[Matrix, ...] = ()
        self.reach: Reach | None = None
        self.has_failed = False

    def __call__(self, result: Result) -> Result:
        """Tell a result, and return it with its accepted findings set apart."""
        taken = self._accept(result)
        if not taken.is_refusal:
            self.words.add(taken.word)
        self.tell(taken)
        return taken

    def tell(self, event: Event) -> None:
        """Tell an event to every report; one of a plug-in that fails is told no more."""
        for name, output in [*self._outputs.items()]:
            try:
                output.tell(event)
            except Exception as error:
                is_guest = isinstance(output, Filed) and output.is_guest
                if not is_guest or isinstance(error, InputError):
                    raise
                del self._outputs[name]
                self.has_failed = True
                self.words.add("unknown")
                terminal.note(f"the report {name} failed: {type(error).__name__}: {error}")

    def finish(self, *, interrupted: bool) -> None:
        """Tell that the command ends; only one that was not interrupted updates the baseline."""
        from harness.verdicts.command_events import CommandFinished

        change = None
        if not interrupted:
            chosen_baseline().write()
            change = chosen_baseline().change()
        ended = CommandFinished(
            interrupted=interrupted,
            baseline=change,
            totals=self.totals,
            matrices=self.matrices,
            reach=self.reach,
        )
        self.tell(ended)

    @property
    def status(self) -> int:
        """The exit status: that of the worst verdict."""
        from harness.core.values.verdict import EXIT_STATUS, worst

        return EXIT_STATUS[worst(*self.words)]


@contextmanager
def reporting(
    started: CommandStarted,
    screen: Report | None = None,
    *,
    read: Read | None = None,
    beside: Mapping[Path, Report] = MappingProxyType({}),
    interrupted: bool = False,
) -> Iterator[Telling]:
    """Tell the reports that a command started, in the block its results, and at last that it ended.

    `screen` is the verb's own report, for the terminal; it is left out where standard output is a
    document. `read` returns the history of a result for the page. `beside` are reports that the
    verb always writes. After Ctrl-C the reports are finished too; `interrupted`: it
    came before.
    """
    wanted = wanted_reports()
    telling = Telling(dict(_outputs(wanted, screen, read, beside)))
    telling.tell(replace(started, folder=wanted.folder, repository=wanted.repository))
    try:
        yield telling
    except KeyboardInterrupt:
        with deferred():
            telling.finish(interrupted=True)
        raise
    telling.finish(interrupted=interrupted)


def _outputs(
    wanted: Wanted, screen: Report | None, read: Read | None, beside: Mapping[Path, Report]
) -> Iterator[tuple[str, Printed | Filed]]:
    """Yield the reports of this command: the screen, those with a file, and those of GitHub."""
    from harness.report.media.html import Html
    from harness.report.report_parts import REPORTS, report_named

    if wanted.takes_standard_output:
        yield "screen", Printed(_baseline_alone, terminal.note)
    elif screen:
        yield "screen", Printed(screen, terminal.out)
    for path, report in beside.items():
        yield str(path.name), Filed(report, partial(write, "", path, Path()))
    for flag, (name, path) in wanted.files.items():
        report = Html(read) if name == "html" and read else report_named(name).made()
        is_guest = name not in REPORTS.own()
        yield flag, Filed(report, partial(write, name, path, wanted.folder), is_guest=is_guest)
    if wanted.step_summary:
        yield "step summary", Filed(*_step_summary(wanted.step_summary))
    if wanted.is_github:
        yield "annotations", Printed(report_named("github").made(), terminal.annotate)


def _baseline_alone(event: Event) -> Iterator[str]:
    """Say how the results differ from the baseline where the screen is left out."""
    from harness.report.command_summary import baseline_lines
    from harness.verdicts.command_events import CommandFinished

    if isinstance(event, CommandFinished):
        yield from baseline_lines(event.baseline)


def write(name: str, path: Path, folder: Path, lines: Sequence[str]) -> None:
    """Write the lines of a report to a file below the folder; `name` is that of the report."""

    texts = (line if isinstance(line, Encoded) else visible(shown(line)) for line in lines)
    place = path if path == STANDARD_OUTPUT else folder / path
    write_document(place, b"".join(encoded(f"{text}\n") for text in texts))
    if name == "html" and path != STANDARD_OUTPUT:
        tell_page(path, folder)


def write_document(path: Path, data: bytes) -> None:
    """Write a document to a file, or to standard output."""
    from harness.files.regular_file import write_atomically

    if path == STANDARD_OUTPUT:
        terminal.document(data)
    else:
        write_atomically(path, data, durable=False)


def append(path: Path, data: bytes) -> None:
    """Append to the file of a step of GitHub Actions. Raises InputError if it cannot be written."""
    try:
        with open(path, "ab") as file:
            file.write(data)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be written: {what}", f"GITHUB_STEP_SUMMARY {path}") from None


def _step_summary(path: Path) -> tuple[Report, Callable[[Sequence[str]], None]]:
    """Return the summary of the step; other commands of the step may have written to it."""
    from harness.report.media.markdown import STEP_MAX_BYTES, document
    from harness.report.report_parts import Document

    def lines(results: Sequence[Result], command: CommandStarted) -> list[str]:
        room = STEP_MAX_BYTES - path.stat().st_size
        return [document(results, room, command).rstrip("\n") + "\n"]

    return Document(lines), lambda found: append(path, encoded("".join(found)))


def outputs(function: _F) -> _F:
    """Add the options of the reports, for a verb that tells its results by `reporting`."""

    @wraps(function)
    def with_reports(
        *args: Any, report: tuple[str, ...], junit: Path | None, markdown: Path | None,
        github: bool | None, page: Path | None = None, **named: Any,
    ) -> Any:  # fmt: skip
        flags = {"--junit": ("junit", junit), "--markdown": ("markdown", markdown),
                 "--html": ("html", page)}  # fmt: skip
        files = {flag: (name, path) for flag, (name, path) in flags.items() if path}
        files |= {f"--report {each}": _named(each) for each in report}
        is_github = terminal.is_github() if github is None else github
        summary = os.environ.get("GITHUB_STEP_SUMMARY") if is_github else None
        here = Path.cwd()
        repository = Path(os.environ.get("GITHUB_WORKSPACE") or here)
        step_summary = Path(summary) if summary else None
        wanted = Wanted(files, is_github, step_summary, here, repository)
        wanted.check()
        if named.get("as_json") and wanted.takes_standard_output:
            raise InputError("--json writes on standard output too", "-")
        click.get_current_context().meta[_KEY] = wanted
        return function(*args, **named)

    path = click.Path(path_type=Path, allow_dash=True)
    for option in (
        click.option("--github/--no-github", default=None,
                     help="Write annotations and a step summary for GitHub Actions.  "
                     "[default: if GITHUB_ACTIONS is true]"),
        click.option("--markdown", type=path, metavar="FILE",
                     help="Write a summary for a pull request; - is standard output."),
        click.option("--junit", type=path, metavar="FILE",
                     help="Write the runs as JUnit XML; - is standard output."),
        click.option("--report", multiple=True, metavar="NAME[=FILE]",
                     help="Write one of `harness list reports`; without FILE on standard output."),
    ):  # fmt: skip
        with_reports = option(with_reports)
    return cast(_F, with_reports)


def _named(given: str) -> tuple[str, Path]:
    """Return the name and the file of `--report NAME[=FILE]`."""
    name, _, path = given.partition("=")
    return name, Path(path) if path else STANDARD_OUTPUT


PAGE = Path(".harness/page.html")
"""The page of `--open` without `--html`."""


def tell_page(path: Path, folder: Path) -> None:
    """Say where a page was written; `--open` opens it in the browser of the user."""
    import webbrowser

    terminal.note(f"page: {path}")
    address = (folder / path).resolve().as_uri()
    if click.get_current_context().meta.get(_OPENS) and not webbrowser.open(address):
        terminal.note("--open: no browser was found; set BROWSER to the command of one")


def _file(context: click.Context, option: click.Parameter, given: Path | None) -> Path | None:
    """Return the file of `--html`, or that of `--open`, after a check that it can be written."""
    from harness.files.regular_file import check_writable

    opens = context.meta.get(_OPENS)
    if given == STANDARD_OUTPUT and opens:
        raise InputError("--open opens a file: name one", "--html -")
    file = PAGE if given is None and opens else given
    if file is not None and file != STANDARD_OUTPUT:
        check_writable(file)
    return file


def _opens(context: click.Context, option: click.Parameter, given: bool) -> None:
    context.meta[_OPENS] = given


def html(function: _F) -> _F:
    """Add `--html FILE`, which is checked before the verb begins, and `--open`."""
    option = click.option(
        "--html", "page", type=click.Path(path_type=Path), metavar="FILE", callback=_file,
        help="Write the runs as one HTML page that needs no network.",
    )  # fmt: skip
    # Eager: the callback of `--html` asks for it, and click calls in the order of the command line.
    opens = click.option("--open", is_flag=True, is_eager=True, expose_value=False, callback=_opens,
                         help=f"Open the page in a browser.  [file: {PAGE}]")  # fmt: skip
    return option(opens(function))


def wanted_reports() -> Wanted:
    """Return the reports of this command."""
    found: Wanted = click.get_current_context().meta.get(_KEY, Wanted())
    return found
