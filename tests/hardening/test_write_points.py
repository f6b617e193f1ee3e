"""Each command killed, and its disk full, at each of its writes: what is there is old or new.

Afterwards the command that goes on brings what an undisturbed one brings, nothing unfinished
stays, and no process is left. The fast tier takes a few points of two commands, the slow one six of
each; `make hardening` sets `HARNESS_EVERY_WRITE` and takes every point, for an hour.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from tests.cassettes.recorded import ASK, cassette, interaction, said
from tests.cli.conftest import AGENTS, SCENARIO
from tests.cli.url_agents import URL_AGENTS, echo
from tests.transports.upstreams import answering

_ROOT = Path(__file__).parents[2]
_SITE = "from tests.hardening.write_points import begin\n\nbegin()\n"
Tree = dict[str, bytes]


@dataclass(frozen=True)
class Case:
    """A command, the one that goes on after it was broken off, and where its results stand."""

    words: tuple[str, ...]
    again: tuple[str, ...]
    results: str
    statuses: tuple[int, ...] = (0,)
    journals: ClassVar[frozenset[str]] = frozenset({"campaign.jsonl", "judged.jsonl"})


_RUN = ("run", "scenarios", "--target", "agents:good", "--out", "out", "-j", "1")
_CONVERT = ("convert", "a.yaml", "out/b.jsonl", "--force")
_IMPORT = ("import", "a.yaml", "--name", "told", "--out", "out", "--force")
_RECORD = ("record", "out/x.yaml", "--target", "url_agents:good", "--prompt", "Hi", "--upstream")
_SHRINK = ("shrink", "scenarios/greeting.yaml", "--only", "greeting", "--target", "agents:crashing")
_FUZZ = ("--workers", "1", "--examples", "3")
CASES = {
    "run": Case(_RUN, _RUN, "out"),
    "convert": Case(_CONVERT, _CONVERT, "out"),
    "import": Case(_IMPORT, _IMPORT, "out"),
    "record": Case(_RECORD, _RECORD, "out"),
    "shrink": Case((*_SHRINK, "--out", "out"), (*_SHRINK, "--out", "out"), "out"),
    "judge": Case(
        ("judge", "recordings", "--resume", "out"),
        ("judge", "recordings", "--resume", "out"),
        "out",
        statuses=(0, 1),
    ),
    "fuzz": Case(
        ("fuzz", "--target", "agents:crashing", "--seed", "1", "--out", "out", *_FUZZ),
        ("fuzz", "--resume", "out", *_FUZZ),
        "out",
        statuses=(1,),
    ),
}


@dataclass
class Place:
    """A folder to work in, and the processes that were started in it."""

    folder: Path
    upstream: str

    @property
    def counted(self) -> Path:
        """The file whose size is the count."""
        return self.folder.parent / "count"

    def harness(self, how: str, number: int, words: tuple[str, ...]) -> Any:
        """Run a command with its writes counted."""
        line = [*words, self.upstream] if words[-1] == "--upstream" else [*words]
        return subprocess.run(
            [sys.executable, "-m", "harness", *line],
            cwd=self.folder, env=self.environment(how, number), capture_output=True, text=True,
            check=False, timeout=120, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def environment(self, how: str, number: int) -> Mapping[str, str]:
        """The environment of each command: its temporary files count too."""
        (self.folder / "tmp").mkdir(exist_ok=True)
        self.counted.unlink(missing_ok=True)
        return {
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "PYTHONPATH": os.pathsep.join(map(str, (self.folder / "site", _ROOT, self.folder))),
            "WRITE_POINTS": f"{how} {number}",
            "WRITE_POINTS_COUNT": str(self.counted),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(self.folder / "tmp"),
            "WRITE_POINTS_BELOW": str(self.folder),
        }

    def tree(self, below: str) -> Tree:
        """The files below a folder."""
        root = self.folder / below
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    def processes(self) -> list[int]:
        """The processes that belong to this folder."""
        marker, found = f"WRITE_POINTS_BELOW={self.folder}".encode(), []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and marker in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found


def _prepare(folder: Path) -> None:
    (folder / "scenarios").mkdir(parents=True)
    (folder / "scenarios/greeting.yaml").write_text(SCENARIO)
    (folder / "site").mkdir()
    (folder / "site/sitecustomize.py").write_text(_SITE)
    (folder / "agents.py").write_text(AGENTS)
    (folder / "url_agents.py").write_text(URL_AGENTS)
    asked = {**ASK, "messages": [{"role": "user", "content": "hello"}]}
    (folder / "a.yaml").write_bytes(cassette(interaction(asked, said("Hello."))))
    (folder / "recordings").mkdir()
    for name in ("one", "two"):
        shutil.copy(folder / "a.yaml", folder / f"recordings/{name}.yaml")
        os.utime(folder / f"recordings/{name}.yaml", (1_000_000_000, 1_000_000_000))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Callable[[str], Place]]:
    """Fresh folders to work in."""
    with answering(echo) as url:

        def make(name: str) -> Place:
            shutil.rmtree(tmp_path / "work", ignore_errors=True)
            _prepare(tmp_path / "work")
            return Place(tmp_path / "work", url)

        yield make


def _is_whole(name: str, data: bytes) -> bool:
    """Whether a file is a document to its end."""
    try:
        if name.endswith(".jsonl"):
            lines = data.split(b"\n")
            kept = lines[:-1] if Path(name).name in Case.journals else lines
            return all(_is_json(line) for line in kept if line)
        if name.endswith((".json", ".yaml")):
            return yaml.safe_load(data) is not None
    except (ValueError, yaml.YAMLError):
        return False
    return True


def _visible(tree: Tree) -> Tree:
    return {name: data for name, data in tree.items() if not Path(name).name.startswith(".")}


def _settled(case: Case, tree: Tree) -> Tree:
    """What two undisturbed commands have in common: journals as sets of lines, no times."""
    return {
        name: _lines(data) if Path(name).name in case.journals else _TIME.sub(b"", data)
        for name, data in tree.items()
    }


_TIME = re.compile(rb"(?<=at_ms: )\d+|(?<=\d@)\d+")


def _lines(data: bytes) -> bytes:
    """The whole lines of a journal, once each; a torn one is read by nobody."""
    return b"\n".join(sorted({line for line in data.splitlines() if _is_json(line)}))


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _check(place: Place, case: Case, expected: Tree, how: str, number: int) -> None:
    done = place.harness(how, number, case.words)
    told = f"{how} at write {number}: {done.returncode} {done.stderr[-400:]}"
    if how == "full":
        assert "Traceback" not in done.stderr, told
        assert "harness failure" not in done.stderr, told
    else:
        assert done.returncode == -9, told
    end_s = time.monotonic() + 30
    while place.processes():
        assert time.monotonic() < end_s, f"{told}: left {place.processes()}"
        time.sleep(0.05)
    torn = [n for n, data in _visible(place.tree(case.results)).items() if not _is_whole(n, data)]
    assert torn == [], told
    words = case.again if (place.folder / "out/campaign.jsonl").exists() else case.words
    again = place.harness("kill", 0, words)
    if again.returncode == 2 and words == case.again != case.words:
        shutil.rmtree(place.folder / "out")  # it was broken off before its journal had a line
        again = place.harness("kill", 0, case.words)
    assert again.returncode in case.statuses, f"{told}\nthen {again.stderr[-600:]}"
    assert _settled(case, place.tree(case.results)) == expected, told
    ours = [path.name for path in (place.folder / "tmp").iterdir() if "loop-harness" in path.name]
    assert ours == [], told


def _points(case: Case, place: Callable[[str], Place]) -> tuple[int, Tree]:
    """How many writes the command has, and what it comes to."""
    fresh = place("counted")
    done = fresh.harness("kill", 0, case.words)
    assert done.returncode in case.statuses, done.stderr
    count = fresh.counted.stat().st_size
    assert count > 3
    assert fresh.processes() == []
    return count, _settled(case, fresh.tree(case.results))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
@pytest.mark.parametrize("name", ["convert", "run"])
def test_some_writes(name: str, place: Callable[[str], Place]) -> None:
    count, expected = _points(CASES[name], place)
    for how, number in (("kill", count // 2), ("full", count // 2 + 1)):
        _check(place(name), CASES[name], expected, how, number)


@pytest.mark.real
@pytest.mark.timeout(7200)
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
@pytest.mark.parametrize("how", ["kill", "full"])
@pytest.mark.parametrize("name", CASES)
def test_writes(name: str, how: str, place: Callable[[str], Place]) -> None:
    count, expected = _points(CASES[name], place)
    numbers = _chosen(count, bool(os.environ.get("HARNESS_EVERY_WRITE")))
    print(f"{name}: {how} at {len(numbers)} of {count} writes")
    for number in numbers:
        _check(place(name), CASES[name], expected, how, number)


def _chosen(count: int, every: bool) -> list[int]:
    """All numbers from 1 to `count`, or six of them from the first to the last."""
    if every:
        return [*range(1, count + 1)]
    return sorted({1 + round(place * (count - 1) / 5) for place in range(6)})
