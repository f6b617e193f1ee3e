"""A worker ends in its orderly way when it is interrupted, and when its parent is killed."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from harness.core.values.errors import HarnessError
from harness.engines import ordered_map
from harness.engines.local import Local
from tests.engines.work import Task, lost

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]


class Torn(Exception):
    """An error that cannot be made again of what is sent of it."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def fail(task: Task) -> tuple[int, int]:
    """Fail in one of two ways."""
    if task.fails:
        raise Torn(task.number, 2)
    raise ValueError("here")


def test_an_error_says_where_in_the_worker_it_was_raised() -> None:
    with pytest.raises(ValueError, match="here") as raised:
        list(ordered_map(Local(2), fail, [Task(1), Task(2)], lost))
    assert 'raise ValueError("here")' in raised.value.__notes__[0]


def test_an_error_that_cannot_be_sent_is_said_in_words() -> None:
    with pytest.raises(HarnessError, match="Torn: 1 and 2"):
        list(ordered_map(Local(2), fail, [Task(1, fails=True), Task(2)], lost))


def hang(path: str) -> None:
    """Hold a pipe open, say so in it, and hang until interrupted; then say that too."""
    with open(path, "wb", buffering=0) as pipe:
        try:
            pipe.write(b"begun\n")
            while True:
                signal.pause()
        finally:
            pipe.write(b"ended\n")


def refuse(path: str) -> None:
    """Like `hang`, but not to be interrupted, and with a child of another session."""
    with open(path, "wb", buffering=0) as pipe:
        subprocess.Popen(["sleep", "1000"], stdout=pipe, start_new_session=True)
        pipe.write(b"begun\n")
        while True:
            with suppress(BaseException):
                signal.pause()


PARENT = """\
import sys
from harness.engines.local import Local
from harness.engines import ordered_map
from tests.engines import test_worker

if __name__ == "__main__":
    work = getattr(test_worker, sys.argv[2])
    list(ordered_map(Local(2), work, [sys.argv[1]] * 2, print))
"""


@pytest.fixture
def parent(
    tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process with two workers that hang, and the pipe in which they say so."""
    work = getattr(request, "param", "hang")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "parent.py").write_text(PARENT, "utf-8")
    pipe = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with subprocess.Popen(
        [sys.executable, tmp_path / "parent.py", tmp_path / "pipe", work],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            assert read(pipe, 12) == b"begun\n" * 2
            yield process, pipe
        finally:
            process.kill()
            os.close(pipe)


def read(pipe: int, count: int) -> bytes:
    """This many bytes of a pipe; fewer when its other end is closed."""
    data = b""
    while len(data) < count:
        select.select([pipe], [], [], 60)
        more = os.read(pipe, count - len(data))
        if not more:
            break
        data += more
    return data


def test_workers_whose_parent_is_killed_end_in_their_orderly_way(
    parent: tuple[subprocess.Popen[str], int],
) -> None:
    process, pipe = parent
    process.kill()
    assert read(pipe, 100) == b"ended\n" * 2, "both, and no worker is left"
    assert process.stderr is not None
    assert process.stderr.read() == ""


@pytest.mark.parametrize("parent", ["refuse"], indirect=True)
def test_workers_that_refuse_to_end_and_their_children_are_killed(
    parent: tuple[subprocess.Popen[str], int],
) -> None:
    process, pipe = parent
    process.kill()
    assert read(pipe, 100) == b"", "nobody holds the pipe any more"


@pytest.mark.parametrize("everybody", [False, True])
def test_after_ctrl_c_workers_have_ended_and_say_nothing(
    parent: tuple[subprocess.Popen[str], int], everybody: bool
) -> None:
    """A terminal sends it to everybody, a program to one."""
    process, pipe = parent
    (os.killpg if everybody else os.kill)(process.pid, signal.SIGINT)
    assert read(pipe, 100) == b"ended\n" * 2
    _, said = process.communicate(timeout=600)
    assert process.returncode == -signal.SIGINT
    assert said.count("Traceback") == 1, "that of the parent"
