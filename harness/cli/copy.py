"""`harness copy`: copies bundled files into the user's folder.

A scenario is copied with the files that it names, an example with its imported modules.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from harness.cli.completion import catalogue_names, completing
from harness.cli.interrupts import deferred
from harness.cli.options import configuration, every_verb, named_plugins
from harness.core.values.errors import InputError
from harness.files.bundle import MARK, below_root, bundled, bundled_files, shown
from harness.files.regular_file import whole, write_atomically

_EXAMPLE = "@loops/circles"
_NAMES = "these files import each other as `examples.…`, so copy them without DEST"
_NAMED = re.compile(rb'from examples\.|"examples\.')


class Copied(msgspec.Struct, frozen=True, rename={"source": "from"}):
    """A copied file; `is_new` is False if the same bytes were there already."""

    file: str
    source: str
    is_new: bool


@click.command("copy")
@click.argument("name", metavar="@NAME", shell_complete=completing(catalogue_names))
@click.argument("dest", required=False, type=click.Path(path_type=Path), metavar="[DEST]")
@click.option("--force", is_flag=True, help="Replace existing files.")
@named_plugins
@every_verb
def command(name: str, dest: Path | None, force: bool, as_json: bool) -> int:
    """Copy a bundled scenario, cassette, example, page or skill.

    @NAME is a file (@loops/circles, @examples/naive_agent) or a folder (@loops, @docs, @all). DEST
    is the folder for the copy. The default is its place in the source tree, such as
    scenarios/loops.
    """
    from harness.cli import terminal
    from harness.redaction.encoder import json_line

    if not name.startswith(MARK):
        raise InputError(f"a name begins with {MARK}, such as {_EXAMPLE}", name)
    named = bundled(name)
    goals = _goals(named, dest)
    contents = {file: whole(file) for file in goals}
    fresh = {file for file in goals if not _is_same(goals[file], contents[file], force)}
    if dest is not None and any(map(_NAMED.search, contents.values())):
        terminal.note(_NAMES)
    with deferred():
        for file in fresh:
            write_atomically(goals[file], contents[file], durable=False)
        done = [Copied(str(goal), shown(file), file in fresh) for file, goal in goals.items()]
        for text in map(json_line, done) if as_json else _text(done, named, goals):
            terminal.out(text)
    return 0


def _goals(named: Sequence[Path], dest: Path | None) -> dict[Path, Path]:
    """Return the destination of each file, and of the files that it needs."""
    home = named[0].parent
    folder = below_root(home) if dest is None else dest
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; DEST must be a folder", str(folder))
    files = bundled_files(named)
    needed = (other for file in files for other in _needed(file))
    return {file: folder / file.relative_to(home) for file in dict.fromkeys([*files, *needed])}


def _is_same(goal: Path, content: bytes, force: bool) -> bool:
    """Whether the same file is there already. Raises InputError for a different one."""
    if not goal.exists() or (force and not goal.is_file()):
        return False
    if whole(goal) == content:
        return True
    if force:
        return False
    raise InputError(
        "exists and differs: --force replaces it, DEST names another folder", f"{goal}"
    )


def _needed(file: Path) -> Iterator[Path]:
    """Return the bundled files that a scenario names, and the modules that an example imports."""
    if file.suffix == ".yaml":
        yield from _named_in_scenario(file)
    elif file.suffix == ".py":
        home = file.parents[len(below_root(file).parts) - 1]
        for node in ast.walk(ast.parse(whole(file))):
            module = node.module if isinstance(node, ast.ImportFrom) and node.module else ""
            path = home / f"{module.replace('.', '/')}.py"
            if module and path.is_file():
                yield path


def _named_in_scenario(file: Path) -> Iterator[Path]:
    from harness.core.scenario.scenario import CassetteScript
    from harness.files.scenario_file import has_script, load_scenarios
    from harness.runner.session_seed import scenario_path

    for scenario in load_scenarios(file) if has_script(file) else ():
        if isinstance(scenario.script, CassetteScript):
            yield scenario_path(scenario, scenario.script.cassette)
        if scenario.session.file is not None:
            yield scenario_path(scenario, scenario.session.file)


def _text(done: Sequence[Copied], named: Sequence[Path], goals: dict[Path, Path]) -> Iterator[str]:
    for copied in done:
        yield f"{'wrote' if copied.is_new else 'unchanged:'} {copied.file}"
    first = next(file for file in goals if file.is_relative_to(named[0]))
    goal = goals[first].parents[len(first.relative_to(named[0]).parts) - 1]
    if words := _next(goals[first] if named[0].is_file() else goal, named[0]):
        yield f"next: {shlex.join(['harness', *words])}"


def _next(goal: Path, source: Path) -> list[str]:
    """Return a command that tries the copy; none for pages and for code without an agent."""
    kind = below_root(source).parts[0]
    if kind == "examples":
        target = _target(goal, source)
        return ["run", _EXAMPLE, "--target", target] if target else []
    if kind == "docs":
        return []
    if "".join(goal.suffixes) == ".history.jsonl" or goal.name == "incidents":
        return ["judge", str(goal)]
    agent = configuration().target or configuration().profile
    return ["run", str(goal), *([] if agent else ["--target", "reference"])]


def _target(goal: Path, source: Path) -> str:
    """Return the target specification of an example that is an agent, else nothing."""
    if goal.suffix == ".mjs":
        return f"process:node {shlex.quote(str(goal))}"
    parts = goal.with_suffix("").parts
    is_agent = goal.suffix == ".py" and b"\ndef agent(" in whole(source).replace(b"async ", b"")
    return f"{'.'.join(parts)}:agent" if is_agent and all(map(str.isidentifier, parts)) else ""
