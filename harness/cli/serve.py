"""`harness serve`: serves a scenario to an agent that the user starts.

It serves until the inbox ends or Ctrl-C, then judges. A second Ctrl-C ends the command.
"""

from __future__ import annotations

import os
import shlex
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import options, terminal
from harness.cli.reports import reporting
from harness.cli.run import as_named

if TYPE_CHECKING:
    from harness.core.values.verdict import FindingClass
    from harness.report.media.text import Detail
    from harness.verdicts.result import Result


@click.command("serve")
@click.argument("scenario", type=options.NamedPath())
@options.only
@options.spoken("The run on this wire.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, metavar="N",
              help="The port on 127.0.0.1; 0 takes a free one.")  # fmt: skip
@options.profile
@options.fail_on
@options.seed
@options.out_folder(options.RUNS, "The folder for the history.")
@options.store
@click.option("-v", "--verbose", is_flag=True, help="Print more about the run.")
@options.plugins
@options.every_verb
def command(
    scenario: Path, only: tuple[str, ...], spoken: tuple[str, ...], port: int,
    profile_name: str, fail_on: FindingClass | None, seed: int | None, out: Path, store: str,
    verbose: bool, as_json: bool,
) -> int:  # fmt: skip
    """Serve a run of SCENARIO to an agent started by hand; judge it at the inbox's end or Ctrl-C.

    Of several runs, the first one that --only and --wire select is served.
    """
    import msgspec

    from harness.cli.selection import single_run
    from harness.core.values.verdict import EXIT_STATUS
    from harness.redaction.encoder import Encoded, own_line
    from harness.runner.serve import serve
    from harness.verdicts.result import summarize

    where = Path(os.path.abspath(out))
    agent = options.chosen_profile(profile_name)
    found, others = single_run(scenario, only, spoken or agent.wires)
    found = msgspec.structs.replace(found, profile=agent).failing_on(fail_on)
    seed = options.configuration().seed if seed is None else seed
    if seed is not None:
        found = msgspec.structs.replace(found, seed=seed)

    def ready(named: dict[str, str]) -> None:
        if as_json:
            terminal.out(own_line({"name": found.run_name, "environment": named}))
            return
        more = f" ({others} more in the file: --only)" if others else ""
        terminal.out(f"{found.run_name}{more}: start the agent with")
        for name, value in named.items():
            terminal.out(Encoded(f"  export {name}={shlex.quote(value)}"))
        terminal.out("The run ends after the last message, or on Ctrl-C.")

    with _stopped_by_signal() as stop:
        made = summarize(serve(found, ready, stop, port=port, out=where, store=store), None)
    _show(as_named(made, where, out), as_json, verbose)
    return EXIT_STATUS[made.word]


def _show(made: Result, as_json: bool, verbose: bool) -> None:
    from harness.report.media.json_lines import JsonLines
    from harness.report.media.text import Text
    from harness.verdicts.command_events import CommandStarted

    detail: Detail = "verbose" if verbose else "usual"
    screen = JsonLines() if as_json else Text(detail, terminal.width(), terminal.paint())
    started = CommandStarted(verb="serve", planned=((made.name, made.scenario),))
    with reporting(started, screen) as tell:
        tell(made)


@contextmanager
def _stopped_by_signal() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C or SIGTERM sets."""
    stop, former = threading.Event(), dict[signal.Signals, Any]()

    def take(number: int, frame: object) -> None:
        # The former handler takes the second Ctrl-C, so that it ends the command.
        signal.signal(signal.SIGINT, former[signal.SIGINT])
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        former[number] = signal.signal(number, take)
    try:
        yield stop
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
