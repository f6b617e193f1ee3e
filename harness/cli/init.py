"""`harness init`: writes a first test into a project, with a scenario that the agent fails.

User code runs only in child processes. Only `--force` replaces an existing file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import configuration, every_verb, plugin_flags, plugins
from harness.core.values.errors import InputError

if TYPE_CHECKING:
    from harness.starter.candidate import Candidate
    from harness.starter.project import Survey


@click.command("init")
@click.option("--target", default="", metavar="SPEC",
              help="The agent: a function from text to text, an agent object, or any target of "
              "`harness run`.")  # fmt: skip
@click.option(
    "--dry-run", is_flag=True, help="Print the files that would be written, and write nothing."
)
@click.option("--force", is_flag=True,
              help="Replace existing files that differ, and name each.")  # fmt: skip
@plugins
@every_verb
def command(target: str, dry_run: bool, force: bool, as_json: bool) -> int:
    """Write a first test into the project of this folder, and play it.

    It finds the agent, and writes a profile (by `harness doctor`), a scenario, a pytest file, a
    workflow for GitHub Actions and a pre-commit entry. An empty folder gets a small agent too.
    Existing files stay as they are, except with --force.

    Exit status 0 if the project is set up, even if the first scenario finds a defect; 1 if the
    agent calls no model.
    """
    from harness.cli.init_report import InitReport
    from harness.cli.project_plan import ProjectPlan, check_writable
    from harness.cli.project_texts import project_texts
    from harness.starter.project import survey

    folder, report = Path.cwd(), InitReport(as_json, dry_run)
    if not dry_run:
        check_writable(folder)
    files = project_texts(folder)
    found = survey(files)
    plan = ProjectPlan(folder, files, configuration(), plugin_flags(), force=force)
    chosen = _agent(target, plan.configured_target, files, found)
    if isinstance(chosen, str):
        plan.take_target(chosen)
    else:
        plan.take_candidate(chosen)
        report.found(chosen, found)
    if not plan.prepare(report):
        return 1
    pieces = plan.pieces()
    report.pieces(pieces)
    if dry_run:
        return 0
    plan.write(pieces)
    if any(piece.is_written for piece in pieces):
        report.play(plan.starter, plan.setup.told, is_example=plan.is_example)
    report.next(pieces, plan.setup.target)
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
    chosen = proposal(found)
    if chosen is None and EXAMPLE.path in files:
        what = f"{EXAMPLE.path} calls no known model API; name the agent: MODULE:FUNCTION"
        raise InputError(what, "--target")
    return chosen or EXAMPLE
