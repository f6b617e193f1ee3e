"""Where the start folder stands on `sys.path`, and the import of a module that the user named.

Python puts the current folder first for `python -m` and for `PYTHONPATH=:...`. There the
`msgspec.py` of a folder from outside would run within any command. So the folder is taken off the
path at the start, and comes back when a target or plug-in of it is named. Then it stands first, as
for a script: a user's own package `agents` is not that of openai-agents. But names of the standard
library and of the harness are looked for elsewhere before, and so is what installed packages
import.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType

OURS = frozenset(
    {"anthropic", "anyio", "click", "h11", "harness", "httpx", "hypothesis", "jinja2", "msgspec"}
    | {"_pytest", "jsonschema_rs", "pluggy", "pytest", "regex", "respx", "time_machine", "vcr"}
    | {"_time_machine", "yaml"}
)
"""The modules that the harness is made of: no file of the start folder replaces one."""


_SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of the harness's package: it stays on the path."""

_SAFE = "PYTHONSAFEPATH"


def leave_start_folder() -> None:
    """Take the current folder off the path, in each form in which Python may have put it there."""
    sys.path[:] = _without(os.getcwd())


def _without(folder: str) -> list[str]:
    same = {os.path.realpath(folder)} - {_SOURCES}
    return [entry for entry in sys.path if os.path.realpath(entry or os.curdir) not in same]


@contextmanager
def outside_start_folder() -> Iterator[None]:
    """Start a Python that does not find the modules of the start folder.

    multiprocessing starts its processes by `python -c`, which puts the current folder first, and
    gives them the path of this one. In the new process `restore_safe_path` undoes the variable,
    which is not for the programs that an agent starts.
    """
    path, safe = list(sys.path), safe_path()
    sys.path[:] = _without(os.getcwd())
    for finder in sys.meta_path:
        if isinstance(finder, _InstalledFirst):
            sys.path[:] = _without(finder.folder)
    os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        sys.path[:] = path
        restore_safe_path(safe)


def safe_path() -> str | None:
    """The value of PYTHONSAFEPATH that the user gave; None without one."""
    return os.environ.get(_SAFE)


def restore_safe_path(safe: str | None) -> None:
    """Give PYTHONSAFEPATH the value that the user gave it."""
    os.environ.pop(_SAFE, None)
    if safe is not None:
        os.environ[_SAFE] = safe


def import_from(folder: str, name: str) -> ModuleType:
    """Import a module with a folder first on the path.

    The folder stays on the path, because user code imports late; a failed import removes it.
    """
    added = sys.path[:1] not in ([""], [folder])
    if added:
        sys.path.insert(0, folder)
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, _InstalledFirst)]
    place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else 0
    # Behind the finders of built-in modules.
    sys.meta_path.insert(place, _InstalledFirst(folder, name))
    try:
        return importlib.import_module(name)
    except BaseException:
        if added:
            sys.path.remove(folder)
        raise


class _InstalledFirst:
    """Finds modules without the start folder, for all code but the folder's own.

    The harness and the packages that it uses import late, and a `pydantic.py` of the folder is not
    what they mean. What is not installed is left to the next finder: a framework may import a
    user's `settings` by its name.
    """

    def __init__(self, folder: str, named: str) -> None:
        self.folder, self._named = folder, named.partition(".")[0]

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module outside of the folder; None where the folder comes first, and without one.

        Raises ModuleNotFoundError for a part of the standard library that this platform lacks:
        subprocess asks for `msvcrt`, and must not get a file of the folder.
        """
        is_standard = name in sys.stdlib_module_names
        if path is not None or not (is_standard or name in OURS or self._asks_for_installed(name)):
            return None
        found = PathFinder.find_spec(name, _without(self.folder), target)
        if found is None and is_standard:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found

    def _asks_for_installed(self, name: str) -> bool:
        """Whether installed code imports, and not the folder's own or `import_from`."""
        if name == self._named:
            return False
        frame: FrameType | None = sys._getframe(2)
        while frame and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        file = frame.f_code.co_filename if frame else ""
        is_inside = file.startswith(os.path.join(self.folder, "")) and not _PACKAGES.search(file)
        return os.path.isabs(file) and not is_inside


_PACKAGES = re.compile(r"[/\\](site|dist)-packages[/\\]")
"""Installed packages may stand in the folder too, in its virtual environment."""


def shadowed_name(error: BaseException, folder: str) -> str:
    """What an error of an import says of a module of the folder that another one comes before.

    "" where the error has another cause.
    """
    owner = getattr(error, "obj", None)  # an AttributeError tells the object, an ImportError a name
    named = owner.__name__ if isinstance(owner, ModuleType) else getattr(error, "name", None)
    top = str(named or "").partition(".")[0]
    return shadow_of(top, folder)


def shadow_of(top: str, folder: str) -> str:
    """What is said of a module of the folder with the name of another one; "" where it is none."""
    owner = "loop-harness" if top in OURS else "the standard library"
    if top not in OURS and top not in sys.stdlib_module_names:
        return ""
    for file in (f"{top}.py", os.path.join(top, "__init__.py")):
        if os.path.isfile(os.path.join(folder, file)):
            return f"{file} of this folder has a name of {owner}, which comes first: rename it"
    return ""
