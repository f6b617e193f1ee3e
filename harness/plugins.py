"""The loader of plug-ins: modules of the user with faults, checks, formats or stores.

Only the user names a module: by configuration, entry point (group `loop_harness`), flag or
`load_plugins`. Scenarios and recordings never cause an import. A public function must be a part of
exactly one kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.configuration import Configuration, load_configuration, origins
from harness.core.values.errors import InputError
from harness.parts.loading import Kind, Plugin, authors_mistakes, loaded, mistake_place, set_loaded

ENTRY_POINTS = "loop_harness"

KINDS = {
    "fault": "harness.faults:FAULTS",
    "check": "harness.checks.judge:CHECKS",
    "format": "harness.recordings.recognition:FORMATS",
    "store": "harness.stores.opening:READERS",
    "report": "harness.report.report_parts:REPORTS",
}
"""The kinds of parts that a plug-in may bring, and where the room of each says what it is."""


def kinds() -> dict[str, Kind[Any]]:
    """The kinds of parts, by the word that the command `list` has for one of them."""
    homes = {name: place.split(":") for name, place in KINDS.items()}
    return {name: getattr(import_module(home), const) for name, (home, const) in homes.items()}


def load_plugins(*modules: str) -> tuple[Plugin, ...]:
    """Load these modules beside the plug-ins of this process; return all loaded plug-ins.

    A loaded module is skipped. Raises InputError for a module that cannot be imported, or whose
    prefix or parts are invalid; then nothing is loaded.
    """
    return _load(modules, Path.cwd())


def _load(modules: Sequence[str], folder: Path) -> tuple[Plugin, ...]:
    known = {plugin.module.__name__ for plugin in loaded()}
    names = [name for name in dict.fromkeys(modules) if name not in known]
    if not names:
        return loaded()
    plugins = [*loaded()]
    for name in names:
        module = _imported(name, folder)
        plugin = Plugin(getattr(module, "PREFIX", name.rpartition(".")[2]), module)
        _check_prefix(plugin, plugins)
        _check_parts(plugin)
        plugins.append(plugin)
    set_loaded(tuple(plugins))
    return loaded()


def configured(
    modules: Sequence[str] = (),
    *,
    config: bool = True,
    folder: Path | None = None,
    own: bool = True,
) -> Configuration:
    """The configuration of the start folder. Its plug-ins are loaded, then the installed ones, then
    `modules`.

    `folder` defaults to the current folder. With `config=False` only `modules` are loaded. Without
    `own` the plug-ins that it names are not loaded: the folder may come from outside. Raises
    InputError like `load_plugins`, and for an invalid configuration.
    """
    start = folder or Path.cwd()
    if not config:
        _load(modules, start)
        return Configuration()
    found = load_configuration(start)
    installed = (point.value for point in entry_points(group=ENTRY_POINTS))
    try:
        _load(found.plugins if own else (), start)
    except InputError as error:
        raise error.within(origins(start).get("plugins", "")) from None
    _load((*installed, *modules), start)
    return found


def loaded_modules() -> tuple[str, ...]:
    """The module names of the loaded plug-ins, for a worker."""
    return tuple(plugin.module.__name__ for plugin in loaded())


def _imported(name: str, folder: Path) -> ModuleType:
    """Import a module of the start folder, or an installed one, like a target."""
    place = f"plug-in {name!r}"
    if not re.fullmatch(r"\w+(\.\w+)*", name) or name.endswith(".py"):
        raise InputError("a module is named, as in `my_parts` or `my_package.parts`", place)
    from harness.import_path import import_from

    try:
        return import_from(str(folder), name)
    except (Exception, SystemExit) as error:
        words = " ".join(str(error).split())
        what = f"cannot be imported: {type(error).__name__}: {words}{_frame(error, name)}"
        raise InputError(what, place) from error


def _frame(error: BaseException, name: str) -> str:
    """Return the place in the user's code that raised, as ` (FILE:LINE)`; "" for a missing
    module."""
    found = mistake_place(error, name.partition(".")[0])
    return f" ({_shown(found[0])}:{found[1]})" if found else ""


def _shown(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _check_prefix(plugin: Plugin, others: Sequence[Plugin]) -> None:
    """Raise InputError for a prefix that is invalid or taken."""
    name, prefix = plugin.module.__name__, plugin.prefix
    place = f"plug-in {name!r}"
    if not isinstance(prefix, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", prefix):
        what = f"the prefix {prefix!r} is not a lower-case name: set another one as PREFIX"
        raise InputError(what, place)
    other = next((other for other in others if other.prefix == prefix), None)
    if other is not None:
        what = f"the prefix {prefix!r} is that of the plug-in {other.module.__name__!r} too"
        raise InputError(f"{what}: set another one as PREFIX", place)
    ours = (name for kind in ("fault", "check") for name in kinds()[kind].own())
    if prefix in {name.partition(".")[0] for name in ours}:
        what = f"the prefix {prefix!r} is one of loop-harness: set another one as PREFIX"
        raise InputError(what, place)


def _check_parts(plugin: Plugin) -> None:
    place = f"plug-in {plugin.module.__name__!r}"
    recognised: dict[str, list[str]] = {name: [] for name in plugin.functions}
    for kind in kinds().values():
        try:
            with authors_mistakes(plugin.module.__name__):
                parts = kind.parts_of(plugin)
        except InputError as error:
            raise InputError(str(error), place) from None
        for name in parts:
            recognised.setdefault(name, []).append(kind.name)
    if not recognised:
        raise InputError("it has no public function, so it has no part", place)
    for name, found in recognised.items():
        if len(found) == 1:
            continue
        code = plugin.functions[name].__code__
        at = f"{place}: {name} ({_shown(code.co_filename)}:{code.co_firstlineno})"
        if not found:
            signs = ", ".join(kind.sign for kind in kinds().values())
            what = f"a function of no kind: {signs}; a helper's name begins with `_`"
            raise InputError(what, at)
        raise InputError(f"a part of more than one kind: {', '.join(found)}", at)
