"""`harness init`: writes a first test into a project, with a scenario that the agent fails.

User code runs only in child processes, which play in a copy of the project. Only `--force` replaces
an existing file. The files of the project are read here, with bounds on number and size.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import configuration, every_verb, plugin_flags, plugins
from harness.cli.probe_world import Stage, flag
from harness.core.values.errors import InputError

if TYPE_CHECKING:
    from harness.cli.init_report import InitReport
    from harness.cli.project_plan import ProjectPlan
    from harness.starter.candidate import Candidate
    from harness.starter.project import Survey


FILES_MOST, FILE_BYTES_MOST = 2000, 1_000_000
"""The most files that are read, and the largest size of one."""

SKILLS = ".claude/skills"
"""Where Claude Code and others look for the skills of a project."""

CODE_MOST = 20
"""The most files of code that are counted: one is enough for a folder with code."""

_INSTALLED = frozenset({"node_modules", "site-packages", "__pycache__"})
_PASSED_OVER = _INSTALLED | {"build", "dist", "venv", "env", "vendor"}


@click.command("init")
@click.option("--target", default="", metavar="SPEC",
              help="The agent: a function from text to text, an agent object, or any target of "
              "`harness run`.")  # fmt: skip
@click.option("--dry-run", is_flag=True,
              help="Print what would be written. Nothing is written, and nothing is played.",
              )  # fmt: skip
@click.option("--probe", is_flag=True, help="Play the probes with --dry-run, too.")
@click.option("--force", is_flag=True,
              help="Replace existing files that differ, and name each.")  # fmt: skip
@click.option("--skill", default="", is_flag=False, flag_value=SKILLS, metavar="[DIR]",
              help="Also write a skill for coding agents, DIR/loop-harness/SKILL.md; DIR is "
              f"{SKILLS} if left out.")  # fmt: skip
@click.option("--requirement", default="", metavar="REQUIREMENT",
              help="What pip installs loop-harness from, for the workflow.  "
              "[default: where this one came from]")  # fmt: skip
@flag
@plugins
@every_verb
def command(
    target: str, dry_run: bool, probe: bool, force: bool, skill: str, requirement: str,
    in_place: bool, as_json: bool,
) -> int:  # fmt: skip
    """Write a first test into the project of this folder, and play it.

    It finds the agent, and writes a profile (by `harness doctor`), a scenario, a pytest file, a
    workflow for GitHub Actions and a pre-commit entry. An empty folder gets a small agent too.
    Existing files stay as they are, except with --force. The agent is played in a copy of this
    folder, with an empty home folder.

    Exit status 0 if the project is set up, even if the first scenario finds a defect; 1 if the
    agent calls no model.
    """
    from harness.cli.init_report import InitReport
    from harness.cli.project_plan import ProjectPlan, check_writable
    from harness.starter.project import survey

    folder, report = Path.cwd(), InitReport(as_json, dry_run)
    if not dry_run:
        check_writable(folder)
    files = _project_texts(folder)
    found = survey(files, _code_names(folder))
    plan = ProjectPlan(
        folder, files, configuration(), plugin_flags(), force=force, requirement=requirement,
        skills=skill,
    )  # fmt: skip
    chosen = _agent(target, plan.configured_target, files, found)
    if isinstance(chosen, str):
        plan.take_target(chosen)
    else:
        plan.take_candidate(chosen)
        report.found(chosen, found)
    if dry_run and not probe:
        plan.foresee()
        report.pieces(plan.pieces())
        return 0
    with Stage(folder, in_place=in_place) as stage:
        return _set_up(plan, report, stage, dry_run=dry_run)


def _set_up(plan: ProjectPlan, report: InitReport, stage: Stage, *, dry_run: bool) -> int:
    """Probe, write, and play the first scenario; return the exit status."""
    is_found = plan.prepare(report, stage)
    report.outside([*stage.changed(), *(plan.probes.outside if plan.probes else ())])
    if not is_found:
        return 1
    pieces = plan.pieces()
    report.pieces(pieces)
    if dry_run:
        return 0
    plan.write(pieces)
    if any(piece.is_written and piece.is_of_the_test for piece in pieces):
        stage.changed()  # these are the files that were written
        if world := stage.renewed():
            world.keep_runs()
        report.play(plan.starter, plan.setup.told, world, is_example=plan.is_example)
        report.outside(stage.changed())
    report.next(pieces, plan.setup.target, wants_skill=plan.wants_skill)
    return 0


def _agent(
    target: str, configured: str, files: Mapping[str, str], found: Survey
) -> Candidate | str:
    """Return the agent: a candidate, or a target that needs no adapter.

    Raises InputError if the agent cannot be determined.
    """
    from harness.starter.project import named, proposal
    from harness.starter.starter_files import EXAMPLE

    if configured and target and target != configured:
        what = f"the configuration names {configured!r}: change it there, or leave --target out"
        raise InputError(what, f"--target {target}")
    if configured:
        return configured
    if target:
        return named(target, files, found) or target
    return proposal(found) or EXAMPLE


def _project_texts(folder: Path) -> dict[str, str]:
    """Return the texts of a project's files, by their path below it.

    Installed packages, hidden folders and unreadable files are skipped. A file that is not UTF-8 is
    read as Latin-1: names and imports are the same in both.
    """
    from harness.files.regular_file import whole
    from harness.starter.project import is_read

    found: dict[str, str] = {}
    for path in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if not name.isprintable() or not is_read(name):
            continue
        try:
            data = whole(path, FILE_BYTES_MOST)
        except InputError:
            continue
        found[name] = _decoded(data)
        if len(found) == FILES_MOST:
            break
    return found


def _code_names(folder: Path) -> tuple[str, ...]:
    """Return the files of code in any language, the first ones, by their path below the folder."""
    from harness.starter.project import is_code

    names = (path.relative_to(folder).as_posix() for path in _walk(folder, _INSTALLED))
    return tuple(islice(filter(is_code, names), CODE_MOST))


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _walk(folder: Path, passed_over: frozenset[str] = _PASSED_OVER) -> Iterator[Path]:
    """Yield the files of a folder before those of the folders in it, in the order of the names."""
    waiting = [folder]
    for place in waiting:
        try:
            with os.scandir(place) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in inside:
            if entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
            elif entry.is_dir(follow_symlinks=False) and _is_walked(entry, passed_over):
                waiting.append(Path(entry.path))


def _is_walked(entry: os.DirEntry[str], passed_over: frozenset[str]) -> bool:
    is_environment = os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
    return not (entry.name.startswith(".") or entry.name in passed_over or is_environment)
