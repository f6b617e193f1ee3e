"""Errors, divided by their cause: the user or the harness.

An `InputError` is a mistake of the user: its text says what, where and what to do, and the exit
status is 2. A `HarnessError` is a failure of the harness. An agent's errors are data in the
history, never exceptions here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

NEAREST_MOST, NAMES_MOST = 3, 10
"""The largest number of names in a message: the near names, or all names if none is near."""


class HarnessError(Exception):
    """The harness itself cannot continue; never the agent's fault (exit status 3)."""


class MachineLacks(HarnessError):
    """This machine cannot carry a run: what it lacks, and what to do. The run is unknown.

    `number` is that of the failed call (`errno`).
    """

    def __init__(self, number: int, what: str, remedy: str) -> None:
        self.number = number
        super().__init__(f"this machine: {what}; {remedy}")


class InputError(Exception):
    """A file, flag or name that the user gave cannot be used (exit status 2).

    `place` is the location: a file with line and key, a flag, a name. The text is one line, since
    it may repeat what a file from outside says; `details` are lines of our own below it. `more` is
    what this error adds to a `reason` that many files share, so that refusals can be counted.
    """

    def __init__(
        self, reason: str, place: str = "", details: Sequence[str] = (), *, more: str = ""
    ) -> None:
        self.reason, self.place, self.details, self.more = reason, place, tuple(details), more
        super().__init__(": ".join(filter(None, (place, self.what))))

    @property
    def what(self) -> str:
        """The text without the place."""
        return f"{self.reason}: {self.more}" if self.more else self.reason

    def within(self, whole: str) -> InputError:
        """The same error with its file, or another container, before the place; added only once."""
        if whole and (self.place == whole or self.place.startswith(f"{whole}: ")):
            return self
        place = ": ".join(filter(None, (whole, self.place)))
        return InputError(self.reason, place, self.details, more=self.more)

    def lines(self) -> tuple[str, ...]:
        """The text, then each detail."""
        return (str(self), *self.details)


class PackageMissing(InputError):
    """A run needs an optional package that is not installed; `extra` is the extra of loop-harness
    that installs it, and `user` the part that needs it."""

    def __init__(self, package: str, extra: str, user: str = "", place: str = "") -> None:
        self.package, self.extra, self.user = package, extra, user
        install = f"pip install 'loop-harness[{extra}]'"
        super().__init__(f"{user and f'{user} '}needs the package {package}: {install}", place)


class RunStopped(BaseException):
    """Ends a Python target from inside a seam, past everything that catches `Exception`.

    Raised when a target continues to call after the answers at a limit, and when real time runs
    out.
    """


class PassedLimit(RunStopped):
    """A limit of real time, processor time or memory is passed; `stop` is its name."""

    def __init__(self, text: str = "", stop: str = "hung") -> None:
        self.stop = stop
        super().__init__(text)


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message for a mistyped `name`: the nearest known ones, at most three.

    If no name is near and at most ten names are known, the text lists all of them.
    """
    choices = sorted(known)
    close = difflib.get_close_matches(name, choices, n=NEAREST_MOST, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    if len(choices) <= NAMES_MOST:
        return "known: " + ", ".join(choices) if choices else "none is known"
    near = difflib.get_close_matches(name, choices, n=NEAREST_MOST, cutoff=0.0)
    return f"the nearest of {len(choices)} known names: {', '.join(near)}"


class Interrupted(KeyboardInterrupt):
    """A signal ends this process. A target may raise KeyboardInterrupt itself, but not this."""
