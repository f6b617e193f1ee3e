"""`harness schema`: prints the JSON Schema of a kind of file."""

from __future__ import annotations

import json

import click

from harness.cli.completion import completing, files_with_schema
from harness.cli.options import every_verb, named_plugins
from harness.core.values.errors import InputError, nearest


@click.command("schema")
@click.argument(
    "file",
    shell_complete=completing(files_with_schema),
    default="scenario",
    metavar="[scenario|overlay|profile|configuration]",
)
@named_plugins
@every_verb
def command(file: str, as_json: bool) -> int:
    """Print the JSON Schema of a kind of file, for editors (with --json on one line)."""
    from harness.cli.terminal import out
    from harness.redaction.encoder import Encoded
    from harness.schema import FILES, schema_of

    if file not in FILES:
        raise InputError(f"no schema for this kind of file; {nearest(file, FILES)}", file)
    out(Encoded(json.dumps(schema_of(file), indent=None if as_json else 2)))
    return 0
