"""`harness model`: serves scripted models to tests in another language, such as TypeScript.

A test runner starts it and speaks lines of JSON with it; the package for npm does so. It ends when
its standard input does: when the tests end, or when they are killed.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import click
import msgspec

from harness.cli import terminal
from harness.cli.options import every_verb, named_plugins

PACKAGE = Path(__file__).parents[1] / "npm"


@click.command("model")
@click.option("--package", is_flag=True, help="Print the folder of the package for npm, and end.")
@named_plugins
@every_verb
def command(package: bool, as_json: bool) -> int:
    """Serve scripted models to tests in another language.

    The package for npm starts it: npm pack "$(harness model --package)".
    """
    from importlib.metadata import version

    from harness.redaction.encoder import json_line
    from harness.runner.lent_models import LentModels

    if package:
        terminal.out(json_line({"folder": str(PACKAGE)}) if as_json else str(PACKAGE))
        return 0
    # Ctrl-C reaches the whole group; the tests end first, and then standard input does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    models = LentModels()
    try:
        _write(models.ready(version("loop-harness")))
        for line in sys.stdin.buffer:
            _write(models.answer(line))
    finally:
        models.close()
    return 0


def _write(value: object) -> None:
    """Write a line as it is: a test compares its texts, so nothing in it may be masked."""
    raw = terminal.results().buffer
    raw.write(msgspec.json.encode(value) + b"\n")
    raw.flush()
