"""The reports by name: a file of `media` each, and those of plug-ins.

A report is written in one of three ways. Most are a document: a function of all results at the end.
One that writes as results come is a function of one event; one that remembers is a class, made
without arguments and called with each event.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.loaded_plugins import Plugin, loaded, unknown_name
from harness.report import media
from harness.results.command_events import CommandFinished, CommandStarted, Event, Report
from harness.results.result import Result

DOCUMENT, STREAM = ["results", "command"], ["event"]
"""The parameters by which a report is known."""


class ReportPart(msgspec.Struct, frozen=True):
    """A report: its name, what it writes, and what it is made of."""

    name: str
    text: str
    source: Callable[..., Any]

    def made(self) -> Report:
        """Return it for one command."""
        if isinstance(self.source, type):
            return self.source()  # type: ignore[no-any-return]
        return Document(self.source) if _parameters(self.source) == DOCUMENT else self.source


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
    modules = (each.name for each in pkgutil.iter_modules(media.__path__))
    return {name: own_part(import_module(f"{media.__name__}.{name}")) for name in sorted(modules)}


def own_part(module: ModuleType) -> ReportPart:
    """Return the report of a file of `media`. Raises LookupError for a file without exactly one."""
    name = module.__name__.rpartition(".")[2]
    found = _parts(name, vars(module), module.__name__)
    if len(found) != 1:
        raise LookupError(f"{module.__name__}: not one function of {DOCUMENT} or class of {STREAM}")
    return msgspec.structs.replace(found[0], name=name)


def parts_of(plugin: Plugin) -> dict[str, ReportPart]:
    """Return the reports of a plug-in by their name in its module."""
    own = plugin.module.__name__
    return {
        part.name.rpartition(".")[2]: part
        for part in _parts(plugin.prefix, vars(plugin.module), own)
    }


def _parts(prefix: str, names: dict[str, object], module: str) -> list[ReportPart]:
    return [
        ReportPart(f"{prefix}.{name}", inspect.getdoc(found) or "", found)
        for name, found in sorted(names.items())
        if not name.startswith("_")
        and callable(found)
        and f"{getattr(found, '__module__', '')}.".startswith(f"{module}.")
        and _is_report(found)
    ]


def _is_report(found: Callable[..., Any]) -> bool:
    if isinstance(found, type):
        called = vars(found).get("__call__")
        return inspect.isfunction(called) and _parameters(called)[1:] == STREAM
    return inspect.isfunction(found) and _parameters(found) in (DOCUMENT, STREAM)


def _parameters(function: Callable[..., Any]) -> list[str]:
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount])
