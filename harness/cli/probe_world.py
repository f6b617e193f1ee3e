"""`--in-place`, and the copy in which probes play without it.

The world is entered before the configuration is read and plug-ins are loaded. So these come from
the copy as well, and what a plug-in shares with the agent is imported once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import click

from harness.core.values.errors import InputError
from harness.core.values.visible_text import visible_line

if TYPE_CHECKING:
    from harness.doctor import Probe
    from harness.scratch import ScratchWorld
    from harness.verdicts.result import Result

_F = TypeVar("_F", bound=Callable[..., Any])

_WORLD, _START = "harness.probe_world", "harness.start_folder"
_IN_PLACE = "harness.in_place"

NAMES_MOST = 8
"""The most places that are named; the rest is counted."""

flag = click.option("--in-place", is_flag=True,
                    help="Play in this folder itself, with your home folder: not in a copy.",
                    )  # fmt: skip
"""`--in-place`, for a verb that plays probes."""


def in_place(function: _F) -> _F:
    """Add `--in-place`; without it the verb plays in a copy of the start folder."""

    @wraps(function)
    def apart(*args: Any, in_place: bool, **named: Any) -> Any:
        from harness.scratch import entered, scratch_world

        meta = click.get_current_context().meta
        meta[_START] = Path.cwd()  # a target may change the folder of the process
        meta[_IN_PLACE] = in_place
        if in_place or not _is_of_folder(named["target"]):
            return function(*args, **named)
        with scratch_world(Path.cwd()) as world:
            meta[_WORLD] = world
            tell(world.notes)
            named["store"] = named["store"].replace(str(world.source), str(world.folder))
            with entered(world):
                try:
                    return function(*args, **named)
                except InputError as error:
                    raise InputError(world.told(error.what), world.told(error.place)) from error

    return cast(_F, flag(apart))


class Stage:
    """Where `init` plays: in a copy, made when it is first needed, or in the folder itself."""

    def __init__(self, folder: Path, *, in_place: bool) -> None:
        self._folder, self._in_place, self._held = folder, in_place, ExitStack()
        self._world: ScratchWorld | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def world(self) -> ScratchWorld | None:
        """Return the copy, after telling what it does not cover; None for the folder itself.

        Raises InputError for a project that is too large.
        """
        from harness.scratch import scratch_world

        if self._world is None and not self._in_place:
            self._world = self._held.enter_context(scratch_world(self._folder))
            tell(self._world.notes)
        return self._world

    def renewed(self) -> ScratchWorld | None:
        """Return a fresh copy, without what the agent kept in an earlier run."""
        world = self._world
        if world:
            world.renew()
        return world or self.world()

    def changed(self) -> list[str]:
        """Return what changed outside of the copy since the last call."""
        return few(self._world.changed()) if self._world else []


def _is_of_folder(target: str) -> bool:
    """Whether a target may be of the folder: a server runs elsewhere, and so do known programs."""
    from harness.targets.spec import is_server, known_names

    return not is_server(target) and target.partition("?")[0] not in known_names()


def tell(notes: Sequence[str]) -> None:
    """Print what the copy does not cover."""
    from harness.cli import terminal

    for note in few(notes):
        terminal.note(f"attention: {note}")


def few(lines: Sequence[str]) -> list[str]:
    """Return the first lines, and how many more there are."""
    more = len(lines) - NAMES_MOST
    return [*lines[:NAMES_MOST], *([f"and {more} more"] if more > 0 else [])]


def user_folder() -> Path:
    """Return the folder in which the user started the command."""
    found: Path = click.get_current_context().meta[_START]
    return found


def _world() -> ScratchWorld | None:
    return click.get_current_context().meta.get(_WORLD)


def played_as(target: str) -> str:
    """Return a target as its probes play it: with `--in-place` not in a copy for each run."""
    is_meant = click.get_current_context().meta.get(_IN_PLACE) and _is_of_folder(target)
    if not is_meant or target.startswith(("process:", "acp:", "http")):
        return target
    return f"{target}{'&' if '?' in target else '?'}folder=shared"


def told(text: str) -> str:
    """Return a text with the paths of the user's folder, not of its copy."""
    return world.told(text) if (world := _world()) else text


def told_result(result: Result) -> Result:
    """Return a result with the paths of the user's folder, not of its copy."""
    from harness.redaction.encoder import with_texts

    return with_texts(result, told)


def outside(probes: Sequence[Probe]) -> list[str]:
    """Return what the probes changed or met outside of their copy, in words."""
    world = _world()
    met = dict.fromkeys(
        visible_line(f"a connection to {socket}, which was refused")
        for probe in probes
        for socket in (probe.trace.ended.live_sockets if probe.trace.ended else ())
    )
    return [*(few(world.changed()) if world else ()), *few(list(met))]
