"""The report of `import`: files, findings, reproduced findings, and what the recording lacked."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from harness.cli.options import plugin_flags
from harness.core.values.messages import Json
from harness.core.values.visible_text import visible_line
from harness.recordings.importing.fidelity import Fidelity
from harness.recordings.importing.reproduction import FindingFate

TURNS_TOLD = 8
"""The most turns that are named for one finding."""


class ScenarioImport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an import: files, transcript, findings, and what the recording lacked."""

    scenario: Path
    cassette: Path | None
    format: str
    transcript: str
    findings: tuple[str, ...]
    fidelity: Fidelity
    turns: int
    fates: tuple[FindingFate, ...]
    unplayed: str

    def text(self) -> Iterator[str]:
        """Return the report as text."""
        yield f"{self.scenario}: {visible_line(self.transcript)} ({self.format})"
        if self.cassette:
            yield f"{self.cassette}: the recorded exchanges"
        yield f"found in it: {', '.join(self.findings) or 'nothing'}"
        for line in self.details():
            yield f"  {line}"
        words = ["harness", "run", str(self.scenario), "--target", "SPEC", *plugin_flags()]
        yield f"play it: {shlex.join(words)}"

    def details(self) -> Iterator[str]:
        """Return what became of the findings, then what the recording lacked."""
        yield from _fate_lines(self.fates, self.turns, self.unplayed)
        yield from self.fidelity.lines()

    def keys(self) -> dict[str, Json]:
        """Return the report as one object."""
        return {
            "scenario": str(self.scenario),
            "cassette": str(self.cassette) if self.cassette else None,
            "format": self.format,
            "transcript": self.transcript,
            "findings": self.findings,
            "turns": self.turns,
            "found_again": [_fate_keys(fate) for fate in self.fates],
            "results": self.fidelity.results,
            "missing": self.fidelity.missing,
            "replayable": self.fidelity.replayable,
            "gaps": list(self.fidelity.lines())[1:],
        }


def _fate_lines(fates: Sequence[FindingFate], turns: int, unplayed: str) -> Iterator[str]:
    """Return a line for each kind of finding and its outcome in the replay."""
    if unplayed:
        yield f"not replayed: {unplayed}"
    groups: dict[tuple[str, str], list[FindingFate]] = {}
    for fate in fates:
        groups.setdefault((fate.place.code, _end(fate)), []).append(fate)
    for (code, end), alike in groups.items():
        at = alike[0].at
        offer = f" (see --at {at})" if at else ""
        yield f"{code}{_in_turns([fate.place.turn for fate in alike], turns)} {end}{offer}"


def _end(fate: FindingFate) -> str:
    if not fate.shown:
        return f"is lost: {fate.lost}"
    other = f" as {fate.shown}" if fate.shown != fate.place.code else ""
    return f"is reproduced by a naive agent{other}"


def _in_turns(numbers: Sequence[int], turns: int) -> str:
    """Return the turns of findings as text; "" for a recording of one turn."""
    if turns < 2:
        return ""
    told = ", ".join(map(str, numbers[:TURNS_TOLD]))
    more = f" and {len(numbers) - TURNS_TOLD} more" if len(numbers) > TURNS_TOLD else ""
    return f" in turn {told}{more} of {turns}"


def _fate_keys(fate: FindingFate) -> dict[str, Json]:
    return {
        "code": fate.place.code, "turn": fate.place.turn, "shown": fate.shown,
        "lost": fate.lost, "at": fate.at,
    }  # fmt: skip
