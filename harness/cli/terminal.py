"""Standard output for results, standard error for progress; colour only on a terminal.

A reader that stops early (`| head`) does not change the verdict: the rest is discarded. All text
passes through `out` and `note`, which escape control characters except our own colours. Under
GitHub Actions they escape workflow commands; only `annotate` prints those.
"""

from __future__ import annotations

import codecs
import os
import re
import secrets
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache, partial
from time import monotonic
from typing import Any, TextIO

import click

from harness.core.values.visible_text import ESCAPES, visible, without_commands
from harness.redaction.encoder import Encoded, shown
from harness.report.run_report import Paint, Style, plain

_COLOURS: dict[str, dict[str, str | bool]] = {
    "pass": {"fg": "green"},
    "fail": {"fg": "red"},
    "unknown": {"fg": "yellow"},
    "not_applicable": {"fg": "cyan"},
    "strong": {"bold": True},
    "faint": {"dim": True},
}


_RESULTS: ContextVar[TextIO | None] = ContextVar("results", default=None)
"""The stream of results while user code may print on standard output; else None."""


@contextmanager
def standard_output_is_ours() -> Iterator[None]:
    """In the block only `out` writes on standard output.

    Descriptor 1 leads to standard error: for imported code, its threads and children, and for the
    workers, which inherit it. So nothing that a target prints can look like a result.
    """
    if _RESULTS.get() is not None or not _is_descriptor_1(sys.stdout):
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    with open(kept, "w", encoding=sys.stdout.encoding, errors=ESCAPES) as results:
        before = _RESULTS.set(results)
        try:
            yield
        finally:
            _RESULTS.reset(before)
            for stream in (results, sys.stdout):
                with suppress(OSError, ValueError):  # the reader may have gone
                    stream.flush()
            os.dup2(kept, 1)


def _is_descriptor_1(stream: Any) -> bool:
    """Whether a stream is the standard output of the process, and not one of a test."""
    try:
        os.fstat(2)
    except OSError:
        return False
    return descriptor(stream) == 1


def descriptor(stream: Any) -> int | None:
    """Return the descriptor of a stream; None for one in memory, or one that is closed."""
    try:
        return int(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return None


def results() -> TextIO:
    """Return the stream of results."""
    return _RESULTS.get() or sys.stdout


_TOKEN = secrets.token_hex(8)
"""Marks our own colours until they are printed; no text from outside can contain it."""

_COLOUR = re.compile(rf"{_TOKEN}<(\w*)>")
_AROUND_COLOURS = re.compile(rf"({_TOKEN}<\w*>)")


def out(text: str) -> None:
    """Print a line of the result. JSON is in UTF-8, or in ASCII if the stream has another code."""
    if isinstance(text, Encoded) and not _speaks_utf8():
        text = Encoded(text.encode("ascii", ESCAPES).decode())
    with _discarding_after_the_reader():
        print(_COLOUR.sub(_code, _shown(text)), file=results(), flush=True)


def document(data: bytes) -> None:
    """Print a file of text, in UTF-8 in every terminal, because XML names its encoding itself."""
    text = _shown(Encoded(data.decode().rstrip("\n"))) + "\n"
    with _discarding_after_the_reader():
        if (raw := getattr(results(), "buffer", None)) is None:
            print(text, end="", file=results(), flush=True)
            return
        results().flush()
        raw.write(text.encode())
        raw.flush()


@contextmanager
def _discarding_after_the_reader() -> Iterator[None]:
    """Discard what is printed once the reader of a pipe has gone."""
    _clear()
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), results().fileno())


def _speaks_utf8() -> bool:
    try:
        return codecs.lookup(results().encoding).name == "utf-8"
    except (AttributeError, TypeError, LookupError):  # a stream in memory has no encoding
        return True


def note(text: str) -> None:
    """Print a line on standard error."""
    annotate(_shown(text))


def annotate(command: str) -> None:
    """Print a workflow command of GitHub Actions, which reads standard error too."""
    _clear()
    if sys.stderr is not None:
        print(visible(command), file=sys.stderr)


def _shown(text: str) -> str:
    """The text without secrets and control characters; our colours end a word."""
    if not isinstance(text, Encoded):
        text = "".join(map(shown, _AROUND_COLOURS.split(text)))
    return without_commands(visible(text)) if is_github() else visible(text)


def is_github() -> bool:
    """Whether this is a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def width() -> int:
    """Return the columns of the terminal; 100 without one."""
    return shutil.get_terminal_size((100, 24)).columns


def paint() -> Paint:
    """Return a painter with colour for a terminal, without colour for anything else."""
    has_none = "NO_COLOR" in os.environ or _is_dumb() or not _is_terminal(results())
    return plain if has_none else _coloured


def _coloured(style: Style, text: str) -> str:
    return f"{_TOKEN}<{style}>{text}{_TOKEN}<>"


def _code(found: re.Match[str]) -> str:
    settings = _COLOURS.get(found[1], {"reset": True})
    return click.style("", **{"reset": False, **settings})  # type: ignore[arg-type]


def _is_terminal(stream: object) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)())


def _is_dumb() -> bool:
    return os.environ.get("TERM") == "dumb"


LINE_EVERY_S, DRAW_EVERY_S = 10.0, 0.1
"""The interval of a line of progress: in a log, and on a terminal."""


class _ProgressLine:
    """A line on standard error: one that changes on a terminal, else a line every ten seconds.

    It is cleared before any other output. A log gets no line in the first ten seconds.
    """

    def __init__(self, words: Callable[[], str]) -> None:
        self._words = words
        self.is_live = _is_terminal(sys.stderr) and not _is_dumb()
        self._told, self._is_drawn = monotonic(), False

    def tell(self) -> None:
        """Tell the state, unless it was told just before."""
        now = monotonic()
        if now - self._told >= (DRAW_EVERY_S if self.is_live else LINE_EVERY_S):
            self._told = now
            self.draw() if self.is_live else note(self._words())

    def draw_soon(self) -> None:
        """Tell the state on a terminal alone."""
        if self.is_live:
            self.tell()

    def draw(self) -> None:
        """Draw the line on a terminal."""
        if self.is_live:
            sys.stderr.write(f"\r\x1b[K{self._words()[: width() - 1]}")
            sys.stderr.flush()
            self._is_drawn = True

    def clear(self) -> None:
        """Clear the line before other output."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_drawn = False


_SHOWN: ContextVar[_ProgressLine | None] = ContextVar("shown", default=None)
"""The line of progress that is shown now, if any."""


@contextmanager
def progress_line(
    words: Callable[[], str], *, always: bool = False
) -> Iterator[Callable[[], None]]:
    """Show what `words` says in the block; the yielded function is called at each step.

    `always`: a log gets its lines while no step ends, too; a single one may take long.
    """
    line = _ProgressLine(words)
    before = _SHOWN.set(line)
    line.draw()
    ended = threading.Event()
    if always and not line.is_live:
        from harness.processes.thread_times import BackgroundThread

        BackgroundThread(target=partial(_tick, words, ended), daemon=True).start()
    try:
        yield line.draw_soon if always else line.tell
    finally:
        ended.set()
        line.clear()
        _SHOWN.reset(before)


def _tick(words: Callable[[], str], ended: threading.Event) -> None:
    while not ended.wait(LINE_EVERY_S):
        note(words())


@contextmanager
def progress(total: int | Callable[[], int], what: str) -> Iterator[Callable[[], None]]:
    """Show a count in the block; a function as `total` is called when it is first printed."""
    counted: Callable[[], int] = lru_cache(maxsize=1)(total) if callable(total) else lambda: total
    ended, begun_s = 0, monotonic()

    def words() -> str:
        return f"{ended} of {counted()} {what}, {int(monotonic() - begun_s)} s"

    with progress_line(words) as tell:

        def advance() -> None:
            nonlocal ended
            ended += 1
            tell()

        yield advance


def _clear() -> None:
    if bar := _SHOWN.get():
        bar.clear()
