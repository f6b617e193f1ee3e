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


def _by_file(rows: list[Row]) -> list[Row]:
    """Return one row a file, by the name that `run` takes, with the needs of its runs."""
    files: dict[str, list[Row]] = {}
    for row in rows:
        files.setdefault(row["file"], []).append(row)
    return [_file_row(name, runs) for name, runs in files.items()]


def _file_row(name: str, runs: list[Row]) -> Row:
    from harness.comparison.writings import course_name
    from harness.verdicts.event_lines import counted

    needs = [need for need in runs[0]["needs"] if all(need in run["needs"] for run in runs)]
    needed = f", needs {' '.join(needs)}" if needs else ""
    courses = {(course_name(run["name"]), run["name"].endswith("+stream")) for run in runs}
    wires = len({run["wire"] for run in runs})
    on = f" on {counted(wires, 'wire')}" if wires > 1 else ""
    said = f" ({counted(len(courses), 'run')}{on}{needed})"
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
            "wire": scenario.wire,
            "needs": list(needs_of(scenario)),
            "file": path,
        }


def targets(_: Path | None = None) -> Iterator[Row]:
    """Return the forms of a target's specification."""
    from harness.targets.spec import names

    for name, title in names().items():
        yield {"name": name, "title": title}


def _parts(kind: str) -> Callable[[Path | None], Iterator[Row]]:
    """Return what lists the parts of a kind: our own, and those of plug-ins."""

    def rows(_: Path | None = None) -> Iterator[Row]:
        from harness.plugins import kinds

        for part in kinds()[kind].parts().values():
            mark = {"plugin": part.plugin} if part.plugin else {}
            yield {"name": part.name, **part.facts, "title": part.title, **mark}

    return rows


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


KINDS: dict[str, Callable[[Path | None], Iterator[Row]]] = {
    "scenarios": scenarios,
    "faults": _parts("fault"),
    "checks": _parts("check"),
    "targets": targets,
    "formats": _parts("format"),
    "stores": _parts("store"),
    "reports": _parts("report"),
    "examples": lambda _: _bundled_files("examples"),
    "docs": lambda _: _bundled_files("docs"),
}
