"""`harness record`: records an agent's calls to the real model as a cassette.

Only this command calls other hosts. Only a complete recording replaces a cassette. A partial
recording cost money too, so it is kept as CASSETTE.part, which is a valid cassette.
"""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from harness.cli.completion import completing, targets
from harness.cli.interrupts import deferred
from harness.cli.options import REAL_SECONDS, NamedPath, WireChoice, every_verb, only, plugins
from harness.core.values.errors import InputError
from harness.files.owner import file_lock

if TYPE_CHECKING:
    from harness.cassettes.recorder import Recorder
    from harness.core.scenario.scenario import Scenario
    from harness.runner.cassette_model import LiveRun

REAL_S = 600.0


@click.command("record")
@click.argument("cassette", type=click.Path(path_type=Path))
@click.option(
    "--target",
    shell_complete=completing(targets),
    required=True,
    metavar="SPEC",
    help="The agent, as for `run`.",
)
@click.option("--scenario", "file", type=NamedPath(), metavar="FILE",
              help="Use its inbox, tools, session and limits; its script and faults "
              "are ignored.")  # fmt: skip
@only
@click.option("--prompt", metavar="TEXT", help="One user message, in place of a scenario.")
@click.option("--wire", type=WireChoice(),
              help="The wire that the target is to use; default: the scenario's, or "
              "anthropic.")  # fmt: skip
@click.option("--upstream", default="", metavar="URL",
              help="The model's API; default: the variable of its SDK (ANTHROPIC_BASE_URL), or the "
              "providers'.")  # fmt: skip
@click.option("--real-s", type=REAL_SECONDS, default=REAL_S,
              show_default=True, metavar="S",
              help="Stop the target after this many seconds.")  # fmt: skip
@click.option("--allow", multiple=True, metavar="DIGEST",
              help="Keep a text that only looks like a secret, by the digest in the error.",
              )  # fmt: skip
@plugins
@every_verb
def command(
    cassette: Path, target: str, file: Path | None, only: tuple[str, ...], prompt: str | None,
    wire: str | None, upstream: str, real_s: float, allow: tuple[str, ...], as_json: bool,
) -> int:  # fmt: skip
    """Record an agent's calls to the real model as CASSETTE, in vcrpy's format, without secrets.

    The key comes from ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; the target gets a dummy.
    """
    from harness.cassettes.recorder import Recorder
    from harness.cli import terminal
    from harness.redaction.secret_scan import secrets_of
    from harness.runner.cassette_model import record_run
    from harness.targets.spec import resolve
    from harness.transports.upstream import provider_access

    start = Path.cwd()  # a target may change the working directory
    scenario = _scenario(file, only, prompt, wire, real_s)
    spec, known = resolve(target), provider_access(os.environ, upstream)
    recorder, goal = Recorder(secrets_of(os.environ), allow), _File(start / cassette, cassette)
    with file_lock(goal.path, cassette):
        try:
            with redirect_stdout(sys.stderr):
                made = record_run(scenario, spec, recorder, known, terminal.note)
        except BaseException:
            with deferred():
                _keep_part(recorder, goal)
            raise
        with deferred():
            if made.is_whole:
                goal.write(recorder)
            return _report(made, recorder, goal, as_json)


class _File(NamedTuple):
    """The path of a cassette, and its name as the user wrote it."""

    path: Path
    named: Path

    @property
    def part(self) -> _File:
        """The file of an incomplete recording."""
        from harness.cassettes.recorder import part_of

        return _File(part_of(self.path), part_of(self.named))

    def write(self, recorder: Recorder) -> None:
        """Write the recording so far; raises InputError as `Recorder.write` does."""
        try:
            recorder.write(self.path)
        except InputError as error:
            place = error.place.replace(str(self.path), str(self.named))
            raise InputError(error.what, place, error.details) from None


def _scenario(
    file: Path | None, only: tuple[str, ...], prompt: str | None, wire: str | None, real_s: float
) -> Scenario:
    import msgspec

    from harness.cli.selection import single_run
    from harness.core.scenario.scenario import DEFAULT_WIRE, InboxItem, Scenario

    if (file is None) == (prompt is None):
        raise InputError("give either --scenario FILE or --prompt TEXT")
    if file is not None:
        found, _ = single_run(file, only, [wire] if wire else [])
    else:
        asked = {"name": "prompt", "inbox": (InboxItem(text=prompt or ""),)}
        found = msgspec.convert({**asked, "wire": wire or DEFAULT_WIRE}, type=Scenario)
    limits = msgspec.structs.replace(found.limits, real_s=real_s)
    return msgspec.structs.replace(found, limits=limits)


def _keep_part(recorder: Recorder, file: _File) -> Path | None:
    """Write the recording so far, if any, beside the cassette and return its path."""
    from harness.cli import terminal
    from harness.verdicts.event_lines import counted

    if not len(recorder):
        return None
    try:
        recorder.write_part(file.part.path)
    except InputError as error:
        terminal.note(f"error: {error}")
        return None
    part, calls = file.part.named, counted(len(recorder), "call")
    terminal.note(f"{calls} recorded so far: {part}; {file.named} is unchanged")
    return part


def _report(made: LiveRun, recorder: Recorder, file: _File, as_json: bool) -> int:
    from harness.cli import terminal
    from harness.redaction.encoder import json_line
    from harness.verdicts.event_lines import counted

    written = file.named if made.is_whole else _keep_part(recorder, file)
    row = {
        "cassette": str(written) if written else None,
        "calls": len(recorder),
        "ended": made.ended.how,
        "text": made.ended.text,
        "failures": list(made.failures),
        "refused": made.refused,
    }
    if as_json:
        terminal.out(json_line(row))
    elif made.is_whole:
        size_kb = file.path.stat().st_size / 1000
        terminal.out(f"{file.named}: {counted(len(recorder), 'call')}, {size_kb:.0f} kB")
    if made.failures:
        raise InputError("; ".join(made.failures), str(file.named))
    if not made.is_whole:
        terminal.note(f"the target {_ENDS.get(made.ended.how, made.ended.how)}: {made.ended.text}")
    return 0 if made.is_whole else 1


_ENDS = {
    "crashed": "crashed",
    "hung": "hung",
    "computes": "computed without end",
    "loops": "did not end",
    "backs_off": "backed off without end",
    "memory": "used too much memory",
    "limit": "continued at a limit",
}
