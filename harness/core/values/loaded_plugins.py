"""Which plug-ins this process has loaded: the one state that a process has.

A plug-in is a Python module of the user's own. The room `plugins` imports it at the start of a
command, a test session or a worker, and says so here. Each room that has parts (faults, checks,
formats, stores) recognises its own kind in the modules that stand here.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import NamedTuple


class Plugin(NamedTuple):
    """A loaded module, and the prefix by which scenarios and reports name its parts."""

    prefix: str
    module: ModuleType


_loaded: tuple[Plugin, ...] = ()


def loaded() -> tuple[Plugin, ...]:
    """The plug-ins of this process, in the order in which they were named."""
    return _loaded


def set_loaded(plugins: Iterable[Plugin]) -> None:
    """Replace the plug-ins of this process."""
    global _loaded
    _loaded = tuple(plugins)
