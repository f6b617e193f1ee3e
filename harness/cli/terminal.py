"""Standard output for results, standard error for progress; colour only on a terminal.

A reader that leaves early (`| head`) leaves the verdict unchanged: the rest is discarded. All text
goes out by `out` and `note`, which write control characters out: only our own colours are obeyed.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from harness.core.values.visible_text import visible
from harness.report.run_report import Paint, Style, plain

_COLOURS: dict[str, dict[str, str | bool]] = {
    "pass": {"fg": "green"},
    "fail": {"fg": "red"},
    "unknown": {"fg": "yellow"},
    "not_applicable": {"fg": "cyan"},
    "strong": {"bold": True},
    "faint": {"dim": True},
}


_TOKEN = secrets.token_hex(8)
"""What marks our own colours until they go out; no text of strangers can hold it."""

_COLOUR = re.compile(rf"{_TOKEN}<(\w*)>")


def out(text: str) -> None:
    """Print a line of the result."""
    try:
        print(_COLOUR.sub(_code, visible(text)), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def note(text: str) -> None:
    """Print a line that is no result."""
    if sys.stderr is not None:
        print(visible(text), file=sys.stderr)


def width() -> int:
    """The columns of the terminal; 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns


def paint() -> Paint:
    """Colour for a terminal, none for anything else."""
    dumb = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return plain if dumb or not _is_terminal(sys.stdout) else _coloured


def _coloured(style: Style, text: str) -> str:
    return f"{_TOKEN}<{style}>{text}{_TOKEN}<>"


def _code(found: re.Match[str]) -> str:
    settings = _COLOURS.get(found[1], {"reset": True})
    return click.style("", **{"reset": False, **settings})  # type: ignore[arg-type]


def _is_terminal(stream: object) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)())


def has_progress() -> bool:
    """Whether a bar is shown: standard error is a terminal, and the results go elsewhere."""
    return _is_terminal(sys.stderr) and not _is_terminal(sys.stdout)


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[], None]]:
    """A bar on standard error, where there is one to be shown."""
    if not has_progress():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
