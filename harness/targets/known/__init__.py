"""Agents that are known by name: each is a TOML file of this folder, played by the driver.

The file defines how the program is found, installed, started and configured, and its profile.
`version` is the release that it was tried with.
"""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

from harness.core.values.errors import InputError, PackageMissing
from harness.core.values.profile import Profile
from harness.core.values.strict import Strict
from harness.core.values.table_file import package_text

DRIVER = Path(__file__).with_name("driver.py")


class Choice(Strict, frozen=True, kw_only=True):
    """What a value of an option brings: further words of the commands and files, and a profile.

    `profile` holds what is other than in the profile of the program.
    """

    words: dict[str, str] = msgspec.field(default_factory=dict)
    profile: Profile = Profile()


class PastForm(Strict, frozen=True, kw_only=True):
    """How a program keeps a stored session: a form of `past_session`, and the files with `{past}`.

    `then` is a command by which the program takes them in.
    """

    form: str = ""
    files: dict[str, str] = msgspec.field(default_factory=dict)
    then: tuple[str, ...] = ()


class Known(Strict, frozen=True, kw_only=True, rename="kebab"):
    """A program by name.

    `first` starts it with the first message of a session and `next` with a later one. It gets the
    message on standard input, unless a word of the command holds `{text}`. Or `stays` starts it
    once a run, and it takes the messages by itself: the seams are in its environment. `answer` is
    the place of the answer: `text` (standard output), `json KEY` (of the last JSON value there) or
    `file PATH`. `failed` is a key of that JSON value that is true for an error. `environment` and
    `files` are its configuration.

    All of them may hold placeholders. `{home}` is the scratch HOME, `{work}` the working folder of
    the session, `{id}` a UUID of the session. `{model}` and `{mcp}` are the URLs of the model and
    of the tools. `{name}` is the model's name, by default `name`. `{python}` is the interpreter of
    the harness, `{here}` the folder of this file. Each key of `options` is replaced by its value,
    or by that option of the specification. Each key of `by_wire` is replaced by its value for the
    wire of the run. In `past`, `{past}` is the stored session and `{slug}` the folder `{work}` as
    some programs name it. `by_option` holds the values that an option of `options` may have.
    """

    title: str
    program: str
    install: str
    version: str
    first: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    answer: str = "text"
    failed: str = ""
    name: str = ""
    options: dict[str, str | bool] = msgspec.field(default_factory=dict)
    by_wire: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    by_option: dict[str, dict[str, Choice]] = msgspec.field(default_factory=dict)
    environment: dict[str, str] = msgspec.field(default_factory=dict)
    files: dict[str, str] = msgspec.field(default_factory=dict)
    past: PastForm = PastForm()
    profile: Profile = Profile()


@cache
def known() -> dict[str, Known]:
    """Return the programs by name."""
    files = sorted(Path(__file__).parent.glob("*.toml"))
    return {file.stem: _read(file.name) for file in files}


def _read(file: str) -> Known:
    return msgspec.convert(tomllib.loads(package_text(__package__, file)), type=Known)


def profile_of(name: str, options: Mapping[str, object]) -> Profile:
    """Return the profile of a program that is played with these options.

    Raises InputError for a value that the option does not have.
    """
    row = known()[name]
    profile = row.profile
    for option, choices in row.by_option.items():
        value = str(options.get(option, row.options[option]))
        if value not in choices:
            what = f"{option}={value}: no such value; it has {', '.join(choices)}"
            raise InputError(what, f"target {name!r}")
        profile = choices[value].profile.completed_by(profile)
    return profile


def command_of(name: str, program: str = "") -> tuple[str, ...]:
    """Return the command that plays a known program; `program` is its path, if not on the PATH.

    Raises InputError for a program that is not installed, or without the package mcp.
    """
    row = known()[name]
    found = shutil.which(program or row.program)
    if found is None:
        what = f"no program {program or row.program} here: {row.install}"
        raise InputError(what, f"target {name!r}")
    if find_spec("mcp") is None:  # the program would wait for its tools, and not ask the model
        raise PackageMissing("mcp", "mcp", row.title, f"target {name!r}")
    # absolute, because the program starts in the working folder of its session
    absolute = str(Path(found).absolute())
    said = msgspec.json.encode(msgspec.structs.replace(row, program=absolute)).decode()
    return (sys.executable, "-I", str(DRIVER), said)
