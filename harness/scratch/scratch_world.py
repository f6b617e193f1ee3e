"""The world in which probes play: the copy, its home, its temporary folder, and the variables.

An agent finds the user's things by its working folder, HOME, TMPDIR and the XDG folders. Others are
its import path, and absolute paths in settings. Each of them leads into the copy. What none
of them covers is told before the probes, and looked at after them: files, by their sizes and times
of change. The look sees any program, also one that runs no Python. It cannot tell who changed a
file of a folder that all programs share, so it names what it saw and no culprit.

The places outside of a project that its settings name: databases and files that no copy covers.

It reads texts, as a person would: the variables of the environment, `.env`, and other files. A
SQLite path below the project is in the copy; a database of a server is the user's own.
"""

from __future__ import annotations

import importlib.machinery
import os
import re
import shutil
import site
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

from harness.core.values.machine_names import SCRATCH_PREFIX
from harness.core.values.visible_text import visible_line
from harness.files.owner import scratch_folder
from harness.scratch.project_copy import FILES_MOST, Copy, copy_project, entries, with_paths

TEMPORARY = ("/tmp", "/var/tmp")
"""Folders in which all programs of a machine write."""

_SHARED_DEPTH = 2
_SHARED_MOST = 5_000
_NO_AGENT = (SCRATCH_PREFIX, "pytest-of-")
"""What begins so in a temporary folder is ours, or of a test runner."""

_Marks = dict[str, tuple[int, int]]


class OutsideWatch:
    """The state of a project, of named places, of temporary folders and of a home folder."""

    def __init__(self, folder: Path, places: Iterable[str], home: Path) -> None:
        self._folder, self._places, self._home = folder, tuple(places), home
        self._before = self._marks()

    def changed(self) -> list[str]:
        """The paths that are new, gone or changed since the last call, the project's own first.

        A folder is left out where a change below it is told.
        """
        before, self._before = self._before, self._marks()
        paths = {p for p in {*before, *self._before} if before.get(p) != self._before.get(p)}
        above = {str(parent) for path in paths for parent in Path(path).parents}
        own = str(self._folder)
        return sorted(paths - above, key=lambda p: (not p.startswith(own), p in before, p))

    def _marks(self) -> _Marks:
        found: _Marks = {}
        for number, one in enumerate(entries(self._folder)):
            if one.kind == "file" and number <= FILES_MOST:
                _mark(found, str(self._folder / one.name))
        for place in self._places:
            for path in (place, f"{place}-wal", f"{place}-journal"):
                _mark(found, path)
            found |= dict(_shared(Path(place), _SHARED_DEPTH))
        for folder, depth in self._shared_folders():
            found |= dict(_shared(folder, depth))
        return found

    def _shared_folders(self) -> Iterator[tuple[Path, int]]:
        yield from ((Path(folder), 0) for folder in TEMPORARY)
        yield self._home, 0
        for name in (".cache", ".config", ".local/share", ".local/state"):
            yield self._home / name, _SHARED_DEPTH


def _mark(found: _Marks, path: str) -> None:
    try:
        state = os.lstat(path)
    except OSError:
        return
    found[path] = (state.st_mtime_ns, state.st_size)


def _shared(folder: Path, depth: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the marks of this user's files and folders in a folder, down to a depth."""
    waiting = [(str(folder), depth)]
    left = _SHARED_MOST
    for place, below in waiting:
        try:
            inside = list(os.scandir(place))
        except OSError:
            continue
        for entry in inside[:left]:
            left -= 1
            try:
                state = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if state.st_uid != os.getuid() or entry.name.startswith(_NO_AGENT):
                continue
            yield entry.path, (state.st_mtime_ns, state.st_size)
            if below and entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, below - 1))


_TOOLS = {
    "ASDF_DATA_DIR": ".asdf",
    "CARGO_HOME": ".cargo",
    "MISE_DATA_DIR": ".local/share/mise",
    "NVM_DIR": ".nvm",
    "PYENV_ROOT": ".pyenv",
    "RUSTUP_HOME": ".rustup",
    "VOLTA_HOME": ".volta",
}
"""Where version managers find the programs that they start, by their variable: below HOME."""

_AS_IT_IS = ("PATH", "VIRTUAL_ENV", "PYTHONPATH")
"""Variables that name programs and packages: they are read where they are."""


class ScratchWorld:
    """A copy of a project to play in.

    `folder` is the copy, `env` holds the variables that differ. `notes` say what the copy does not
    cover.
    """

    def __init__(self, root: Path, source: Path, home: Path) -> None:
        self._root, self._home = root, home
        self.source, self.folder = source, root / "project" / source.name
        self._spellings = _spellings(source)
        here = {name: self._led(value.encode("utf-8", "replace"), ".").decode()
                for name, value in os.environ.items()}  # fmt: skip
        self._places: list[Place] = [*of_variables(here, str(source))]
        copy = self._copy()
        self.notes = tuple(map(visible_line, self._said(copy)))
        watched = {place.path for place in self._places if place.path}
        self._watch = OutsideWatch(source, {*watched, *map(str, map(_real, copy.links))}, home)

    def _copy(self) -> Copy:
        copy = copy_project(self.source, self.folder, self._taken)
        self.env = self._variables(self._root, self._home)
        return copy

    def renew(self) -> None:
        """Copy the project again, as it is by now: what earlier runs left in the copy is gone."""
        for path in self._root.iterdir():
            shutil.rmtree(path, ignore_errors=True)
        self._copy()

    def _taken(self, name: str, data: bytes) -> bytes:
        if is_settings(name):
            text = self._led(data, ".").decode("utf-8", "replace")
            self._places += of_text(name, text, str(self.source))
        return self._led(data, str(self.folder))

    def _led(self, data: bytes, to: str) -> bytes:
        """Return a text in which the paths of the project lead to another folder."""
        for spelling in self._spellings:
            data = with_paths(data, spelling, to)
        return data

    def _variables(self, root: Path, home: Path) -> dict[str, str]:
        folders = {"HOME": "home", "XDG_CONFIG_HOME": "home/.config", "TMPDIR": "tmp",
                   "XDG_CACHE_HOME": "home/.cache", "XDG_DATA_HOME": "home/.local/share",
                   "XDG_STATE_HOME": "home/.local/state", "XDG_RUNTIME_DIR": "run",
                   "TMP": "tmp", "TEMP": "tmp"}  # fmt: skip
        made = {name: str(root / below) for name, below in folders.items()}
        for path in made.values():
            Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
        tools = {name: str(home / below) for name, below in _TOOLS.items()
                 if name not in os.environ and (home / below).is_dir()}  # fmt: skip
        packages = {"PYTHONUSERBASE": site.getuserbase()} if site.ENABLE_USER_SITE else {}
        modules = {"PYTHONPATH": os.pathsep.join(found)} if (found := self.path()) else {}
        here = {"PWD": str(self.folder)}
        return {**self._moved(), **tools, **packages, **made, **modules, **here}

    def _moved(self) -> dict[str, str]:
        """Return the variables that name a path of the project, with the path of the copy."""
        moved = {}
        for name, value in os.environ.items():
            led = os.fsdecode(self._led(os.fsencode(value), str(self.folder)))
            if led != value and name not in _AS_IT_IS:
                moved[name] = led
        return moved

    def path(self) -> list[str]:
        """Return the import path of the project's own modules in the copy, then the user's.

        An editable installation names the folder of the project, where an agent would find its
        files beside its modules.
        """
        named = os.environ.get("PYTHONPATH", "")
        given = [entry for entry in named.split(os.pathsep) if entry]
        own = [entry for entry in sys.path if self._copied(entry)]
        sources = self.source / "src"
        if sources.is_dir() and _is_importable(sources):
            own.append(str(sources))
        copied = (copy for entry in (*own, *given) if (copy := self._copied(entry)))
        return list(dict.fromkeys((*copied, *given)))

    def _copied(self, entry: str) -> str:
        """Return the folder of the copy for one of the project; "" for another one."""
        path = Path(entry)
        if not entry or not path.is_relative_to(self.source) or path == self.source:
            return ""
        made = self.folder / path.relative_to(self.source)
        return str(made) if made.is_dir() and not _is_packages(path) else ""

    def keep_runs(self) -> None:
        """Keep the histories of runs in the project itself, where `run` would write them."""
        kept = self.source / ".harness" / "runs"
        kept.mkdir(parents=True, exist_ok=True)
        (self.folder / ".harness").mkdir(exist_ok=True)
        (self.folder / ".harness" / "runs").symlink_to(kept)

    def told(self, text: str) -> str:
        """Return a text of the probes with the paths of the project itself."""
        return text.replace(str(self.folder), str(self.source))

    def changed(self) -> list[str]:
        """Return what changed outside of the copy since the last call, in words."""
        found = self._watch.changed()
        shared = [path for path in found if os.path.dirname(path) in TEMPORARY]
        if shared[1:]:
            # A busy machine changes dozens of files there, and one of them is enough to look.
            left_out = set(shared[1:])
            more = f"{shared[0]}, and {len(left_out)} more beside it,"
            found = [more if p == shared[0] else p for p in found if p not in left_out]
        return [visible_line(f"{p} changed, by the agent or by another program") for p in found]

    def _said(self, copy: Copy) -> Iterator[str]:
        for place in dict.fromkeys(self._places):
            named = f"{place.setting} of {place.where}" if place.setting else place.where
            way = f"; to try another one: {place.setting}=... harness" if place.setting else ""
            yield f"{named} names {place.shown}: what the agent writes there stays{way}"
        for link in copy.links:
            yield f"{link.name} is a link to {_real(link)}: what the agent writes there stays"
        if copy.left_out:
            names = ", ".join(copy.left_out[:3])
            more = f" and {len(copy.left_out) - 3} more" if len(copy.left_out) > 3 else ""
            yield f"not in the copy, too large or not readable: {names}{more}"


def _real(link: Path) -> Path:
    return Path(os.path.realpath(link))


def _is_packages(path: Path) -> bool:
    return "site-packages" in path.parts or "node_modules" in path.parts


def _is_importable(sources: Path) -> bool:
    """Whether this Python finds a module of a folder `src` there: an editable installation."""
    names = [path.stem for path in sources.iterdir() if path.stem.isidentifier()]
    for name in names:
        for finder in sys.meta_path:
            found: importlib.machinery.ModuleSpec | None = finder.find_spec(name, None)
            if found is not None:
                where = found.origin or next(iter(found.submodule_search_locations or ()), "")
                if Path(where).is_relative_to(sources):
                    return True
                break
    return False


def _spellings(source: Path) -> Sequence[str]:
    """Return the paths of the project as settings may spell it: through a link, too."""
    shell = os.environ.get("PWD", "")
    is_same = os.path.isabs(shell) and os.path.realpath(shell) == os.path.realpath(source)
    return tuple(dict.fromkeys([str(source), *([shell] if is_same else [])]))


@contextmanager
def scratch_world(source: Path) -> Iterator[ScratchWorld]:
    """A world with a copy of a project, gone at the end. Raises InputError for one too large."""
    with scratch_folder("probe") as root:
        yield ScratchWorld(root, source, Path.home())


@contextmanager
def entered(world: ScratchWorld) -> Iterator[None]:
    """Play in a world, in this process: its folder, its variables, its import path."""
    before, folder, path = dict(os.environ), os.getcwd(), [*sys.path]
    os.environ.update(world.env)
    sys.path[:0] = [entry for entry in world.path() if entry not in sys.path]
    tempfile.tempdir = None  # it is read from TMPDIR once
    os.chdir(world.folder)
    try:
        yield
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(before)
        sys.path[:] = path
        tempfile.tempdir = None


_SERVERS = frozenset(
    {"amqp", "amqps", "bolt", "cassandra", "clickhouse", "cockroachdb", "mariadb", "mongodb"}
    | {"mssql", "mysql", "nats", "neo4j", "oracle", "postgres", "postgresql", "redis", "rediss"}
    | {"snowflake", "valkey"}
)
_URL = re.compile(r"\b([a-z][a-z0-9]{1,20})(?:\+[a-z0-9_+]{1,30})?:(//[^\s\"'<>`,;)]{1,500})")
_NAME = re.compile(r"\s*(?:export\s+)?[\"']?([A-Za-z_]\w{0,80})[\"']?\s{0,20}[=:]")
_SQLITE = re.compile(r"\b(?:sqlite|duckdb)(?:\+\w{1,30})?:///(/[^\"'<>`,;)#?\n]{1,500})")
_FILE = re.compile(
    r"[=:]\s{0,20}[\"']?(/(?!/)[^\"'<>`,;:)\n]{1,500}?\.(?:db3?|duckdb|sqlite3?))(?=[\s\"'<>`,;)]|$)"
)
_TEXTS = (".cfg", ".conf", ".env", ".ini", ".js", ".json", ".mjs", ".properties", ".py", ".toml")
_MORE_TEXTS = (".ts", ".yaml", ".yml")


class Place(NamedTuple):
    """A place that a setting names: where the setting stands, its name, and what it names.

    `path` is the file, "" for a server. `shown` has no user and no password.
    """

    where: str
    setting: str
    shown: str
    path: str = ""


def is_settings(name: str) -> bool:
    """Whether a file may name a database: settings and sources, no prose and no lock files."""
    file = PurePosixPath(name).name
    is_env = file == ".env" or file.startswith(".env.")
    return is_env or (file.endswith((*_TEXTS, *_MORE_TEXTS)) and "lock" not in file)


def of_variables(variables: Mapping[str, str], folder: str) -> Iterator[Place]:
    """Yield the places outside of `folder` that variables of the environment name."""
    for name, value in variables.items():
        for shown, path in _named(f"={value}", folder):
            yield Place("the environment", name, shown, path)


def of_text(name: str, text: str, folder: str) -> Iterator[Place]:
    """Yield the places outside of `folder` that a file of the project names."""
    if "://" not in text and not _FILE.search(text):
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > 2000 or line.lstrip().startswith(("#", "//")):
            continue
        for shown, path in _named(line, folder):
            setting = _NAME.match(line)
            yield Place(f"{name}:{number}", setting[1] if setting else "", shown, path)


def _named(line: str, folder: str) -> Iterator[tuple[str, str]]:
    for kind, rest in _URL.findall(line):
        if kind in _SERVERS and not rest.startswith("///"):
            yield f"{kind}://{_without_user(rest)}", ""
    for path in (*_SQLITE.findall(line), *_FILE.findall(line)):
        if not os.path.normpath(path.strip()).startswith(os.path.join(folder, "")):
            yield path.strip(), path.strip()


def _without_user(rest: str) -> str:
    """The host and the path of a URL: a password is not told."""
    try:
        parts = urlsplit(rest)
    except ValueError:
        return "..."
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")
