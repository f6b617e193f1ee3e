"""`harness shrink`: reduces a failing scenario or run to what its finding needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from harness.cli.completion import codes, completing, targets
from harness.cli.options import (
    NamedPath,
    chosen_profile,
    configuration,
    every_verb,
    fail_on,
    out_folder,
    plugins,
    profile,
    real_s,
    seed,
    world,
)
from harness.files.owner import out_lock

if TYPE_CHECKING:
    from harness.core.values.verdict import FindingClass

DEFAULT_OUT = ".harness/shrunk"


@click.command("shrink")
@click.argument("source", metavar="SCENARIO|RUN", type=NamedPath())
@click.option(
    "--target",
    shell_complete=completing(targets),
    default="",
    metavar="SPEC",
    help="The agent that shows the finding.",
)
@click.option("--keep", default="", shell_complete=completing(codes), metavar="CODE",
              help="The finding to keep: its code, or its check. Default: the first one that "
              "fails the run.")  # fmt: skip
@click.option("--only", multiple=True, metavar="PATTERN",
              help="Only the runs of the file that match "
              "NAME[/VARIANT][@WIRE][+stream] (* and ?).")  # fmt: skip
@profile
@real_s
@fail_on
@seed
@world
@click.option(
    "--store", default="", metavar="READER:PATH", help="How to read the agent's session store."
)
@click.option("--minutes", type=click.FloatRange(0, min_open=True), metavar="M",
              help="Stop after this time with the smallest scenario so far.")  # fmt: skip
@click.option("--keep-session", is_flag=True, help="Keep the session folder of the last run.")
@out_folder(DEFAULT_OUT, "The folder for the small scenario.")
@plugins
@every_verb
def command(
    source: Path, target: str, keep: str, only: tuple[str, ...], profile_name: str,
    fail_on: FindingClass | None, seed: int | None,
    world: Literal["simulate", "supervise"] | None, store: str, minutes: float | None,
    keep_session: bool, out: Path, as_json: bool,
) -> int:  # fmt: skip
    """Reduce a failing scenario to what its finding needs.

    SCENARIO is a scenario file; its first run with the finding is used. RUN is the folder of a run,
    or its history.jsonl. Ctrl-C keeps the smallest scenario so far.
    """
    from harness.cli.shrink_report import ShrinkRequest
    from harness.cli.shrink_run import shrink_source

    start = Path.cwd()  # a target may change the working directory
    agent = chosen_profile(profile_name)
    asked = ShrinkRequest(
        source=source, target=target or agent.target, keep=keep, only=only, profile=agent,
        profile_name=profile_name, fail_on=fail_on,
        seed=configuration().seed if seed is None else seed,
        world=world, store=store, minutes=minutes, keep_session=keep_session or agent.keep,
        out=out, start=start, as_json=as_json,
    )  # fmt: skip
    with out_lock(start / out, out):
        return shrink_source(asked)
