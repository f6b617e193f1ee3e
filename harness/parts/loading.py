"""The one loader: the parts of a kind are found in the files of its folder, and in plug-ins.

A room says once what its kind of part is (`Kind`). A file in the folder of the room is then a part,
and so is a public function of a plug-in; both are recognised by the same function of the room, so
nothing registers. The plug-ins are the only state of the process: `harness.plugins` sets them when
a command, a test session or a worker starts.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module as import_module
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, Generic, TypeVar

import msgspec

from harness.core.values.errors import InputError, nearest
from harness.parts.part import Part

T = TypeVar("T")

LAST = 1_000
"""The place of a part that says none: parts stand by their place, and then by their name."""

SHARED = "shared"
"""The name of a folder among parts that holds what they share, and no part."""


class Plugin(msgspec.Struct, frozen=True):
    """A module that brings parts. Their names are `prefix.name`, or `name` with the prefix ""."""

    prefix: str
    module: ModuleType

    @property
    def public(self) -> dict[str, Any]:
        """The public functions and classes by name, in the order of the names.

        One counts when the module, or a module below it, defines it: a package may gather the parts
        of its own modules.
        """
        own = self.module.__name__
        return {
            name: found
            for name, found in sorted(vars(self.module).items())
            if isinstance(found, (FunctionType, type))
            and not name.startswith("_")
            and f"{found.__module__}.".startswith(f"{own}.")
        }

    @property
    def functions(self) -> dict[str, FunctionType]:
        """The functions among them."""
        return {name: one for name, one in self.public.items() if isinstance(one, FunctionType)}

    def full(self, name: str) -> str:
        """The full name of a part."""
        return f"{self.prefix}.{name}" if self.prefix else name


def positional(function: FunctionType) -> tuple[str, ...]:
    """The names of a function's positional parameters, by which most kinds know their parts."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


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


@contextmanager
def authors_mistakes(module: str) -> Iterator[None]:
    """Raise InputError, with file and line, for what a part does wrong while it is loaded."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        found = mistake_place(error, module)
        at = f" ({found[0]}:{found[1]})" if found else ""
        what = f"cannot be loaded: {type(error).__name__}: {' '.join(str(error).split())}{at}"
        raise InputError(what, f"module {module!r}") from error


def mistake_place(error: BaseException, module: str) -> tuple[str, int] | None:
    """The file and the line of a module, or of one below it, that raised; None if neither did."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 1
    found, step = None, error.__traceback__
    while step:
        frame = step.tb_frame
        if f"{frame.f_globals.get('__name__')}.".startswith(f"{module}."):
            found = frame.f_code.co_filename, step.tb_lineno
        step = step.tb_next
    return found


def files_of(package: str, *, layers: bool = False) -> Iterator[ModuleType]:
    """The modules of a folder whose files are parts, in the order of their names.

    With `layers` the folders in it hold parts too, except `shared`.
    """
    path = import_module(package).__path__
    for found in pkgutil.iter_modules(path, f"{package}."):
        if not found.ispkg:
            with authors_mistakes(found.name):
                module = import_module(found.name)
            yield module
        elif layers and found.name.rpartition(".")[2] != SHARED:
            yield from files_of(found.name, layers=True)


def folders_of(package: str) -> list[str]:
    """The names of the packages in a folder whose folders are parts, except `shared`."""
    found = pkgutil.iter_modules(import_module(package).__path__, f"{package}.")
    return [one.name for one in found if one.ispkg and one.name.rpartition(".")[2] != SHARED]


class Kind(Generic[T]):
    """A kind of part: where its files are, how a function is recognised as one, and what it says.

    `recognised` gives the parts of a module by name without a prefix. `described` gives the
    description of a part. `sign` says in words how a function is recognised. `folder` is the
    package of the files. With `layers` each file or folder in it is the prefix of its parts, as the
    module of a plug-in is. `others` are parts without a function. `key` sorts our own parts.
    `guests` recognises the parts of a plug-in where more is asked of them than of ours, which a
    test has checked. With `guests_first` they stand before our own.
    """

    def __init__(
        self,
        name: str,
        sign: str,
        recognised: Callable[[Plugin], Mapping[str, T]],
        described: Callable[[str, T], Part],
        *,
        folder: str,
        layers: bool = False,
        others: Callable[[], Mapping[str, T]] = dict,
        guests: Callable[[Plugin], Mapping[str, T]] | None = None,
        key: Callable[[str, T], Any] = lambda name, _: name,
        guests_first: bool = False,
    ) -> None:
        self.name, self.sign, self._recognised = name, sign, recognised
        self.parts_of = guests or recognised
        self.folder, self.layers = folder, layers
        self._described, self._others, self._key = described, others, key
        self._guests_first = guests_first
        self._known: dict[tuple[Plugin, ...], Mapping[str, T]] = {}

    def own(self) -> Mapping[str, T]:
        """Our own parts by name."""
        return self._of(())

    def all(self) -> Mapping[str, T]:
        """The parts by full name: our own, and those of the plug-ins of this process."""
        return self._of(loaded())

    def named(self, name: str, place: str = "", what: str = "") -> T:
        """The part of a name. Raises InputError, with the nearest names, for an unknown one."""
        known = self.all()
        if name not in known:
            said = (what or f"there is no {self.name} {{!r}}").format(name)
            raise InputError(f"{said}; {unknown_name(name, known)}", place)
        return known[name]

    def parts(self) -> dict[str, Part]:
        """The description of each part, by full name."""
        return {name: self.part(name) for name in self.all()}

    def part(self, name: str) -> Part:
        """The description of the part of a name."""
        prefix = name.rpartition(".")[0]
        home = next((one.module.__name__ for one in loaded() if one.prefix == prefix), "")
        return msgspec.structs.replace(self._described(name, self.all()[name]), plugin=home)

    def _of(self, plugins: tuple[Plugin, ...]) -> Mapping[str, T]:
        if plugins not in self._known:
            own = self._known.get(()) or MappingProxyType(dict(sorted(self._ours(), key=self._at)))
            guests = {
                plugin.full(name): part
                for plugin in plugins
                for name, part in self.parts_of(plugin).items()
            }
            both = {**guests, **own} if self._guests_first else {**own, **guests}
            self._known[()], self._known[plugins] = own, MappingProxyType(both)
        return self._known[plugins]

    def _at(self, item: tuple[str, T]) -> Any:
        return self._key(*item)

    def files(self) -> Iterator[Plugin]:
        """The files of the folder, each as the plug-in that it would be."""
        for module in files_of(self.folder, layers=self.layers):
            layer = module.__name__.removeprefix(f"{self.folder}.").partition(".")[0]
            yield Plugin(layer if self.layers else "", module)

    def _ours(self) -> Iterator[tuple[str, T]]:
        for file in self.files():
            with authors_mistakes(file.module.__name__):
                found = self._recognised(file)
            yield from ((file.full(name), part) for name, part in found.items())
        yield from self._others().items()


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
