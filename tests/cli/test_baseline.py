"""`run --baseline`: accept what is there, fail on what is new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Harness
from tests.cli.talks import REFERENCE

RUN = ("run", "--target", "agents:wrong", "--baseline", "accepted.tsv")


@pytest.mark.real
def test_adoption(harness: Harness, folder: Path) -> None:
    first = harness(*RUN, "--update-baseline")
    assert first.returncode == 0
    assert first.stdout.splitlines()[-1].startswith("baseline accepted.tsv: 0 accepted, ")
    assert first.stdout.splitlines()[-1].endswith(" new, 0 gone; written")
    file = folder / "accepted.tsv"
    rows = file.read_text("utf-8").splitlines()
    again = harness(*RUN, "--json")
    assert again.returncode == 0
    *runs, last = map(json.loads, again.stdout.splitlines())
    assert [run["verdict"] for run in runs] == ["pass", "pass"]
    assert all(run["known"] for run in runs)
    assert last == {"version": 1, "accepted": len(rows) - 2, "new": [], "gone": []}
    file.write_text("\n".join([*rows[:-1], "greeting\tmine.gone\t\tissue 7", ""]), "utf-8")
    changed = harness(*RUN)
    assert changed.returncode == 1
    assert "  gone: mine.gone in greeting" in changed.stdout
    narrow = harness(*RUN, "--only", "greeting/polite", "--update-baseline")
    assert "0 gone" in narrow.stdout
    assert "issue 7" in file.read_text("utf-8")
    assert harness(*RUN, "--update-baseline").returncode == 0
    assert file.read_text("utf-8").splitlines() == rows


BAD = {
    "no such file": (
        ("--baseline", "no.tsv"),
        "--baseline no.tsv: no such file; --update-baseline",
    ),
    "no file named": (("--update-baseline",), "--update-baseline: name the file: --baseline FILE"),
    "damaged": (("--baseline", "file"), "file:1: not a baseline of this version"),
    "damaged, to be updated": (
        ("--baseline", "file", "--update-baseline"),
        "file:1: not a baseline",
    ),
    "a folder": (("--baseline", "folder"), "folder"),
    "not to be written": (("--baseline", "file/b", "--update-baseline"), "file/b: cannot be"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_baseline_that_cannot_be_used_is_one_line(name: str, in_process: Command) -> None:
    words, said = BAD[name]
    Path("folder").mkdir()
    Path("file").write_text("findings: []\n", "utf-8")
    done = in_process("run", "--target", REFERENCE, *words)
    assert done.status == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not Path(".harness").exists()
