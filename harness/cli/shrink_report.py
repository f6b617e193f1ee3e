"""The output of `harness shrink`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from harness.cli.options import plugin_flags
from harness.core.scenario.scenario import Scenario
from harness.core.values.messages import Json
from harness.core.values.profile import NO_PROFILE, Profile
from harness.core.values.verdict import Finding, FindingClass
from harness.files.regular_file import whole
from harness.redaction.encoder import json_line
from harness.results.event_lines import counted
from harness.results.result import Invocation, run_command
from harness.shrink import FindingOracle, Shrunk
from harness.shrink.scenario_size import Extent, extent


class ShrinkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The input and options of the command, and its folder."""

    source: Path
    target: str
    keep: str = ""
    only: tuple[str, ...] = ()
    profile: Profile = NO_PROFILE
    profile_name: str = ""
    fail_on: FindingClass | None = None
    seed: int | None = None
    world: Literal["simulate", "supervise"] | None = None
    store: str = ""
    minutes: float | None = None
    keep_session: bool = False
    out: Path
    start: Path
    as_json: bool = False


class ShrinkResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of shrinking: the size before, the size left, and the file.

    `repeats`: the file shows the finding; None if an interrupt prevented the replay. `late`: the
    time was over before the scenario was minimal. `kept`: the path of the session folder of the
    last run, with `--keep-session`.
    """

    asked: ShrinkRequest
    before: Scenario
    after: Scenario
    keeping: FindingOracle
    shrunk: Shrunk
    file: Path
    interrupted: bool = False
    repeats: bool | None = None
    late: bool = False
    kept: str = ""

    @property
    def shown(self) -> str:
        """The file, with its folder as the user wrote it."""
        return str(self.asked.out / self.file.name)

    @property
    def command(self) -> str:
        """Return the command that plays the file."""
        asked = self.asked
        again = Invocation(
            path=self.shown,
            target=asked.target,
            world=asked.world or "",
            store=asked.store,
            profile=asked.profile_name,
            plugin_flags=plugin_flags(),
        )
        return run_command(again, self.after.run_name, self.after.seed)


def text(result: ShrinkResult) -> Iterator[str]:
    """Return the report, with the text of the file, which is short."""
    finding, shrunk = result.keeping.finding, result.shrunk
    yield f"{finding.code} is kept: {finding.message}"
    yield f"  {_size(extent(result.before))} -> {_size(extent(result.after))}"
    yield f"  {shrunk.tried} candidates, {shrunk.kept} kept"
    if result.interrupted:
        yield "  interrupted: the smallest scenario so far, perhaps not the smallest possible"
        yield "  the file was not played again"
    elif result.late:
        yield "  the time is over: perhaps not the smallest possible"
    elif not shrunk.minimal:
        yield "  the limit of candidates is reached: perhaps not the smallest possible"
    if result.repeats is False:
        yield "  the file does not show the finding: the agent behaves differently each time"
    if result.kept:
        yield f"  session: {result.kept}"
    yield f"\n{result.shown}"
    yield from (f"  {said}".rstrip() for said in whole(result.file).decode().splitlines())
    yield f"\n  repeat: {result.command}"


def _size(size: Extent) -> str:
    nouns = ("turn", "fault", "message", "stored message", "tool")
    return ", ".join(counted(n, x) for n, x in zip(size, nouns, strict=True) if n) or "nothing"


def _shape(finding: Finding) -> str:
    """Return what the finding is known by while it is shrunk."""
    cause, at = finding.cause, finding.place
    crash = f"{at.error} in {at.function}" if at else cause.error
    words = ", ".join(filter(None, (crash, cause.tool, cause.subject)))
    return f"{finding.code}{f': {words}' if words else ''} ({finding.seam})"


def line(result: ShrinkResult) -> str:
    """Return the report as one line of JSON."""
    keys: dict[str, Json] = {
        "name": result.before.run_name,
        "file": result.shown,
        "target": result.asked.target,
        "code": result.keeping.finding.code,
        "shape": _shape(result.keeping.finding),
        "before": extent(result.before)._asdict(),
        "after": extent(result.after)._asdict(),
        "tried": result.shrunk.tried,
        "kept": result.shrunk.kept,
        "minimal": result.shrunk.minimal,
        "repeats": result.repeats,
        **({"session": result.kept} if result.kept else {}),
        "repeat": result.command,
    }
    return json_line(keys)
