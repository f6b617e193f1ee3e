"""`harness import`: makes a scenario of a recording. `scenario_import` does the work.

`import` is a Python keyword, so this module is loaded by name only.
"""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.interrupts import deferred
from harness.cli.options import NamedPath, every_verb, named_plugins, out_folder, recording_format


@click.command("import")
@click.argument("file", type=NamedPath())
@click.option("--name", required=True, metavar="NAME", help="The scenario's name, in kebab case.")
@click.option("--at", type=click.IntRange(1), metavar="TURN",
              help="Start at the TURN-th user message; earlier messages become the stored session.",
              )  # fmt: skip
@click.option("--transcript", default="", metavar="TRANSCRIPT",
              help="Which of several transcripts; default: the longest.")  # fmt: skip
@recording_format("How to read the file")
@out_folder(".", "The folder for scenarios/NAME.yaml and cassettes/NAME.yaml.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@named_plugins
@every_verb
def command(
    file: Path, name: str, at: int | None, transcript: str, kind: str, out: Path, force: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Make a scenario of a recorded incident, and report what the recording lacks.

    FILE is any recording that `harness judge` reads, or the history of a run.
    """
    from harness.cli import terminal
    from harness.cli.scenario_import import ImportRequest, imported
    from harness.redaction.encoder import json_line

    asked = ImportRequest(
        file=file, name=name, at=at, transcript=transcript, kind=kind, out=out, force=force
    )
    made, write = imported(asked)
    with deferred():
        write()
        terminal.out(json_line(made.keys()) if as_json else "\n".join(made.text()))
    return 0
