"""`run --faults`: faults over scenarios that are not edited, and the dry run that foretells it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Harness
from tests.cli.talks import REFERENCE

OVERLAY = """\
faults:
  - {kind: http.status, status: 529, when: 1}
  - {kind: transport.latency, wait_s: 2, when: 2}
"""


@pytest.fixture
def overlay(folder: Path) -> Path:
    path = folder / "overlay.yaml"
    path.write_text(OVERLAY)
    return path


@pytest.mark.real
def test_a_dry_run_and_the_real_run_agree_on_what_is_hit(
    harness: Harness, folder: Path, overlay: Path
) -> None:
    words = ("run", "--faults", overlay.name, "--target", REFERENCE, "--json")
    foretold = {
        row["name"]: [(hit["key"], hit["fault"]) for hit in row["hits"]]
        for row in map(json.loads, harness(*words, "--dry-run").stdout.splitlines())
    }
    assert foretold["greeting"] == [
        ("main/model#1", "http.status"),
        ("main/model#2", "transport.latency"),
    ]
    for row in map(json.loads, harness(*words).stdout.splitlines()):
        events = map(json.loads, (folder / row["history"]).read_text().splitlines())
        met = [
            (event["key"], fault)
            for event in events
            if event["event"] == "answered"
            for fault in event.get("faults", ())
        ]
        assert met == foretold[row["name"]]
        assert row["verdict"] == "pass"


@pytest.mark.real
def test_a_dry_run_keeps_nothing(harness: Harness, folder: Path, overlay: Path) -> None:
    done = harness("run", "--faults", overlay.name, "--dry-run")
    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == [
        "greeting",
        "    main/model#1  http.status",
        "    main/model#2  transport.latency",
    ]
    assert done.stdout.splitlines()[-1].endswith("hits rehearsed with reference")
    assert not (folder / ".harness").exists()


@pytest.mark.real
def test_a_fault_that_hits_nothing_is_told_and_fails(harness: Harness, folder: Path) -> None:
    (folder / "late.yaml").write_text("faults: [{kind: http.status, when: 9}]")
    words = ("run", "--faults", "late.yaml", "--target", REFERENCE, "--only", "greeting")
    assert "    no call is hit" in harness(*words, "--dry-run").stdout.splitlines()
    done = harness(*words)
    assert done.returncode == 1
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("  repeat:")]
    assert "--faults late.yaml" in line
    assert harness(*shlex.split(line.removeprefix("  repeat:"))[1:]).returncode == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("faults: [{kind: http.statsu}]", "overlay.yaml: fault 'http.statsu': unknown; did you"),
        ("faults:\n  - {kind: http.status, wen: 2}", "no setting 'wen'"),
        ("faults: [{kind: tools.raises}]", "the scenario has none (over greeting)"),
        ("faults: [{kind: http.status, on: 'tool:x'}]", "no tool 'x'"),
        ("faults:\n  - {kind: http.status, when: x}", "overlay.yaml:2: "),
        ("fault: []", "a mapping with a list of `faults`"),
        ("faults: []\nname: x", "overlay.yaml:2: key `name`: unknown"),
        ("faults: [", "overlay.yaml:"),
        ("faults: [7]", "a fault is a mapping with `kind`"),
    ],
)
def test_a_wrong_overlay_is_refused_before_anything_runs(
    harness: Harness, overlay: Path, text: str, words: str
) -> None:
    overlay.write_text(text)
    done = harness("run", "--faults", overlay.name, "--target", REFERENCE)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_an_overlay_that_is_not_there(harness: Harness) -> None:
    done = harness("run", "--faults", "nowhere.yaml", "--target", REFERENCE)
    assert done.returncode == 2
    assert "nowhere.yaml: cannot be read" in done.stderr
