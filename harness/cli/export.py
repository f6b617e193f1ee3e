"""`harness export`: writes runs in a form that other programs read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from harness.cli.options import NamedPath, every_verb, named_plugins
from harness.cli.show import histories_below, verdict_of
from harness.core.values.errors import InputError
from harness.report.exports import FORMATS, OF_ONE_RUN, export

ARCHIVE = ".eval"
"""How a file of Inspect is named that is an archive."""

DATED = frozenset({"otlp", "inspect"})
"""The forms whose viewers choose by date. Phoenix shows the last seven days, so a run of the
virtual clock is not seen before its day is asked for."""


@click.command("export")
@click.argument("runs", metavar="RUN...", type=NamedPath(), nargs=-1, required=True)
@click.option("--to", "form", type=click.Choice(list(FORMATS)), required=True,
              help="The form: spans of OpenTelemetry, a log of Inspect AI, a diagram in Mermaid, "
              "or a card in SVG.")  # fmt: skip
@click.option("-o", "--out", "file", type=click.Path(path_type=Path, dir_okay=False),
              metavar="FILE", help="The file to write.  [default: standard output]")  # fmt: skip
@named_plugins
@every_verb
def command(runs: tuple[Path, ...], form: str, file: Path | None, as_json: bool) -> int:
    """Write runs in a form that other programs read.

    RUN is the folder of a run, its history.jsonl, or a scenario with a run below .harness/runs; for
    otlp and inspect also a folder of runs, and several. A FILE.eval is Inspect's archive. With
    --json: a line that says what was written.
    """
    from harness.cli import terminal
    from harness.files.regular_file import write_atomically
    from harness.redaction.encoder import json_line
    from harness.report.exports.exported_run import DAY, numbered
    from harness.runner.run_folder import read_history

    if as_json and file is None:
        raise InputError("standard output holds the export; name a file with -o", "--json")
    named = list(_histories(runs, form))
    histories = ((path, read_history(path)) for path in named)
    found = list(numbered((history, verdict_of(path, history)) for path, history in histories))
    is_archive = form == "inspect" and file is not None and file.suffix == ARCHIVE
    data = export(found, form, archive=is_archive)
    if file is None:
        terminal.document(data)
        return 0
    write_atomically(file, data)
    names = [run.name for run in found]
    row = {"file": str(file), "to": form, "runs": names, "bytes": len(data)}
    day = f"; in the viewer, choose the day of the run's clock: {DAY}" if form in DATED else ""
    terminal.out(json_line(row)) if as_json else terminal.note(f"written: {file}{day}")
    return 0


def _histories(runs: tuple[Path, ...], form: str) -> Iterator[Path]:
    """Yield the history of each run, once. Raises InputError for more than the form can show."""
    found = dict.fromkeys(path for run in runs for path in histories_below(run))
    if form in OF_ONE_RUN and len(found) > 1:
        first = next(iter(found)).parent
        raise InputError(f"shows one run; name one of {len(found)}: {first}", f"--to {form}")
    yield from found
