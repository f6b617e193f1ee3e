"""Does the work of `import`: reads a recording, judges it, and writes it as a scenario.

The scenario's text is parsed before it is written. Known shapes of secrets are masked. Exchanges
recorded byte for byte become a cassette beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.cli.import_report import ScenarioImport
from harness.core.values.errors import InputError
from harness.recordings.importing.dialogue import Dialogue, ModelTurn
from harness.recordings.importing.reproduction import FindingFate, FindingPlace

if TYPE_CHECKING:
    from harness.core.history.history import History
    from harness.core.scenario.scenario import Scenario
    from harness.core.values.verdict import Finding
    from harness.recordings.importing.fidelity import GapLog
    from harness.recordings.transcripts import Recording, Transcript

DIGEST_DIGITS = 16
"""How many digits of a file's SHA-256 identify it in `source`."""


PLAYED_MAX_BYTES = 4_000_000_000
"""The most bytes of all requests in a replay: each holds the whole conversation. About a minute."""


class ImportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The input and options of the command."""

    file: Path
    name: str
    at: int | None = None
    transcript: str = ""
    kind: str = "auto"
    out: Path = Path(".")
    force: bool = False


class _Read(msgspec.Struct, frozen=True, kw_only=True):
    format: str
    transcript: str
    story: Dialogue
    places: tuple[FindingPlace, ...]
    numbers: tuple[int, ...] = ()

    @property
    def findings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.code for place in self.places))


def import_file(asked: ImportRequest) -> ScenarioImport:
    """Write the scenario of a recording, and its cassette if it has bytes.

    Raises InputError as `imported` does.
    """
    made, write = imported(asked)
    write()
    return made


def imported(asked: ImportRequest) -> tuple[ScenarioImport, Callable[[], None]]:
    """Return a recording as a scenario, and a function that writes it; all reading is done first.

    Raises InputError for a recording that cannot be read or played, and for existing files.
    """
    from harness.files.scenario_text import scenario_text
    from harness.recordings.importing.fidelity import GapLog
    from harness.recordings.importing.reproduction import turns_of
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
        fates, unplayed = _replayed(scenario_text(made.document), path, read, asked.at)
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
    text: str, path: Path, read: _Read, at: int | None
) -> tuple[tuple[FindingFate, ...], str]:
    """Return which findings a naive agent reproduces, or why the scenario is not replayed."""
    from harness.agent.naive_agent import agent as naive
    from harness.recordings.importing.reproduction import fates, places_in_history
    from harness.runner import run

    scenario = _checked(text, path)
    if not read.places:
        return (), ""
    calls = sum(isinstance(step, ModelTurn) for step in read.story.steps)
    if calls * len(text) > PLAYED_MAX_BYTES:
        turn = max(1, read.places[0].turn)
        return (), f"it is too long to be replayed; a finding is in turn {turn}: use --at"
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
    from harness.recordings.importing import dialogue
    from harness.recordings.importing.reproduction import places_in_history

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
    from harness.recordings.importing import fidelity, transcript_dialogue
    from harness.recordings.importing.reproduction import places_in_transcript
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
