"""Options that several verbs share, worded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])


def every_verb(function: _F) -> _F:
    """`--json` and `--debug`, which every verb has; `main` looks for `--debug` by itself."""
    debug = click.option(
        "--debug", is_flag=True, expose_value=False, help="Show the traceback of a failure."
    )
    as_json = click.option(
        "--json", "as_json", is_flag=True, help="Print JSON Lines on standard output."
    )
    return as_json(debug(function))


def jobs(function: _F) -> _F:
    """`-j N`: how many processes work at once."""
    option = click.option(
        "-j",
        "--jobs",
        type=click.IntRange(1, 256),
        default=1,
        show_default=True,
        metavar="N",
        help="Work in N processes; the order of the output stays.",
    )
    return option(function)


def seed(function: _F) -> _F:
    """`--seed N`: what a run draws from, in place of what its file says."""
    option = click.option(
        "--seed", type=click.IntRange(0), metavar="N", help="In place of the scenario's."
    )
    return option(function)


def world(function: _F) -> _F:
    """`--world`: virtual time or real time."""
    option = click.option(
        "--world",
        type=click.Choice(["simulate", "supervise"]),
        help="Default: simulate for Python agents, supervise for any other.",
    )
    return option(function)
