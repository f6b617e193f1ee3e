"""The plug-ins of this process: user modules that bring parts.

This is the only process-wide plug-in state. `harness.plugins` sets it once, when a command, a test
session or a worker starts; each room finds its own parts in the modules.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from types import FunctionType, ModuleType

import msgspec

from harness.core.values.errors import nearest


class Plugin(msgspec.Struct, frozen=True):
    """A module that brings parts; their names are `prefix.name`."""

    prefix: str
    module: ModuleType

    @property
    def functions(self) -> dict[str, FunctionType]:
        """The public functions by name, in the order of the names.

        A function counts when the module, or a module below it, defines it: a package may gather
        the parts of its own modules.
        """
        own = self.module.__name__
        return {
            name: function
            for name, function in sorted(vars(self.module).items())
            if isinstance(function, FunctionType)
            and not name.startswith("_")
            and f"{function.__module__}.".startswith(f"{own}.")
        }


_ALIKE = 0.75
"""The similarity of two prefixes from which one counts as a typing error of the other."""

_loaded: tuple[Plugin, ...] = ()


def loaded() -> tuple[Plugin, ...]:
    """The plug-ins of this process, in the order in which they were named."""
    return _loaded


def set_loaded(plugins: tuple[Plugin, ...]) -> None:
    """Replace the plug-ins of this process."""
    global _loaded
    _loaded = plugins


def unknown_name(name: str, known: Iterable[str]) -> str:
    """The end of a message for an unknown name: the nearest names, and the missing plug-in if any.

    The name of a plug-in's part begins with the prefix of the plug-in. If no known name has this or
    a similar prefix, the message says that no plug-in with that prefix is loaded.
    """
    names = list(known)
    hint = nearest(name, names)
    prefix, dot, _ = name.partition(".")
    prefixes = {one.partition(".")[0] for one in names} | {one.prefix for one in loaded()}
    if not dot or get_close_matches(prefix, prefixes, n=1, cutoff=_ALIKE):
        return hint
    how = "--plugin MODULE, or `plugins` in [tool.harness]"
    return f"{hint}; no plug-in with the prefix {prefix!r} is loaded ({how})"
