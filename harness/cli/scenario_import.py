"""Does the work of `import`: reads a recording, judges it, and writes it as a scenario.

The scenario's text is parsed before it is written. Known shapes of secrets are masked. Exchanges
recorded byte for byte become a cassette beside it.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.cli.options import plugin_flags
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.core.values.visible_text import visible_line
from harness.recordings.importing import dialogue, fidelity, transcript_dialogue
from harness.recordings.importing.dialogue import Dialogue, ModelTurn, cut_at
from harness.recordings.importing.fidelity import Fidelity, GapLog
from harness.recordings.importing.reproduction import (
    FindingFate,
    FindingPlace,
    fates,
    places_in_history,
    places_in_transcript,
    turns_of,
)

if TYPE_CHECKING:
    from harness.core.history.history import History
    from harness.core.scenario.scenario import Scenario
    from harness.core.values.verdict import Finding
    from harness.recordings.transcripts import Recording, Transcript

DIGEST_DIGITS = 16
"""How many digits of a file's SHA-256 identify it in `source`."""

TURNS_TOLD = 8
"""The most turns that are named for one finding."""

PLAYED_MAX_BYTES = 4_000_000_000
"""The most bytes of all requests in a replay: each holds the whole conversation. About a minute."""


_FEW_CALLS = 100
"""With fewer calls no scenario that can be written is too long to be played."""


class ImportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The input and options of the command."""

    file: Path
    name: str
    at: int | None = None
    transcript: str = ""
    kind: str = "auto"
    out: Path = Path(".")
    force: bool = False


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
        yield f"play it: {self._command('run', '--target', 'SPEC')}"
        if shown := next((fate.shown for fate in self.fates if fate.shown), ""):
            small = self._command("shrink", "--target", "naive", "--keep", shown)
            yield f"shrink it: {small}"

    def _command(self, verb: str, *words: str) -> str:
        return shlex.join(["harness", verb, str(self.scenario), *words, *plugin_flags()])

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


class _Read(msgspec.Struct, frozen=True, kw_only=True):
    format: str
    transcript: str
    story: Dialogue
    places: tuple[FindingPlace, ...]
    numbers: tuple[int, ...] = ()

    @property
    def findings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.code for place in self.places))


def imported(asked: ImportRequest) -> tuple[ScenarioImport, Callable[[], None]]:
    """Return a recording as a scenario, and a function that writes it; all reading is done first.

    Raises InputError for a recording that cannot be read or played, and for existing files.
    """
    from harness.files.scenario_text import scenario_text
    from harness.recordings.importing.scenario_document import import_dialogue
    from harness.redaction.encoder import encoded

    path = asked.out / "scenarios" / f"{asked.name}.yaml"
    read = _read(asked, account := GapLog())
    with _naming(asked.file):
        made = import_dialogue(
            read.story,
            name=asked.name,
            title=f"Imported from {asked.file.name}",
            source=[f"sha256:{_digest(asked.file)}", f"recording:{asked.file.name}"],
            fired=_askable(read.findings),
            at=asked.at,
            account=account,
        )
        fates, unplayed = _replayed(made.document, path, read, asked.at)
    cassette = _cassette(asked, read)
    report = ScenarioImport(
        scenario=path,
        cassette=cassette[0] if cassette else None,
        format=read.format,
        transcript=read.transcript,
        findings=read.findings,
        fidelity=made.fidelity,
        turns=turns_of(read.story),
        fates=fates,
        unplayed=unplayed,
    )
    head = [f"harness import of {asked.file.name}, {read.transcript}", *report.details()]
    with _naming(asked.file):
        text = scenario_text(made.document, head)
        _checked(text, path)
    files = [(path, encoded(text)), *([cassette] if cassette else [])]
    _refuse_what_is_there(files, asked.force)
    return report, partial(_write, files)


def _replayed(
    document: dict[str, Json], path: Path, read: _Read, at: int | None
) -> tuple[tuple[FindingFate, ...], str]:
    """Return which findings a naive agent reproduces, or why the scenario is not replayed."""
    from harness.agent.naive_agent import agent as naive
    from harness.files.scenario_text import scenario_text
    from harness.runner import run

    calls = sum(isinstance(step, ModelTurn) for step in cut_at(read.story, at).steps)
    if not read.places and calls < _FEW_CALLS:
        return (), ""
    text = scenario_text(document)
    if calls * len(text) > PLAYED_MAX_BYTES:
        turn = max(1, read.places[0].turn if read.places else turns_of(read.story))
        found = "a finding is in turn" if read.places else "its last turn is"
        size = f"its {calls} requests would hold {calls * len(text) / 1e9:.0f} GB together"
        return (), f"it is too long to be played, {size}; {found} {turn}: import a part with --at"
    if not read.places:
        return (), ""
    scenario = _checked(text, path)
    try:
        played = run(scenario, naive, options={"client": "plain"}, world="simulate")
    except (InputError, OSError) as error:
        return (), str(error)
    if played.verdict.verdict == "not_applicable":
        return (), "; ".join(missing.reason for missing in played.verdict.not_applicable)
    shown = places_in_history(played.verdict.findings, played.history)
    return fates(read.places, shown, read.story, at), ""


def _digest(file: Path) -> str:
    from harness.files.regular_file import opened

    with opened(file) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()[:DIGEST_DIGITS]


def _read(asked: ImportRequest, account: GapLog) -> _Read:
    from harness.files.recording_file import read_any_recording

    recording = read_any_recording(asked.file, asked.kind)
    history = recording.history
    with _naming(asked.file):
        if history is None:
            return _read_transcript(recording, asked, account)
        return _Read(
            format=recording.format,
            transcript=next((start.run for start in history.trace.starts), ""),
            story=dialogue.dialogue_of_history(history),
            places=places_in_history(_findings(history), history),
        )


def _read_transcript(recording: Recording, asked: ImportRequest, account: GapLog) -> _Read:
    from harness.recordings.exchange_sessions import leading_exchanges
    from harness.recordings.transcript_history import to_history

    chosen = transcript_dialogue.choose_transcript(recording.transcripts, asked.transcript)
    links = leading_exchanges(recording.transcripts, chosen)
    account.note(fidelity.OTHERS, len(recording.transcripts) - len(links))
    story, history = (
        transcript_dialogue.dialogue_of_transcript(chosen, links, account),
        to_history(chosen),
    )
    return _Read(
        format=recording.format,
        transcript=chosen.name,
        story=story,
        places=places_in_transcript(_findings(history), history, chosen, story),
        numbers=tuple(_numbers(links)),
    )


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        place = f"{file}: {error.place}" if error.place else str(file)
        raise InputError(error.what, place) from None
    except RecursionError:
        raise InputError("nested too deeply to be a scenario", str(file)) from None


def _findings(history: History) -> tuple[Finding, ...]:
    from harness.checks.judge import judge

    return judge(history).findings


def _askable(codes: Sequence[str]) -> list[str]:
    """Return the checks with findings, except those on the run itself."""
    from harness.checks.judge import check_of, checks

    known = checks()
    fired = dict.fromkeys(check_of(code) for code in codes)
    return [name for name in fired if getattr(known.get(name), "needs", ())]


def _numbers(links: Sequence[Transcript]) -> Iterator[int]:
    """Yield the positions, in the file, of the exchanges that belong to the transcripts."""
    for link in links:
        number = link.name.removeprefix("interaction ")
        if link.exchange and number.isdecimal():
            yield int(number)


def _checked(text: str, path: Path) -> Scenario:
    """Parse a scenario. Raises InputError for an invalid one."""
    from harness.files.scenario_file import SourceFile
    from harness.files.yaml_text import SIZE_MAX_BYTES, parse

    if len(text.encode()) > SIZE_MAX_BYTES:
        what = f"the scenario would be larger than {SIZE_MAX_BYTES} bytes: import less, with --at"
        raise InputError(what, str(path))
    try:
        root, lines = parse(text)
        return next(SourceFile(path, root, lines).scenarios())
    except InputError as error:
        raise InputError(f"the result is not a valid scenario: {error.what}", error.place) from None


def _cassette(asked: ImportRequest, read: _Read) -> tuple[Path, bytes] | None:
    """Return the exchanges behind the transcript as a cassette; None without recorded bytes."""
    from harness.cassettes.cassette_file import read_cassette
    from harness.cassettes.recorder import excerpt

    if not read.numbers:
        return None
    try:
        kept = [one for one in read_cassette(asked.file) if one.number in read.numbers]
    except InputError:
        return None
    path = asked.out / "cassettes" / f"{asked.name}.yaml"
    return (path, excerpt(kept)) if kept else None


def _refuse_what_is_there(files: Sequence[tuple[Path, bytes]], force: bool) -> None:
    for path, _ in files:
        if path.exists() and not force:
            raise InputError("the file exists: --force replaces it", str(path))


def _write(files: Sequence[tuple[Path, bytes]]) -> None:
    from harness.files.regular_file import write_atomically

    for path, content in reversed(files):
        write_atomically(path, content)


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
