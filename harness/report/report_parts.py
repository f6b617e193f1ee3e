"""The reports by name: a file of `media` each, and those of plug-ins.

A report is written in one of three ways. Most are a document: a function of all results at the end.
One that writes as results come is a function of one event. One that remembers is a class, made
without arguments and called with each event.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any, cast

import msgspec

from harness.parts.loading import Kind, Plugin, positional
from harness.parts.part import Part, docstring_of
from harness.verdicts.command_events import CommandFinished, CommandStarted, Event, Report
from harness.verdicts.result import Result

DOCUMENT, STREAM = ("results", "command"), ("event",)
"""The parameters by which a report is known."""


class ReportPart(msgspec.Struct, frozen=True):
    """A report: the function or class that it is."""

    source: Callable[..., Any]

    def made(self) -> Report:
        """Return it for one command."""
        if isinstance(self.source, type):
            return cast(Report, self.source())
        is_document = positional(cast(FunctionType, self.source)) == DOCUMENT
        return Document(self.source) if is_document else self.source


class Collected:
    """A report that keeps all results of a command, and is written at its end."""

    def __init__(self) -> None:
        self._results, self._command = list[Result](), CommandStarted(verb="")

    def __call__(self, event: Event) -> Iterable[str]:
        """Keep a result; give the lines at the end."""
        match event:
            case CommandStarted():
                self._command = event
            case Result():
                self._results.append(event)
            case CommandFinished():
                return self.written(event)
        return ()

    def written(self, ended: CommandFinished) -> Iterable[str]:
        """Return the lines of all results."""
        raise NotImplementedError


class Document(Collected):
    """The report that a function of all results and the command writes at the end."""

    def __init__(self, write: Callable[[Sequence[Result], CommandStarted], Iterable[str]]) -> None:
        super().__init__()
        self._write = write

    def written(self, ended: CommandFinished) -> Iterable[str]:
        """Return what the function writes."""
        return self._write(self._results, self._command)


def _recognised(module: Plugin) -> dict[str, ReportPart]:
    """Return the reports of a module by the name of the function, of a class in snake case."""
    return {
        re.sub("(?<=.)([A-Z])", r"_\1", name).lower(): ReportPart(found)
        for name, found in module.public.items()
        if _is_report(found)
    }


def _is_report(found: object) -> bool:
    if inspect.isclass(found):
        called = inspect.getattr_static(found, "__call__", None)
        return inspect.isfunction(called) and positional(called)[1:] == STREAM
    return inspect.isfunction(found) and positional(found) in (DOCUMENT, STREAM)


REPORTS: Kind[ReportPart] = Kind(
    "report",
    "a report with `results, command` or `event`",
    _recognised,
    lambda name, part: Part(name, docstring_of(part.source)),
    folder="harness.report.media",
)
parts_of = REPORTS.parts_of


def report_named(name: str) -> ReportPart:
    """Return a report. Raises InputError for a name that does not exist."""
    return REPORTS.named(name, f"--report {name}", "no such report")
