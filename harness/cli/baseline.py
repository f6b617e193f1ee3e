"""`--baseline FILE` and `--update-baseline`: findings that are accepted for now."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from harness.core.values.errors import InputError

if TYPE_CHECKING:
    from harness.verdicts.baseline import BaselineChange
    from harness.verdicts.result import Result

_F = TypeVar("_F", bound=Callable[..., Any])
_KEY = "harness.baseline"


class Baseline:
    """The baseline of a command; without a file it accepts nothing."""

    def __init__(self, file: Path | None = None, update: bool = False) -> None:
        """Read the file. Raises InputError for one that cannot be used."""
        from harness.files.regular_file import check_writable
        from harness.verdicts.baseline import BaselineFile, Comparison, read

        if file is None and update:
            raise InputError("name the file: --baseline FILE", "--update-baseline")
        if file and update:
            check_writable(file)
        elif file and not file.exists():
            raise InputError("no such file; --update-baseline writes it", f"--baseline {file}")
        self._file, self._update = file, update
        self._found = read(file) if file and file.exists() else BaselineFile({})
        self._comparison = Comparison(self._found, update) if file else None

    def take(self, run: Result) -> Result:
        """Return the run with its accepted findings set apart."""
        return self._comparison.take(run) if self._comparison else run

    def write(self) -> None:
        """Write the new baseline if the user asked for it."""
        from harness.files.regular_file import write_atomically
        from harness.redaction.encoder import encoded
        from harness.verdicts.baseline import text

        if self._file and self._update and self._comparison:
            data = encoded(text(self._comparison.rows(), self._found.head))
            write_atomically(self._file, data)

    def change(self) -> BaselineChange | None:
        """Return how the results differ from the baseline; None without one."""
        from harness.verdicts.baseline import BaselineChange

        if self._file is None or self._comparison is None:
            return None
        found = self._comparison
        return BaselineChange(str(self._file), found.standing, tuple(found.new), tuple(found.gone),
                              self._update)  # fmt: skip


def baseline(function: _F) -> _F:
    """Add the two options to a verb that tells its results by `reporting`."""

    @wraps(function)
    def with_baseline(*args: Any, baseline: Path | None, update: bool, **named: Any) -> Any:
        click.get_current_context().meta[_KEY] = Baseline(baseline, update)
        return function(*args, **named)

    file = click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE",
                        help="Accept the findings listed in FILE; only new ones fail.",
                        )  # fmt: skip
    update = click.option("--update-baseline", "update", is_flag=True,
                          help="Write the findings of this command into the baseline.")  # fmt: skip
    return cast(_F, file(update(with_baseline)))


def chosen_baseline() -> Baseline:
    """Return the baseline of this command."""
    found: Baseline | None = click.get_current_context().meta.get(_KEY)
    return found or Baseline()
