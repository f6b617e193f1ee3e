"""The reports by name: a file of `media` each, and those of plug-ins.

A report is written in one of three ways. Most are a document: a function of all results at the end.
One that writes as results come is a function of one event; one that remembers is a class, made
without arguments and called with each event.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, cast

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.loaded_plugins import Plugin, loaded, unknown_name
from harness.report import media
from harness.results.command_events import CommandFinished, CommandStarted, Event, Report
from harness.results.result import Result

DOCUMENT, STREAM = ["results", "command"], ["event"]
"""The parameters by which a report is known."""


class ReportPart(msgspec.Struct, frozen=True):
    """A report: what it writes, and the function or class that it is."""

    text: str
    source: Callable[..., Any]

    def made(self) -> Report:
        """Return it for one command."""
        made = self.source() if isinstance(self.source, type) else self.source
        is_document = inspect.isfunction(self.source) and _parameters(self.source) == DOCUMENT
        return Document(self.source) if is_document else cast(Report, made)


class Document:
    """The report that a function of all results and the command writes at the end."""

    def __init__(self, write: Callable[[Sequence[Result], CommandStarted], Iterable[str]]) -> None:
        self._write, self._results, self._command = write, list[Result](), CommandStarted(verb="")

    def __call__(self, event: Event) -> Iterable[str]:
        """Keep a result; give the lines at the end."""
        match event:
            case CommandStarted():
                self._command = event
            case Result():
                self._results.append(event)
            case CommandFinished():
                return self._write(self._results, self._command)
        return ()


def reports() -> dict[str, ReportPart]:
    """Return every report by name, those of plug-ins too."""
    brought = {
        f"{plugin.prefix}.{name}": part
        for plugin in loaded()
        for name, part in parts_of(plugin).items()
    }
    return dict(_own()) | brought


def report_named(name: str) -> ReportPart:
    """Return a report. Raises InputError for a name that does not exist."""
    known = reports()
    if name not in known:
        raise InputError(f"no such report; {unknown_name(name, known)}", f"--report {name}")
    return known[name]


@cache
def _own() -> dict[str, ReportPart]:
    names = (each.name for each in pkgutil.iter_modules(media.__path__))
    return dict(own_part(import_module(f"{media.__name__}.{name}")) for name in sorted(names))


def own_part(module: ModuleType) -> tuple[str, ReportPart]:
    """Return the report of a file of `media`. Raises LookupError for a file without exactly one."""
    found = parts_of(Plugin("", module))
    if len(found) != 1:
        raise LookupError(f"{module.__name__}: not one function of {DOCUMENT} or class of {STREAM}")
    return next(iter(found.items()))


def parts_of(plugin: Plugin) -> dict[str, ReportPart]:
    """Return the reports of a plug-in by their name: that of a function, of a class in snake
    case."""
    return {
        re.sub("(?<=.)([A-Z])", r"_\1", name).lower(): ReportPart(
            inspect.getdoc(found) or "", found
        )
        for name, found in sorted(vars(plugin.module).items())
        if not name.startswith("_")
        and f"{getattr(found, '__module__', '')}.".startswith(f"{plugin.module.__name__}.")
        and _is_report(found)
    }


def _is_report(found: object) -> bool:
    if inspect.isclass(found):
        called = vars(found).get("__call__")
        return inspect.isfunction(called) and _parameters(called)[1:] == STREAM
    return inspect.isfunction(found) and _parameters(found) in (DOCUMENT, STREAM)


def _parameters(function: FunctionType) -> list[str]:
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount])
