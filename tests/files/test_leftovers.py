"""What a killed process leaves: the next command removes it, and never what is alive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from harness.files.owner import LOCK, make_scratch, out_lock, remove_dead, tag
from harness.files.regular_file import write_atomically

_HOLDER = """
import sys
from pathlib import Path
from harness.files.owner import out_lock
from harness.files.owner import make_scratch, tag

with out_lock(Path(sys.argv[1])):
    made = make_scratch()
    (made / "own.db").write_text("x")
    (Path(sys.argv[1]) / f".verdict.json{tag()}x").write_text("half")
    print(made, flush=True)
    sys.stdin.read()
"""


@contextmanager
def _holder(folder: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process that holds the folder, with a scratch folder and an unfinished file."""
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout is not None
    try:
        yield holder, Path(holder.stdout.readline().strip())
    finally:
        holder.kill()
        holder.communicate()


@pytest.fixture(autouse=True)
def _own_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", str(scratch))


def test_what_is_alive_stays_and_what_is_dead_goes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with _holder(out) as (holder, scratch):
        assert remove_dead(out) == 0
        assert (scratch / "own.db").exists()
        assert len(list(out.iterdir())) == 2
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        mine = make_scratch()
        with out_lock(out):
            assert [path.name for path in out.iterdir()] == [LOCK]
        assert not scratch.exists()
        assert mine.exists()
        assert list(out.iterdir()) == []


def test_an_id_that_is_used_again_is_not_the_owner(tmp_path: Path) -> None:
    own = tag()
    pid, start, namespace = own.removeprefix(".own-").rstrip("-").split("-")
    reused = tmp_path / f".a.own-{pid}-{int(start) + 1}-{namespace}-x"
    elsewhere = tmp_path / f".b.own-{pid}-{int(start) + 1}-{int(namespace) + 1}-x"
    alive = tmp_path / f".c{own}x"
    for path in (reused, elsewhere, alive):
        path.touch()
    if sys.platform == "linux":
        assert remove_dead(tmp_path) == 1
        assert sorted(tmp_path.glob(".*")) == [elsewhere, alive]


def test_a_second_command_in_a_folder_says_so(tmp_path: Path) -> None:
    with (
        _holder(tmp_path / "out") as (holder, _),
        pytest.raises(InputError, match=f"process {holder.pid} writes here"),
        out_lock(tmp_path / "out"),
    ):
        pass
    with out_lock(tmp_path / "out"):
        pass


def test_an_unfinished_file_names_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    real = os.replace

    def replace(source: str, target: Path) -> None:
        seen.append(os.path.basename(source))
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    write_atomically(tmp_path / "a.json", b"x")
    assert seen[0].startswith(f".a.json{tag()}")
