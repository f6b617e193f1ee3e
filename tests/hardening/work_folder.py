"""A folder to work in, with a scenario, agents, a cassette and recordings, and its processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.cassettes.recorded import ASK, cassette, interaction, said
from tests.cli.conftest import AGENTS, SCENARIO
from tests.cli.url_agents import URL_AGENTS
from tests.runner.programs import GREET, PRELUDE

_ROOT = Path(__file__).parents[2]
_SITE = """
from tests.hardening import signal_points, write_points

write_points.begin()
signal_points.begin()
"""
_TEST = """
def test_it(play):
    play("scenarios/greeting.yaml", "agents:good")
"""
EVERY = bool(os.environ.get("HARNESS_EVERY_WRITE"))
"""Whether all of each table is tried: `make hardening` asks for it."""
JOURNALS = frozenset({"campaign.jsonl", "judged.jsonl"})
Tree = dict[str, bytes]


@dataclass
class Place:
    """A folder to work in, and the processes that were started in it."""

    folder: Path
    upstream: str

    @property
    def counted(self) -> Path:
        """The file whose size is the count."""
        return self.folder.parent / "count"

    def harness(self, words: Sequence[str], **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a command in its own process group; `settings` join its environment."""
        line = [*words, self.upstream] if words[-1] == "--upstream" else [*words]
        module = [] if words[0] == "pytest" else ["harness"]
        return subprocess.run(
            [sys.executable, "-m", *module, *line],
            cwd=self.folder, env={**self.environment(), **settings}, capture_output=True, text=True,
            check=False, timeout=120, stdin=subprocess.DEVNULL, process_group=0,
        )  # fmt: skip

    def environment(self) -> Mapping[str, str]:
        """The environment of each command: its temporary files stand in the folder too."""
        (self.folder / "tmp").mkdir(exist_ok=True)
        self.counted.unlink(missing_ok=True)
        return {
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "PYTHONPATH": os.pathsep.join(map(str, (self.folder / "site", _ROOT, self.folder))),
            "WRITE_POINTS_COUNT": str(self.counted),
            "SIGNAL_POINT_COUNT": str(self.counted),
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

    def left(self) -> list[int]:
        """The processes that are left, once those that are ending have ended."""
        end_s = time.monotonic() + 30
        while self.processes() and time.monotonic() < end_s:
            time.sleep(0.05)
        return self.processes()

    def torn(self, below: str) -> list[str]:
        """The files that are not whole documents, and what is unfinished."""
        return [
            name
            for name, data in self.tree(below).items()
            if Path(name).name.startswith(".") or not is_whole(name, data)
        ]

    def scratch(self) -> list[str]:
        """The temporary files of ours."""
        found = (self.folder / "tmp").iterdir()
        return [path.name for path in found if "loop-harness" in path.name]

    def processes(self) -> list[int]:
        """The processes that belong to this folder, those of a target too."""
        marker, found = str(self.folder).encode(), []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and marker in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found


def prepare(folder: Path) -> None:
    """Put what the commands need into a new folder."""
    (folder / "scenarios").mkdir(parents=True)
    (folder / "scenarios/greeting.yaml").write_text(SCENARIO)
    (folder / "site").mkdir()
    (folder / "site/sitecustomize.py").write_text(_SITE)
    (folder / "agents.py").write_text(AGENTS)
    (folder / "url_agents.py").write_text(URL_AGENTS)
    (folder / "program.py").write_text(PRELUDE + GREET)
    (folder / "conftest.py").write_text(
        "from tests.hardening import signal_points\nsignal_points.begin_in_pytest()\n"
    )
    (folder / "test_it.py").write_text(_TEST)
    asked = {**ASK, "messages": [{"role": "user", "content": "hello"}]}
    (folder / "a.yaml").write_bytes(cassette(interaction(asked, said("Hello."))))
    (folder / "recordings").mkdir()
    for name in ("one", "two"):
        shutil.copy(folder / "a.yaml", folder / f"recordings/{name}.yaml")
        os.utime(folder / f"recordings/{name}.yaml", (1_000_000_000, 1_000_000_000))


def is_whole(name: str, data: bytes) -> bool:
    """Whether a file is a document to its end."""
    try:
        if name.endswith(".jsonl"):
            lines = data.split(b"\n")
            kept = lines[:-1] if Path(name).name in JOURNALS else lines
            return all(is_json(line) for line in kept if line)
        if name.endswith((".json", ".yaml")):
            return yaml.safe_load(data) is not None
    except (ValueError, yaml.YAMLError):
        return False
    return True


def is_json(line: bytes) -> bool:
    """Whether a line is JSON."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
