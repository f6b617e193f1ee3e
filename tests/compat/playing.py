"""A row is played in its environment: its tests by pytest, then the reference agent by `harness`.

Both are counted from what they write for machines, JUnit XML and JSON Lines.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from tests.compat.environments import ROOT, PlayedSet, data, python_of
from tests.compat.results import SHOWN, Result

_VERSIONS = (
    "import json, platform, importlib.metadata as m; "
    f"print(json.dumps([platform.python_version(), *map(m.version, {SHOWN!r})]))"
)


def play(name: str, plays: str | None = None) -> Result:
    """Play a row whose environment is there, or one set in it. What fails is printed as it
    comes."""
    played = data().sets[plays or data().rows[name].plays]
    versions = json.loads(_output(name, "-c", _VERSIONS))
    tests, runs = _tests(name, played), _runs(name, played)
    return Result(name, *versions, **tests, **runs)


def _tests(name: str, played: PlayedSet) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "tests.xml")
        asked = [
            "-m",
            "pytest",
            "-q",
            "-n",
            "auto",
            "-m",
            "not real and not source",
            "-p",
            "no:cacheprovider",
        ]
        done = _run(name, *asked, f"--junitxml={report}", *played.tests)
        if done.returncode:
            print("\n".join(done.stdout.splitlines()[-40:]))
        counted = counts(report.read_text(encoding="utf-8")) if report.exists() else (0, 0)
    return told(*counted, is_whole=not done.returncode)


def counts(report: str) -> tuple[int, int]:
    """How many tests of a JUnit report passed and failed."""
    (suite,) = ElementTree.fromstring(report).iter("testsuite")
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    return int(suite.get("tests", 0)) - failed - int(suite.get("skipped", 0)), failed


def told(passed: int, failed: int, *, is_whole: bool) -> dict[str, int]:
    """The counts as fields. A session that pytest did not end in good order is a failure too."""
    return {"tests_passed": passed, "tests_failed": failed or int(not (is_whole and passed))}


def _runs(name: str, played: PlayedSet) -> dict[str, int]:
    wires = [word for wire in played.wires for word in ("--wire", wire)]
    with tempfile.TemporaryDirectory() as folder:
        asked = ["-m", "harness", "run", *played.scenarios, *wires, "--target", "reference"]
        done = _run(name, *asked, "--json", "--out", folder)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    found = Counter(line["verdict"] for line in lines if "verdict" in line)
    passed, absent = found.pop("pass", 0), found.pop("not_applicable", 0)
    failed = found.total() or int(not passed)
    if failed:
        print(
            *(line["name"] for line in lines if line.get("verdict") in found), done.stderr[-2000:]
        )
    return {"runs_passed": passed, "runs_failed": failed, "runs_left": absent}


def _output(name: str, *words: str) -> str:
    done = _run(name, *words)
    done.check_returncode()
    return done.stdout


def _run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(python_of(name)), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
