"""A report is found by its file or its plug-in, and made of a function or a class."""

from __future__ import annotations

from types import ModuleType

import pytest

from harness.core.values.errors import InputError
from harness.core.values.verdict import Verdict
from harness.parts.loading import Plugin, set_loaded
from harness.report import REPORTS, report_named
from tests.report.fabricated import summary, told

PLUGIN = """
def total(results, command):
    "How many runs a command had."
    yield f"{command.verb} {len(results)}"

def line(event):
    yield type(event).__name__

class EachName:
    def __call__(self, event):
        return [event.name] if hasattr(event, "name") else []

def helper_of_a_check(history):
    yield from ()
"""
RUNS = [summary("a", Verdict("pass", "completed")), summary("b", Verdict("pass", "completed"))]


@pytest.fixture
def brought() -> object:
    """A plug-in with three reports."""
    module = ModuleType("mine")
    exec(PLUGIN, vars(module))
    set_loaded((Plugin("mine", module),))
    yield
    set_loaded(())


def test_a_file_of_the_folder_is_a_report_by_its_name() -> None:
    names = ["github", "html", "json_lines", "judged_files", "junit", "markdown", "screen", "text"]
    assert list(REPORTS.all()) == names
    assert all(part.title for part in REPORTS.parts().values())


def test_each_file_of_the_folder_brings_one_report() -> None:
    assert {len(REPORTS.parts_of(file)) for file in REPORTS.files()} == {1}


@pytest.mark.usefixtures("brought")
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("total", ["run 2"]),
        ("line", ["CommandStarted", "Result", "Result", "CommandFinished"]),
        ("each_name", ["a", "b"]),
    ],
)
def test_a_plug_in_brings_one_in_a_function_or_a_class(name: str, lines: list[str]) -> None:
    assert told(report_named(f"mine.{name}").made(), RUNS) == lines


@pytest.mark.usefixtures("brought")
def test_an_unknown_name_says_the_nearest() -> None:
    with pytest.raises(InputError, match=r"mine\.total"):
        report_named("mine.totals")


@pytest.mark.parametrize("verb", ["run", "judge", "fuzz", "diff", "doctor"])
@pytest.mark.parametrize("name", REPORTS.own())
def test_every_report_takes_the_events_of_every_verb(name: str, verb: str) -> None:
    assert all(isinstance(line, str) for line in told(report_named(name).made(), RUNS, verb))
