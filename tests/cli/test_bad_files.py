"""Every file of the user is regular and bounded, wherever it is named: else one line, status 2."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.talks import Command

SPARSE_BYTES = 20 * 1000**3


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(SPARSE_BYTES)


def _folder(path: Path) -> None:
    path.mkdir()


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


def _circle(path: Path) -> None:
    path.symlink_to(path.name)


MAKERS: tuple[Callable[[Path], None], ...] = (_pipe, _device, _sparse, _folder, _socket, _circle)

SESSION = "{name: bad-session, session: {format: FORMAT, file: x}, inbox: hi, script: [{say: hi}]}"
CASSETTE = "{name: bad-cassette, inbox: hi, script: {cassette: x}}"

REFERENCE = ("--target", "reference", "--no-config")


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kind", ["jsonl", "claude_code", "hermes", "sqlite"])
def test_a_session_is_a_regular_file(
    in_process: Command, talks: Path, make: Callable[[Path], None], kind: str
) -> None:
    (talks / "bad-session.yaml").write_text(SESSION.replace("FORMAT", kind))
    make(talks / "x")
    _is_refused(in_process("run", "bad-session.yaml", *REFERENCE))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "words",
    [
        ("run", "scenarios/bad-cassette.yaml", *REFERENCE),
        ("run", "scenarios/chat.yaml", *REFERENCE, "--faults", "scenarios/x"),
        ("run", "scenarios/chat.yaml", *REFERENCE, "--profile", "scenarios/x.yaml"),
        ("judge", "scenarios/x"),
        ("import", "scenarios/x", "--name", "x"),
        ("import", "scenarios/x", "--name", "x", "--format", "hermes"),
        ("show", "scenarios/x"),
    ],
    ids=lambda words: " ".join((words[0], *words[-2:])),
)
def test_a_file_that_is_named_is_regular(
    in_process: Command, talks: Path, make: Callable[[Path], None], words: tuple[str, ...]
) -> None:
    (talks / "scenarios/bad-cassette.yaml").write_text(CASSETTE)
    for name in ("x", "x.yaml"):
        make(talks / "scenarios" / name)
    done = in_process(*words)
    if make is not _folder or words[0] != "judge":  # a folder is judged
        _is_refused(done)


@pytest.mark.parametrize("make", MAKERS)
def test_the_configuration_is_a_regular_file(
    in_process: Command, talks: Path, make: Callable[[Path], None]
) -> None:
    make(talks / "harness.toml")
    if make is not _circle:  # a link to itself is not a file at all
        _is_refused(in_process("list", "scenarios"))


def _is_refused(done: object) -> None:
    status, out, err = done  # type: ignore[misc]
    assert status == 2, (out, err)
    assert err.splitlines()[-1].startswith("error: "), err
    assert "Traceback" not in err
