"""`--require-reached NAME`: the command fails if no run reached a check, fault, moment or mark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from harness.verdicts.reach import Reach

_F = TypeVar("_F", bound=Callable[..., Any])
_KEY = "harness.require_reached"


def require_reached(function: _F) -> _F:
    """Add the option, for a verb that ends with a reach."""
    option = click.option(
        "--require-reached", multiple=True, metavar="NAME", expose_value=False, callback=_kept,
        help="Fail unless a check, fault or moment of this name was reached ('http.*' is any), or "
        "the agent's own mark:NAME.",
    )  # fmt: skip
    return option(function)


def _kept(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> None:
    context.meta[_KEY] = given


def _required() -> tuple[str, ...]:
    found: tuple[str, ...] = click.get_current_context().meta.get(_KEY, ())
    return found


def check_required() -> None:
    """Raise InputError for a name that no check, rule, fault or moment has.

    A verb calls it when its plug-ins are loaded, and before it plays.
    """
    from harness.verdicts.reach import check_names

    if names := _required():
        check_names(names)


def status_with(reach: Reach, status: int) -> int:
    """Return the exit status of a command with this reach; say what it did not reach."""
    from harness.cli import terminal

    missing = reach.missing(_required())
    for name in missing:
        terminal.note(f"never reached, and required: {name}")
    return 1 if missing else status
