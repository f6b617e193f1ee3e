"""The two sides of a diff: folders of histories, or targets that are played into folders.

`harness run` plays a target in its own process, with the Python that the user names for the side.
So two versions of one package in two environments share only folders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import click
import msgspec

from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Json

Letter = Literal["a", "b"]


class SideRun(msgspec.Struct, frozen=True):
    """A run on one side: its history, or why it is not applicable."""

    history: Path | None = None
    reason: str = ""


class Side(msgspec.Struct, frozen=True):
    """One side: what the user named, and its runs by name."""

    named: str
    runs: Mapping[str, SideRun]


class SideRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A side as the user names it; `python` and `profile` apply to a target."""

    letter: Letter
    named: str
    python: str = ""
    profile: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether the side is a folder of histories."""
        return Path(self.named).exists()

    @property
    def is_ambiguous(self) -> bool:
        """Whether it names a folder as a target is named too; the folder wins."""
        from harness.targets.spec import known_names

        return self.is_folder and self.named in known_names()

    def check(self) -> None:
        """Raise InputError unless the side is a folder of histories or a usable target."""
        if self.is_folder:
            for flag, given in (("python", self.python), ("profile", self.profile)):
                if given:
                    what = f"{self.named} is a folder of histories, which is not played"
                    raise InputError(what, f"--{flag}-{self.letter}")
        elif self.python:
            _check_python(self.python, f"--python-{self.letter}")
        else:
            _check_target(self.named)


def _check_python(python: str, flag: str) -> None:
    import shutil

    if shutil.which(python) is None:
        raise InputError("no program to start", f"{flag} {python}")


def _check_target(named: str) -> None:
    from harness.targets.spec import resolve

    try:
        resolve(named)
    except InputError as error:
        if ":" in named:
            raise
        what = f"neither a folder of histories nor a target: {error.what}"
        raise InputError(what, named) from None


def folder_side(named: str, patterns: Sequence[str]) -> Side:
    """Return the runs below a folder, or of one history. Raises InputError if there is none."""
    root = Path(named)
    runs: dict[str, SideRun] = {}
    found = _below(root) if root.is_dir() else [root]
    for path in found:
        name, run = _run_at(path)
        other = runs.setdefault(name, run)
        if other is not run:
            what = f"the run {name} is here twice, also in {_place(other)}; name one folder"
            raise InputError(what, str(path.parent))
    if not runs:
        raise InputError("no history.jsonl below it; `harness run --out DIR` writes them", named)
    return Side(named, _narrowed(runs, patterns, named))


def _below(root: Path) -> Iterator[Path]:
    """Yield the histories below a folder, and the verdicts without a history."""
    yield from sorted(root.rglob("history.jsonl"))
    for path in sorted(root.rglob("verdict.json")):
        if not path.with_name("history.jsonl").exists():
            yield path


def _run_at(path: Path) -> tuple[str, SideRun]:
    """Return the name of a run, and its history or why there is none."""
    from harness.runner.run_folder import run_of

    by_folder = run_of(path.parent.resolve())
    reason = _not_applicable(path.with_name("verdict.json"))
    if path.name == "verdict.json":
        return by_folder, SideRun(None, reason or "it has a verdict but no history")
    return _name_in(path) or by_folder, SideRun(None if reason else path, reason)


def _name_in(path: Path) -> str:
    """Return the run's name from the first line of a history; "" for a damaged line."""
    from harness.core.history.event_log import decode_line
    from harness.core.history.events import Started
    from harness.files.regular_file import opened

    with opened(path) as file:
        line = file.readline()
    try:
        first = decode_line(line, 1)
    except msgspec.DecodeError:
        return ""
    return first.run if isinstance(first, Started) else ""


def _not_applicable(path: Path) -> str:
    """Return why the stored verdict calls the run not applicable; "" if it does not."""
    from harness.core.values.verdict import Verdict
    from harness.files.regular_file import whole

    if not path.is_file():
        return ""
    try:
        verdict = msgspec.json.decode(whole(path), type=Verdict)
    except (ValueError, InputError):
        return ""
    if verdict.verdict != "not_applicable":
        return ""
    return "; ".join(lack.reason for lack in verdict.not_applicable if lack.check == "run")


def _place(run: SideRun) -> str:
    return str(run.history.parent if run.history else "a run that is not applicable")


def _narrowed(runs: dict[str, SideRun], patterns: Sequence[str], named: str) -> dict[str, SideRun]:
    kept = {n: r for n, r in runs.items()
            if not patterns or any(fnmatchcase(n, pattern) for pattern in patterns)}  # fmt: skip
    if not kept:
        hint = nearest(patterns[0], runs)
        raise InputError(f"no run of this name in {named}; {hint}", f"--only {patterns[0]}")
    return kept


def played_side(request: SideRequest, words: Iterable[str], out: Path) -> Side:
    """Play a target by `harness run` with these arguments, into a folder below `out`.

    Its output goes to standard error. If it cannot run, this command ends too.
    """
    from harness.cli import terminal
    from harness.cli.child_command import child_command

    folder = out / request.letter
    terminal.note(f"{request.letter.upper()}: playing {request.named} into {folder}")
    profile = ["--profile", request.profile] if request.profile else []
    run = ["-m", "harness", "run", *words, "--target", request.named, "--out", str(folder)]
    ended = child_command([*run, *profile, "--json"], None, shows_notes=True, python=request.python)
    if ended.status not in (0, 1, 3):
        raise click.exceptions.Exit(ended.status if ended.status == 2 else 3)
    lines = [msgspec.json.decode(line) for line in ended.out.splitlines()]
    return Side(request.named, {row["name"]: _played(row) for row in lines if "name" in row})


def _played(row: dict[str, Json]) -> SideRun:
    if row["verdict"] == "not_applicable":
        reasons = (lack["reason"] for lack in row["not_applicable"] if lack["check"] == "run")
        return SideRun(None, "; ".join(reasons))
    path = row["history"]
    return SideRun(Path(path)) if path else SideRun(None, "; ".join(row["doubts"]))
