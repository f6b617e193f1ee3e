"""The count on standard error: a line that changes on a terminal, lines now and then in a log."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from harness.cli import terminal


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    now = [0.0]
    monkeypatch.setattr(terminal, "monotonic", lambda: now[0])
    return now


def test_a_terminal_has_one_line_that_changes(
    monkeypatch: pytest.MonkeyPatch, clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.delenv("TERM", raising=False)
    with terminal.progress(3, "runs") as advance:
        clock[0] = 2.0
        advance()
        terminal.out("a result")
        clock[0] = 3.0
        advance()
    said = screen.getvalue()
    assert said.startswith("\r\x1b[K0 of 3 runs, 0 s\r\x1b[K1 of 3 runs, 2 s\r\x1b[K")
    assert said.endswith("2 of 3 runs, 3 s\r\x1b[K"), "nothing of it stays"
    assert capsys.readouterr().out == "a result\n"


def test_a_log_has_a_line_every_ten_seconds(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with terminal.progress(lambda: 40, "files") as advance:
        for second in range(25):
            clock[0] = float(second)
            advance()
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == ["11 of 40 files, 10 s", "21 of 40 files, 20 s"]


def test_what_there_is_in_all_is_counted_only_to_be_told(clock: list[float]) -> None:
    asked: list[int] = []

    def total() -> int:
        asked.append(1)
        return 3

    with terminal.progress(total, "files") as advance:
        advance()
        assert asked == []
        clock[0] = 60.0
        advance()
        advance()
    assert asked == [1]


def test_a_dumb_terminal_is_a_log(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "dumb")
    with terminal.progress(2, "runs") as advance:
        advance()
    assert screen.getvalue() == ""


def test_a_log_is_told_too_while_no_step_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "LINE_EVERY_S", 0.0)
    told = threading.Event()

    def words() -> str:
        told.set()
        return "one example so far"

    with terminal.progress_line(words, always=True):
        assert told.wait(60)
