"""`harness why`: says when a finding became likely, and shows the events that prove it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import options
from harness.cli.completion import codes, completing
from harness.verdicts.diagnosis import FUTURES

if TYPE_CHECKING:
    from harness.core.values.verdict import FindingClass


@click.command("why")
@click.argument("source", metavar="SCENARIO|RUN", type=options.NamedPath())
@options.target
@click.option("--of", "code", default="", shell_complete=completing(codes), metavar="CODE",
              help="The finding: its code, or its check. Default: the first one that fails the "
              "run.")  # fmt: skip
@options.only
@options.profile
@options.real_s
@options.fail_on
@options.seed
@options.world
@options.store
@click.option("--futures", type=click.IntRange(2, 1000), default=FUTURES, show_default=True,
              metavar="N", help="How many futures to draw after an answer.")  # fmt: skip
@click.option("--svg", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the diagnosis as a picture.")  # fmt: skip
@click.option("--mermaid", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write it as a diagram for a pull request.")  # fmt: skip
@options.plugins
@options.every_verb
def command(
    source: Path, target: str, code: str, only: tuple[str, ...], profile_name: str,
    fail_on: FindingClass | None, seed: int | None, world: options.World | None, store: str,
    futures: int, svg: Path | None, mermaid: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Say why an agent fails a scenario: the answer that decided it, and the proof.

    SCENARIO is a scenario file; its first run with the finding is used. RUN is the folder of a run,
    or its history.jsonl; it is played again. The run is then played as it was up to each of some
    answers, and drawn after it.
    """
    from harness.cli.why_run import WhyRequest, tell_why

    start = Path.cwd()  # a target may change the working directory
    agent = options.chosen_profile(profile_name)
    asked = WhyRequest(
        source=source, target=target or agent.target, code=code, only=only, profile=agent,
        fail_on=fail_on, seed=options.configuration().seed if seed is None else seed, world=world,
        store=store, futures=futures, svg=svg and start / svg, mermaid=mermaid and start / mermaid,
    )  # fmt: skip
    return tell_why(asked, as_json)
