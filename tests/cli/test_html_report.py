"""`--html FILE` of `run` and `show`: the page is there whole, or the command says why it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Harness
from tests.cli.talks import Command
from tests.report.html.pages import unpacked


def test_run_and_show_write_pages(harness: Harness, folder: Path) -> None:
    words = ("--target", "agents:wrong", "--html", "out/page.html")
    done = harness("run", "scenarios", "--only", "greeting", *words)
    assert done.returncode == 1
    assert "page: out/page.html" in done.stderr
    data = (folder / "out/page.html").read_bytes()
    (run,) = unpacked(data, "index")["runs"]
    assert (run["verdict"], run["folder"]) == ("fail", "scenarios")
    assert run["repeat"].startswith("harness run scenarios/greeting.yaml --only greeting ")
    assert unpacked(data, "run-0")["events"][-1]["event"] == "ended"
    broken = folder / ".harness/runs/broken/history.jsonl"
    broken.parent.mkdir()
    broken.write_text("no history\n")
    shown = harness("show", ".harness/runs", "--html", "page.html")
    assert (shown.returncode, shown.stdout) == (0, "")
    index = unpacked((folder / "page.html").read_bytes(), "index")
    assert [run["verdict"] for run in index["runs"]] == ["fail", "unknown"]
    assert "cannot be read: " in index["runs"][1]["doubts"][0]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("agents.py/page.html", "agents.py/page.html: cannot be written: "),
        (".", ".: a folder; name a file"),
    ],
)
def test_a_page_that_cannot_be_written_costs_no_run(
    in_process: Command, folder: Path, file: str, said: str
) -> None:
    done = in_process("run", "scenarios", "--target", "agents:good", "--html", file)
    assert (done.status, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert said in line
    assert not (folder / ".harness").exists()


def test_open_opens_the_page_in_the_browser_of_the_user(harness: Harness, folder: Path) -> None:
    browser = folder / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {folder}/opened\n')
    browser.chmod(0o755)
    words = ("run", "scenarios", "--only", "greeting", "--target", "agents:good", "--open")
    done = harness(*words, BROWSER=str(browser))
    page = folder / ".harness/page.html"
    assert done.stderr.splitlines()[-1] == "page: .harness/page.html"
    assert (folder / "opened").read_text() == f"{page.resolve().as_uri()}\n"
    shown = harness("show", ".harness/runs", "--html", "own.html", "--open", BROWSER=str(browser))
    assert shown.returncode == 0
    assert (folder / "opened").read_text().endswith("/own.html\n")


def test_open_says_so_when_there_is_no_browser(harness: Harness) -> None:
    words = ("run", "scenarios", "--only", "greeting", "--target", "agents:good", "--open")
    done = harness(*words, BROWSER="/bin/false", PATH="", DISPLAY="")
    assert done.returncode == 0
    assert "--open: no browser was found; set BROWSER" in done.stderr


def test_a_page_on_standard_output_cannot_be_opened(in_process: Command) -> None:
    done = in_process("run", "scenarios", "--target", "agents:good", "--html", "-", "--open")
    assert (done.status, done.out) == (2, "")
    assert "--open opens a file" in done.err
