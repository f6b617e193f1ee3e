"""The files of a place that holds campaigns: a folder, a ZIP archive, or an archive at a URL.

Members are read in memory by name, and none is written to disk. So no name can lead out of a folder
and nothing of a place can run. The only request goes to the URL that the user named: a redirect is
refused, because another host would be called.
"""

from __future__ import annotations

import http.client
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

from harness.core.values.errors import InputError
from harness.files.regular_file import files_below, head_of, whole
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
