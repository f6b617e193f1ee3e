"""`harness secrets`: tells which secrets files already hold, without showing one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from harness.cli.options import NamedPath, every_verb


@click.command("secrets")
@click.argument("paths", nargs=-1, required=True, metavar="FILE|DIR...", type=NamedPath())
@click.option("--allow", multiple=True, metavar="DIGEST",
              help="Pass over a text that only looks like a secret, by its digest.")  # fmt: skip
@every_verb
def command(paths: tuple[Path, ...], allow: tuple[str, ...], as_json: bool) -> int:
    """Tell which secrets cassettes, logs and other files hold.

    Each is told by its place, its issuer and a digest, and never shown. In a DIR, every file is
    read. Exit status 1 if there is one.
    """
    import msgspec

    from harness.cassettes.found_secrets import secrets_in
    from harness.cli import terminal
    from harness.core.values.errors import InputError
    from harness.redaction.encoder import json_line

    files = holding = count = 0
    for path, is_named in _files(paths):
        try:
            found = [one for one in secrets_in(path) if one.digest not in allow]
        except InputError as error:
            if is_named:
                raise
            terminal.note(f"not read: {error}")
            continue
        files, holding, count = files + 1, holding + bool(found), count + len(found)
        for one in found:
            row = {"file": str(path), **msgspec.to_builtins(one)}
            said = f"{path}: {one.place}: {one.issuer} (digest {one.digest})"
            terminal.out(json_line(row) if as_json else said)
    if not as_json:
        terminal.out(_summary(count, holding, files))
    return 1 if count else 0


def _summary(count: int, holding: int, files: int) -> str:
    from harness.verdicts.event_lines import counted

    if not count:
        return f"no secret in {counted(files, 'file')}"
    return f"{counted(count, 'secret')} in {holding} of {counted(files, 'file')}"


def _files(paths: tuple[Path, ...]) -> Iterator[tuple[Path, bool]]:
    """Each file, and whether the user named it."""
    from harness.cli import terminal
    from harness.files.regular_file import files_below

    for path in paths:
        if not path.is_dir():
            yield path, True
            continue
        for found in files_below(str(path)):
            if found.refused:
                terminal.note(f"not read: {found.path}: {found.refused}")
            else:
                yield Path(found.path), False
