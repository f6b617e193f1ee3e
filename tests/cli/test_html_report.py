"""`--html FILE` of `run` and `show`: the page is there whole, or the command says why it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Harness
from tests.report.html.pages import unpacked


def test_run_writes_a_page_of_its_runs(harness: Harness, folder: Path) -> None:
    done = harness("run", "scenarios", "--target", "agents:wrong", "--html", "out/page.html")
    assert done.returncode == 1
    assert "page: out/page.html" in done.stderr
    data = (folder / "out/page.html").read_bytes()
    index = unpacked(data, "index")
    assert [run["verdict"] for run in index["runs"]] == ["fail", "fail"]
    assert all(
        run["repeat"].startswith("harness run scenarios/greeting.yaml") for run in index["runs"]
    )
    assert unpacked(data, "run-1")["events"][-1]["event"] == "ended"


def test_show_writes_a_page_of_each_run_below_a_folder(harness: Harness, folder: Path) -> None:
    harness("run", "scenarios", "--target", "agents:good")
    broken = folder / ".harness/runs/broken/history.jsonl"
    broken.parent.mkdir()
    broken.write_text("no history\n")
    done = harness("show", ".harness/runs", "--html", "page.html")
    assert (done.returncode, done.stdout) == (0, "")
    index = unpacked((folder / "page.html").read_bytes(), "index")
    assert [run["verdict"] for run in index["runs"]] == ["unknown", "pass", "pass"]
    assert "cannot be read: " in index["runs"][0]["doubts"][0]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("agents.py/page.html", "agents.py/page.html: cannot be written: "),
        (".", ".: a folder; name a file"),
    ],
)
def test_a_page_that_cannot_be_written_costs_no_run(
    harness: Harness, folder: Path, file: str, said: str
) -> None:
    done = harness("run", "scenarios", "--target", "agents:good", "--html", file)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert said in line
    assert not (folder / ".harness").exists()
