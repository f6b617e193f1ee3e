"""The command line: one file for each verb. Only this file turns errors into exit statuses.

0 passes, 1 is a finding, 2 unusable input, 3 unknown or a harness failure, 130 Ctrl-C, 143 SIGTERM.
Only `--debug` shows a traceback. Slow imports follow the installation of the signal handlers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from harness.cli.interrupts import Terminated, end_with, orderly_end
from harness.core.values.visible_text import ESCAPES

COMPLETE = "_HARNESS_COMPLETE"
"""The environment variable by which a shell asks for completion."""

INPUT, FAILURE, INTERRUPTED, TERMINATED = 2, 3, 130, 143


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The console script `harness`: run a verb and exit with its status."""
    if arguments is None:
        from harness.import_path import leave_start_folder

        leave_start_folder()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=ESCAPES)
    if arguments is None and (instruction := os.environ.get(COMPLETE)):
        from harness.cli.completion import complete

        sys.exit(complete(COMPLETE, instruction))
    words = [*(sys.argv[1:] if arguments is None else arguments)]  # `list` is a verb here
    with orderly_end():
        status = _guarded(words)
        if arguments is None:
            end_with(status)
            _leave_soon(status)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(status)


LEAVE_S = 3.0
"""The seconds that code of the user, imported by this process, has to end with it."""


def _leave_soon(status: int) -> None:
    """End this process after a while, although a thread or an `atexit` function of a target has no
    end."""
    import threading

    timer = threading.Timer(LEAVE_S, lambda: os._exit(status))
    timer.daemon = True
    timer.start()


def _guarded(words: list[str]) -> int:
    """Return the exit status of a verb; a signal may end it early."""
    try:
        return _status(words)
    except Terminated:
        return _stopped("terminated", TERMINATED)
    except KeyboardInterrupt:
        return _stopped("interrupted", INTERRUPTED)


def _stopped(how: str, status: int) -> int:
    """Print how the command ended, and remove the temporary files of stopped workers."""
    from harness.files.owner import remove_dead

    remove_dead()
    return _say(f"{how}: unfinished work was stopped", status)


def _status(words: list[str]) -> int:
    """Return the exit status. `--debug` is read here, before any step that can fail."""
    import click

    from harness.core.values.errors import InputError
    from harness.core.values.visible_text import visible_line

    try:
        return _invoke(words)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "harness"
        return _say(f"error: {error.format_message()}\n  see: {path} --help", INPUT)
    except click.ClickException as error:
        return _say(f"error: {error.format_message()}", INPUT)
    except InputError as error:
        return _say("error: " + "\n  ".join(map(visible_line, error.lines())), INPUT)
    except BrokenPipeError:  # the reader has all that it wants, as in `harness list ... | head`
        return 0
    except Exception as error:
        if "--debug" in words:
            raise
        return _failure(error)


def _failure(error: Exception) -> int:
    from harness.core.values.errors import MachineLacks

    if isinstance(error, MachineLacks):
        return _say(f"error: {error}", FAILURE)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return _say(f"error: {place}{error.strerror or error}", INPUT)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return _say(f"harness failure: {what}; please report it, with what --debug prints", FAILURE)


def _invoke(words: list[str]) -> int:
    import click

    from harness.cli.verbs import harness

    try:
        with harness.make_context("harness", words) as context:
            status = harness.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    return status if isinstance(status, int) else 0


def _say(text: str, status: int) -> int:
    from harness.cli import terminal

    terminal.note(text)
    return status
