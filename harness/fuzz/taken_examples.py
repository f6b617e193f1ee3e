"""Reads the failing examples of other campaigns from a place, such as the artifact of a CI run.

Only two kinds of files are read: the journals of campaigns, and the scenarios of runs whose finding
was not shrunk. A journal is JSON, decoded strictly. What it says of its target, of its profile and
of plug-ins is left alone: a name in a file from outside runs no code.

The files of a place that holds campaigns: a folder, a ZIP archive, or an archive at a URL.

Members are read in memory by name, and none is written to disk. So no name can lead out of a folder
and nothing of a place can run. The only request goes to the URL that the user named: a redirect is
refused, because another host would be called.
"""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

from harness.core.values.errors import InputError
from harness.files.regular_file import files_below, head_of, whole
from harness.fuzz.batch import BatchResult
from harness.fuzz.campaign_journal import FILE, CampaignRecord, record_of
from harness.fuzz.example import scenario_file
from harness.fuzz.findings import Findings, ShrunkFinding
from harness.fuzz.replay import Replayed, TakenExample
from harness.recordings.zip_archive import MAGIC, ZipArchive

MOST_BYTES = 64 * 1024 * 1024
"""The most bytes of an archive, and of one file. A campaign of a night writes a few megabytes."""

TIMEOUT_S = 30.0
_SCHEMES: dict[str, Callable[..., http.client.HTTPConnection]] = {
    "http": http.client.HTTPConnection,
    "https": http.client.HTTPSConnection,
}


class Artifact(Protocol):
    """The files of a place, by their paths in it with `/` between folders."""

    def names(self) -> list[str]:
        """Return the paths, in order."""
        ...

    def read(self, name: str) -> bytes:
        """Return a file; raises InputError for one that cannot be read."""
        ...


def opened_place(place: str) -> Artifact:
    """Return the files of a place. Raises InputError for one that is neither kind."""
    if place.partition("://")[0].lower() in _SCHEMES:
        return _archive(_fetched(place), _plain(place))
    path = Path(place)
    if path.is_dir():
        return _Folder(path)
    if not head_of(path).startswith(MAGIC):
        raise InputError("neither a folder nor a ZIP archive", place)
    return _archive(whole(path, MOST_BYTES), place)


class _Folder:
    """A folder; links in it are not followed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self) -> list[str]:
        found = (Path(one.path) for one in files_below(str(self._path)) if not one.refused)
        root = self._path.resolve()
        return [path.resolve().relative_to(root).as_posix() for path in found]

    def read(self, name: str) -> bytes:
        return whole(self._path / name, MOST_BYTES)


class _Archive:
    """An archive in memory."""

    def __init__(self, document: bytes) -> None:
        self._zip = ZipArchive(document)

    def names(self) -> list[str]:
        """Raises InputError for a name that leads out of the archive: a campaign writes none."""
        found = [name for name in self._zip.names() if not name.endswith("/")]
        for name in found:
            if PurePosixPath(name).is_absolute() or ".." in name.split("/") or "\\" in name:
                raise InputError("leads out of the archive", repr(name))
        return sorted(set(found))

    def read(self, name: str) -> bytes:
        data = self._zip.read(name)
        if len(data) > MOST_BYTES:
            raise InputError(f"larger than {MOST_BYTES} bytes", name)
        return data


def _archive(document: bytes, place: str) -> _Archive:
    try:
        return _Archive(document)
    except InputError as error:
        raise error.within(place) from None


def _plain(url: str) -> str:
    """Return the URL without its query, which may hold a key."""
    return url.partition("?")[0]


def _fetched(url: str) -> bytes:
    """Return what a URL gives, with one request. Raises InputError unless that is an answer 200."""
    place = _plain(url)
    try:
        parts = urlsplit(url)
        if parts.username is not None or not parts.hostname:
            raise InputError("a URL has a host, and no user", parts.scheme)
        connection = _SCHEMES[parts.scheme](parts.netloc, timeout=TIMEOUT_S)
        try:
            return _body(connection, parts, place)
        finally:
            connection.close()
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise InputError("cannot be fetched", place, more=str(error)) from None


def _body(connection: http.client.HTTPConnection, parts: SplitResult, place: str) -> bytes:
    asked = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    connection.request("GET", asked, headers={"accept": "application/zip"})
    answer = connection.getresponse()
    if 300 <= answer.status < 400:
        raise InputError("is a redirect, which is not followed: name its target", place)
    if answer.status != 200:
        raise InputError(f"answers HTTP {answer.status}", place)
    data = answer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError(f"larger than {MOST_BYTES} bytes", place)
    return data


EXAMPLES_MOST = 500
"""The most examples of a place. The rest is told: each costs a run or more."""

_HYPOTHESIS = (
    "no campaign here: no file campaign.jsonl. A database of Hypothesis is read by the settings of "
    "the test: docs/fuzzing.md#failing-examples-of-ci"
)


def examples_of(place: str) -> tuple[TakenExample, ...]:
    """Return the failing examples of a place, each finding once: shrunk ones first.

    Raises InputError for a place without a campaign, and for a journal that cannot be read.
    """
    artifact = opened_place(place)
    names = artifact.names()
    journals = [name for name in names if PurePosixPath(name).name == FILE]
    if not journals:
        raise InputError(_HYPOTHESIS, place)
    first: dict[object, TakenExample] = {}
    for journal in journals:
        for taken in _examples_in(artifact, journal, frozenset(names)):
            first.setdefault(taken.finding.group, taken)
    return tuple(sorted(first.values(), key=lambda taken: not taken.is_shrunk))


def _examples_in(artifact: Artifact, journal: str, names: frozenset[str]) -> Iterator[TakenExample]:
    """Yield the examples of one campaign: what was shrunk, then what still waits for it."""
    told = _told(record_of(artifact.read(journal), Path(journal)))
    for kept in told.kept.values():
        yield TakenExample(kept.name, kept.text, kept.finding, is_shrunk=True)
    shrunk = {kept.code for kept in told.kept.values()}
    for found in told.waiting:
        file = scenario_file(Path(journal).parent, found.example).as_posix()
        if file in names and found.code not in shrunk:
            yield TakenExample(PurePosixPath(file).stem, _text(artifact, file), found.finding)


def _told(record: CampaignRecord) -> Findings:
    """Return the findings of a campaign, also those that it had taken up itself."""
    told = Findings()
    for line in record.lines:
        if isinstance(line, BatchResult):
            for found in line.found:
                told.found(found)
        shown = line.shown if isinstance(line, Replayed) else line
        if isinstance(shown, ShrunkFinding):
            told.reduced(shown)
    return told


def _text(artifact: Artifact, file: str) -> str:
    try:
        return artifact.read(file).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", file) from None
