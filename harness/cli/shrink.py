"""`harness shrink`: reduces a failing scenario or run to what its finding needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import options
from harness.cli.completion import codes, completing
from harness.cli.reports import outputs
from harness.files.owner import out_lock

if TYPE_CHECKING:
    from harness.core.values.verdict import FindingClass

DEFAULT_OUT = ".harness/shrunk"


@click.command("shrink")
@click.argument("source", metavar="SCENARIO|RUN", type=options.NamedPath())
@options.target
@click.option("--keep", default="", shell_complete=completing(codes), metavar="CODE",
              help="The finding to keep: its code, or its check. Default: the first one that "
              "fails the run.")  # fmt: skip
@options.only
@options.profile
@options.real_s
@options.fail_on
@options.seed
@options.world
@options.store
@options.minutes
@click.option("--keep-session", is_flag=True, help="Keep the session folder of the last run.")
@options.out_folder(DEFAULT_OUT, "The folder for the small scenario.")
@outputs
@options.plugins
@options.every_verb
def command(
    source: Path, target: str, keep: str, only: tuple[str, ...], profile_name: str,
    fail_on: FindingClass | None, seed: int | None, world: options.World | None, store: str,
    minutes: float | None, keep_session: bool, out: Path, as_json: bool,
) -> int:  # fmt: skip
    """Reduce a failing scenario to what its finding needs.

    SCENARIO is a scenario file; its first run with the finding is used. RUN is the folder of a run,
    or its history.jsonl. Ctrl-C keeps the smallest scenario so far.
    """
    from harness.cli.shrink_run import ShrinkRequest, shrink_source
    from harness.verdicts.result import Invocation

    start = Path.cwd()  # a target may change the working directory
    agent = options.chosen_profile(profile_name)
    asked = ShrinkRequest(
        source=source, keep=keep, only=only, profile=agent, fail_on=fail_on,
        seed=options.configuration().seed if seed is None else seed, world=world, minutes=minutes,
        keep_session=keep_session or agent.keep, out=out, start=start,
        again=Invocation(path="", target=target or agent.target, world=world or "", store=store,
                         profile=profile_name, plugin_flags=options.plugin_flags()),
    )  # fmt: skip
    with out_lock(start / out, out):
        return shrink_source(asked, as_json)
