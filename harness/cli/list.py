"""`harness list`: lists the parts of the harness. It walks the folders, so there is no registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from harness.cli.completion import completing
from harness.cli.options import NamedPath, every_verb, named_plugins
from harness.core.values.errors import InputError, nearest
from harness.core.values.visible_text import visible_line

Row = dict[str, Any]


@click.command("list")
@click.argument(
    "what",
    shell_complete=completing(lambda _: KINDS),
    metavar="scenarios|faults|checks|targets|formats|stores|reports|examples|docs",
)
@click.argument("folder", required=False, type=NamedPath(), metavar="[DIR]")
@named_plugins
@every_verb
def command(what: str, folder: Path | None, as_json: bool) -> int:
    """List scenarios, faults, checks, targets, formats, stores, reports, examples or docs.

    Scenarios are those of DIR, else of ./scenarios, else the catalogue (@all, @loops). A part of a
    plug-in is marked with the name of its module.
    """
    from harness.cli import terminal
    from harness.redaction.encoder import json_line

    if what not in KINDS:
        raise InputError(f"no such kind of part; {nearest(what, KINDS)}", what)
    if folder is not None and what != "scenarios":
        raise InputError("only `harness list scenarios` takes a folder", str(folder))
    rows = list(KINDS[what](folder))
    if what in BROUGHT:
        rows = [_marked(row) for row in rows]
    if as_json:
        for row in rows:
            terminal.out(json_line(row))
        return 0
    rows = _by_file(rows) if what == "scenarios" else rows
    column = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        terminal.out(_text(row, column))
    return 0


def _text(row: Row, column: int) -> str:
    told = row.get("code") or row.get("needs")
    codes = f" ({' '.join(told)})" if told else row.get("told", "")
    mark = f" [plug-in {row['plugin']}]" if "plugin" in row else ""
    return visible_line(f"{row['name']:{column}}  {row['title']}{codes}{mark}".rstrip())


def _marked(row: Row) -> Row:
    from harness.parts.loading import loaded

    prefix, dot, _ = row["name"].partition(".")
    modules = (plugin.module.__name__ for plugin in loaded() if dot and plugin.prefix == prefix)
    module = next(modules, "")
    return {**row, "plugin": module} if module else row


def _by_file(rows: list[Row]) -> list[Row]:
    """Return one row a file, by the name that `run` takes, with the needs of its runs."""
    files: dict[str, list[Row]] = {}
    for row in rows:
        files.setdefault(row["file"], []).append(row)
    return [_file_row(name, runs) for name, runs in files.items()]


def _file_row(name: str, runs: list[Row]) -> Row:
    from harness.results.event_lines import counted

    needs = [need for need in runs[0]["needs"] if all(need in run["needs"] for run in runs)]
    needed = f", needs {' '.join(needs)}" if needs else ""
    said = f" ({counted(len(runs), 'run')}{needed})"
    return {"name": name, "title": runs[0]["title"], "told": said}


def scenarios(folder: Path | None) -> Iterator[Row]:
    """Return every run of a folder, else of the configured catalogue, ./scenarios or the bundle."""
    from harness.cli.selection import default_paths, plan
    from harness.files.bundle import catalogue
    from harness.runner.needs import needs_of

    folders = [folder] if folder else default_paths() or [*catalogue()]
    for path, scenario in plan(folders):
        yield {
            "name": scenario.run_name,
            "title": scenario.title,
            "source": scenario.source,
            "needs": list(needs_of(scenario)),
            "file": path,
        }


def faults(_: Path | None = None) -> Iterator[Row]:
    """Return every fault: its kind, its rows of the fault table, where and how it acts."""
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
    """Return every check, with the seams that it needs and its settings."""
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
    """Return the forms of a target's specification."""
    from harness.targets.spec import names

    for name, title in names().items():
        yield {"name": name, "title": title}


def formats(_: Path | None = None) -> Iterator[Row]:
    """Return the formats of recordings that `judge` reads."""
    from harness.recordings.recognition import formats as known

    for name, kind in known().items():
        yield {"name": name, "title": kind.title}


def stores(_: Path | None = None) -> Iterator[Row]:
    """Return the readers of session stores, for `--store READER:PATH` and for `session.format`."""
    from harness.stores import readers

    for name, reader in readers().items():
        yield {"name": name, "title": first_line(reader)}


def reports(_: Path | None = None) -> Iterator[Row]:
    """Return the reports, for `--report NAME`."""
    from harness.report import REPORTS

    for name, part in REPORTS.parts().items():
        yield {"name": name, "title": part.title}


def examples(_: Path | None = None) -> Iterator[Row]:
    """Return the bundled example agents."""
    yield from _bundled_files("examples")


def docs(_: Path | None = None) -> Iterator[Row]:
    """Return the pages of the documentation."""
    yield from _bundled_files("docs")


def _bundled_files(kind: str) -> Iterator[Row]:
    """Return one row a name; the modules of a program follow the program."""
    from harness.files.bundle import bundled, bundled_files, shown
    from harness.files.regular_file import text_of

    names = dict.fromkeys(map(shown, bundled_files(bundled(f"@{kind}"))))
    for name in names:
        if name.rpartition("/")[0] not in names:
            path = bundled(name)[0]
            lines = (line.strip('"#/ ') for line in text_of(path).splitlines())
            yield {"name": name, "title": next(filter(None, lines), ""), "file": str(path)}


def first_line(thing: object) -> str:
    """Return the first line of a docstring."""
    return (getattr(thing, "__doc__", "") or "").strip().partition("\n")[0]


KINDS: dict[str, Callable[[Path | None], Iterator[Row]]] = {
    "scenarios": scenarios,
    "faults": faults,
    "checks": checks,
    "targets": targets,
    "formats": formats,
    "stores": stores,
    "reports": reports,
    "examples": examples,
    "docs": docs,
}

BROUGHT = ("faults", "checks", "formats", "stores", "reports")
"""The parts that plug-ins add."""
