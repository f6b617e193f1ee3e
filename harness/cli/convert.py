"""`harness convert`: writes a cassette in another format."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import NamedPath, every_verb


@click.command("convert")
@click.argument("source", metavar="CASSETTE", type=NamedPath())
@click.argument("target", metavar="CASSETTE", type=click.Path(path_type=Path))
@click.option("--to", default="", metavar="FORMAT",
              help="compact, vcr or cassetter. Default by the name: .jsonl is compact, "
              ".yaml is vcr.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace existing files.")
@every_verb
def command(source: Path, target: Path, to: str, force: bool, as_json: bool) -> int:
    """Write a cassette in another format, without secrets and without other loss.

    The source CASSETTE has any playable format: vcrpy, go-vcr, Ruby's VCR, cassetter, HAR, one
    exchange as JSON, or compact. The result is read back before the file is written. A format that
    cannot hold all of it is an error, and no file is written.
    """
    import msgspec

    from harness.cassettes.conversion import convert
    from harness.cli import terminal
    from harness.redaction.encoder import json_line

    done = convert(source, target, to, force=force)
    if as_json:
        fields = msgspec.to_builtins(done)
        terminal.out(json_line({"file": str(target), "from": str(source), **fields}))
        return 0
    for note in done.notes:
        terminal.note(f"{source}: {note}")
    sizes = f"{done.before_bytes:,} bytes before, {done.after_bytes:,} now"
    terminal.out(f"{target}: {done.format}, {done.interactions} interactions, {sizes}")
    return 0
