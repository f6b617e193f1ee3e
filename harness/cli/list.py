"""`harness list`: the parts found by walking the folders; there is no registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from harness.cli.options import every_verb, plugins
from harness.core.values.errors import InputError, nearest
from harness.core.values.visible_text import visible_line

Row = dict[str, Any]


@click.command("list")
@click.argument("what", metavar="scenarios|faults|checks|targets|formats|stores")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@plugins
@every_verb
def command(what: str, folder: Path | None, as_json: bool) -> int:
    """List scenarios (of DIR, default ./scenarios), faults, checks, targets, formats or stores.

    What a plug-in brings is marked with the name of its module.
    """
    from harness.cli import terminal
    from harness.report.json_lines import line

    if what not in KINDS:
        raise InputError(f"nothing of this name to list; {nearest(what, KINDS)}", what)
    if folder is not None and what != "scenarios":
        raise InputError("only scenarios are listed from a folder", str(folder))
    rows = list(KINDS[what](folder))
    if what in BROUGHT:
        rows = [_marked(row) for row in rows]
    if as_json:
        for row in rows:
            terminal.out(line(row))
        return 0
    column = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        terminal.out(_text(row, column))
    return 0


def _text(row: Row, column: int) -> str:
    told = row.get("code") or row.get("needs")
    codes = f" ({' '.join(told)})" if told else ""
    mark = f" [plug-in {row['plugin']}]" if "plugin" in row else ""
    return visible_line(f"{row['name']:{column}}  {row['title']}{codes}{mark}".rstrip())


def _marked(row: Row) -> Row:
    from harness.core.values.loaded_plugins import loaded

    prefix, dot, _ = row["name"].partition(".")
    modules = (plugin.module.__name__ for plugin in loaded() if dot and plugin.prefix == prefix)
    module = next(modules, "")
    return {**row, "plugin": module} if module else row


def scenarios(folder: Path | None) -> Iterator[Row]:
    """Every run of the scenarios of a folder."""
    from harness.cli.selection import plan
    from harness.runner.needs import needs_of

    for path, scenario in plan([folder] if folder else []):
        yield {
            "name": scenario.run_name,
            "title": scenario.title,
            "source": scenario.source,
            "needs": list(needs_of(scenario)),
            "file": path,
        }


def faults(_: Path | None = None) -> Iterator[Row]:
    """Every fault: its kind, the rows of the fault table that it makes, where and how it bends."""
    from harness.catalogue import sources
    from harness.faults import faults

    for fault in faults().values():
        yield {
            "name": fault.kind,
            "code": list(fault.codes),
            "layer": fault.layer,
            "stage": fault.stage,
            "on": list(fault.seams),
            "wires": list(fault.wires),
            "knobs": {name: repr(default) for name, default in fault.defaults.items()},
            "source": sources(fault.codes),
            "title": fault.text.partition("\n")[0],
        }


def checks(_: Path | None = None) -> Iterator[Row]:
    """Every check, with the seams that it needs and its settings."""
    from harness.checks.judge import checks, settings_of

    for name, check in checks().items():
        settings = settings_of(check)
        yield {
            "name": name,
            "needs": list(getattr(check, "needs", ())),
            "knobs": {setting: repr(default) for setting, default in settings.items()},
            "title": first_line(check),
        }


def targets(_: Path | None = None) -> Iterator[Row]:
    """The forms of a target's specification."""
    from harness.targets.spec import names

    for name, title in names().items():
        yield {"name": name, "title": title}


def formats(_: Path | None = None) -> Iterator[Row]:
    """The formats of recordings that `judge` reads."""
    from harness.recordings.recognition import formats as known

    for name, kind in known().items():
        yield {"name": name, "title": kind.title}


def stores(_: Path | None = None) -> Iterator[Row]:
    """The readers of session stores, for `--store READER:PATH` and for `session.format`."""
    from harness.stores import readers

    for name, reader in readers().items():
        yield {"name": name, "title": first_line(reader)}


def first_line(thing: object) -> str:
    """The first line of a docstring."""
    return (getattr(thing, "__doc__", "") or "").strip().partition("\n")[0]


KINDS: dict[str, Callable[[Path | None], Iterator[Row]]] = {
    "scenarios": scenarios,
    "faults": faults,
    "checks": checks,
    "targets": targets,
    "formats": formats,
    "stores": stores,
}

BROUGHT = ("faults", "checks", "formats", "stores")
"""What plug-ins bring."""
