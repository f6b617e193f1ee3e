"""The laws of a report, on our own ones and on wrong ones."""

from __future__ import annotations

import pytest

from harness.contracts import check_report
from harness.report import REPORTS


def right(results: object, command: object) -> object:
    """A report that is right."""
    yield f"{command}: {results}"


class Wrong:
    """A report that remembers what an earlier command said."""

    told: int = 0

    def __call__(self, event: object) -> object:
        """Count the events of every command."""
        Wrong.told += 1
        yield str(Wrong.told)


class Bytes:
    """A report that writes no text."""

    def __call__(self, event: object) -> object:
        """Yield bytes."""
        yield b""


class Narrow:
    """A report that knows one event only."""

    def __call__(self, event: object) -> object:
        """Read what not every event has."""
        yield event.verb  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", REPORTS.own())
def test_our_reports_keep_the_laws(name: str) -> None:
    check_report(REPORTS.own()[name].source, examples=20)


def test_a_report_of_a_plug_in_keeps_them() -> None:
    check_report(right, examples=20)


@pytest.mark.parametrize(
    ("report", "error"),
    [
        (Wrong, "other lines"),
        (Bytes, "not a line of text"),
        (Narrow, "verb"),
        (print, "not a function"),
    ],
)
def test_a_wrong_report_breaks_one(report: type, error: str) -> None:
    with pytest.raises((AssertionError, AttributeError), match=error):
        check_report(report, examples=20)
