"""`harness fork`: plays a run with another answer at one call, and says what came of it."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import options

DEFAULT_OUT = ".harness/forked"


@click.command("fork")
@click.argument("source", metavar="SCENARIO|RUN", type=options.NamedPath())
@options.target
@click.option("--at", "key", required=True, metavar="CALL",
              help="The call whose answer is another one: its name, such as main/model#4, or the "
              "number of its event, such as #14.")  # fmt: skip
@click.option("--set", "settings", multiple=True, required=True, metavar="NAME=VALUE",
              help="A field of the answer, with a value in YAML: say, use, input, stop; of a tool "
              "ok, error, hang; of a message text.")  # fmt: skip
@options.only
@options.profile
@options.seed
@options.world
@options.store
@options.out_folder(DEFAULT_OUT, "The folder for the scenario of the other way.")
@options.plugins
@options.every_verb
def command(
    source: Path, target: str, key: str, settings: tuple[str, ...], only: tuple[str, ...],
    profile_name: str, seed: int | None, world: options.World | None, store: str, out: Path,
    as_json: bool,
) -> int:  # fmt: skip
    """Play a run with another answer at one call, and say what came of it.

    SCENARIO is a scenario file; its first run is used. RUN is the folder of a run, or its
    history.jsonl. The scenario of the other way is written, so that it can be kept.
    """
    from harness.cli.fork_run import ForkRequest, tell_fork
    from harness.verdicts.result import Invocation

    start = Path.cwd()  # a target may change the working directory
    agent = options.chosen_profile(profile_name)
    asked = ForkRequest(
        source=source, key=key, settings=settings, only=only, profile=agent,
        seed=options.configuration().seed if seed is None else seed, world=world, out=out,
        start=start,
        again=Invocation(path="", target=target or agent.target, world=world or "", store=store,
                         profile=profile_name, plugin_flags=options.plugin_flags()),
    )  # fmt: skip
    return tell_fork(asked, as_json)
