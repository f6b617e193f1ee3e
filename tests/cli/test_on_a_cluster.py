"""`judge` and `run` on a Ray cluster of two nodes print, byte for byte, what one process prints."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cli import judge_task, main
from harness.cli.judge_task import TaskChunk, judge_chunk
from harness.verdicts.command_events import FileRead
from tests.cli.conftest import Harness
from tests.cli.test_judge_and_show import CLAUDE_CODE
from tests.engines.cluster import two_nodes

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]
DIED, DEADLY = "died", "deadly.jsonl"
ADVICE = ("--fail-on", "advice")
"""The transcripts have advice, so each of them fails."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a cluster, which this process knows: it is where the tests are imported."""
    from harness.engines.ray import Ray

    with two_nodes() as address:
        Ray(address=address)
        yield address


@pytest.fixture
def logs(folder: Path) -> Path:
    """Some batches of files, and one that is not a batch."""
    (folder / "logs").mkdir()
    for n in range(3 * judge_task.CHUNK_FILES):
        (folder / f"logs/{n:03}.jsonl").write_text(CLAUDE_CODE.replace('"s"', f'"s{n}"'), "utf-8")
    (folder / "logs/binary").write_bytes(b"\0\1")
    return folder


def killed_once(chunk: TaskChunk) -> tuple[FileRead, ...]:
    """Judge a batch; the first worker that does the middle one is killed half way."""
    judged = judge_chunk(chunk)
    if any(job.path.endswith("040.jsonl") for job in chunk) and not Path(DIED).exists():
        Path(DIED).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return judged


def killed_always(chunk: TaskChunk) -> tuple[FileRead, ...]:
    """Judge a batch; one file ends each process that reads it."""
    if any(job.path.endswith(DEADLY) for job in chunk):
        os.kill(os.getpid(), signal.SIGKILL)
    return judge_chunk(chunk)


def judged(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[object, str, str]:
    """Exit status, output and errors of `judge` in this process, which knows the cluster."""
    with pytest.raises(SystemExit) as ended:
        main(["judge", "logs", *ADVICE, *words])
    out, err = capsys.readouterr()
    return ended.value.code, out, without_progress(err)


def without_progress(err: str) -> str:
    """Standard error without the lines of progress, which a slow machine adds."""
    return re.sub(r"^\d+ of \d+ \w+, \d+ s\n", "", err, flags=re.MULTILINE)


@pytest.mark.parametrize("words", [("-v",), ("--json",)])
def test_judging_prints_the_same(
    harness: Harness, logs: Path, address: str, words: tuple[str, ...]
) -> None:
    here = harness("judge", "logs", *ADVICE, *words)
    there = harness("judge", "logs", *ADVICE, *words, "--engine", "ray", RAY_ADDRESS=address)
    errors = [without_progress(done.stderr) for done in (there, here)]
    assert (there.stdout, errors[0]) == (here.stdout, errors[1])
    assert here.returncode == there.returncode == 1
    assert len(here.stdout.splitlines()) >= 3 * judge_task.CHUNK_FILES


def test_a_lost_batch_is_judged_again(
    logs: Path,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(logs)
    here = judged(capsys, "--json")
    monkeypatch.setattr(judge_task, "judge_chunk", killed_once)
    assert judged(capsys, "--json", "--engine", "ray", "-j", "2") == here
    assert Path(DIED).exists(), "the worker was killed"


def test_a_deadly_file_is_named_and_the_others_of_its_batch_are_judged(
    logs: Path,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(logs)
    for file in Path("logs").glob("0[1-9]*"):
        file.unlink()
    Path("logs", DEADLY).write_text(CLAUDE_CODE, "utf-8")
    Path("logs/large.jsonl").write_text(CLAUDE_CODE + "\n" * judge_task.CHUNK_BYTES, "utf-8")
    monkeypatch.setattr(judge_task, "judge_chunk", killed_always)
    status, out, _ = judged(capsys, "--engine", "ray")
    assert status == 1
    assert "      1  the process that read it died\n" in out
    assert out.splitlines()[-1] == "13 files, 11 transcripts: 11 failed; 2 refused"


def test_playing_prints_and_keeps_the_same(harness: Harness, folder: Path, address: str) -> None:
    here = harness("run", "--target", "agents:good")
    there = harness("run", "--target", "agents:good", "--engine", "ray", RAY_ADDRESS=address)
    assert (there.returncode, there.stdout) == (0, here.stdout)
    said = without_progress(there.stderr)
    assert said == "", "what the agent prints stays in the logs of the cluster"
    kept = _histories(folder)
    elsewhere = harness(
        "run", "--target", "agents:good", "--engine", "ray", "--out", "other", RAY_ADDRESS=address
    )
    assert elsewhere.returncode == 0
    assert _histories(folder / "other") == kept != []


def test_an_agent_that_ends_its_worker_has_crashed(
    harness: Harness, folder: Path, address: str
) -> None:
    ends = "import ctypes\n\ndef agent(brief):\n    ctypes.CDLL(None)._exit(0)\n"
    (folder / "ends.py").write_text(ends, "utf-8")
    words = ("run", "--target", "ends:agent", "--engine", "ray", "--json")
    there = harness(*words, RAY_ADDRESS=address)
    assert there.returncode == 1, there.stderr
    assert '"code":"target.crashed"' in there.stdout


def _histories(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob("history.jsonl"))]
