"""A file as a task: any defect of it is one line, and small files go together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness import InboxItem, Scenario, Turn, resolve, run
from harness.cli import judge_task
from harness.cli.judge_task import (
    CHUNK_BYTES,
    CHUNK_FILES,
    DIED,
    JudgeTask,
    TaskChunk,
    chunks,
    judge_chunk,
    judge_file,
    judge_files,
    shown,
)
from harness.core.scenario.scenario import Expect, ExpectReply
from harness.engines import Serial
from harness.engines.local import Local
from harness.recordings.transcripts import Refusal
from harness.verdicts.command_events import FileRead, refusal_line
from harness.verdicts.result import Result

LINE = '{"type":"user","sessionId":"s","uuid":"1","message":{"role":"user","content":"hi"}}\n'


def _refused(path: Path, named: bool = False) -> str:
    (refusal,) = judge_file(JudgeTask(path=str(path), named=named)).refusals
    return refusal_line(refusal)


def test_a_file_is_judged(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(LINE)
    judged = judge_file(JudgeTask(path=str(tmp_path / "a.jsonl")))
    assert (judged.format, len(judged.results), judged.refusals) == ("claude_code", 1, ())
    assert judged.results[0].counts["messages"] == 1


def _asked(path: Path, **words: str) -> Result:
    wanted = Expect(reply=ExpectReply(turn=1, **words))
    (found,) = judge_file(JudgeTask(path=str(path), expect=wanted)).results
    return found


def test_a_run_is_asked_for_words_that_its_scenario_did_not_ask_for(tmp_path: Path) -> None:
    talk = Scenario(name="talk", inbox=(InboxItem(text="Hi."),), script=(Turn(say="42."),))
    run(talk, resolve("reference"), out=tmp_path)
    (path,) = tmp_path.rglob("history.jsonl")
    assert _asked(path, has="42").verdict.verdict == "pass"
    missed = _asked(path, has="43").verdict
    assert [finding.code for finding in missed.failing] == ["expect.reply"]


def test_a_log_without_what_the_user_read_is_not_asked_for_replies(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(LINE)
    verdict = _asked(tmp_path / "a.jsonl", has="42").verdict
    assert not verdict.failing
    assert ("expect.reply", "needs the seam outbox") in [
        (lack.check, lack.reason) for lack in verdict.not_applicable
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"\0\1\2", "binary data"),
        (b"hello", "format not recognised"),
        (b'{"a": ' * 200_000, "format not recognised"),
        (b"interactions: [", "not YAML"),
    ],
    ids=["empty", "binary", "text", "deep", "torn YAML"],
)
def test_what_cannot_be_read_is_a_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "f").write_bytes(content)
    assert _refused(tmp_path / "f")
    if content[:1] != b"{" and reason != "not YAML":
        assert _refused(tmp_path / "f") == reason


NEXT_STEP = "`harness list formats` names what is read, docs/plug-ins.md shows how to add a reader"


def test_a_reason_is_counted_in_a_folder_and_whole_for_a_named_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("hello")
    assert _refused(tmp_path / "f") == "format not recognised"
    assert _refused(tmp_path / "f", named=True) == (f"line 1: format not recognised: {NEXT_STEP}")


def test_a_file_that_has_gone_or_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert _refused(tmp_path / "gone") == "cannot be read"
    assert _refused(tmp_path / "pipe") == "no regular file"


def test_a_mistake_of_ours_costs_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(job: JudgeTask) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(judge_task, "_judge", broken)
    assert _refused(tmp_path) == "the reader failed: ZeroDivisionError"


def test_a_name_that_is_no_utf8(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")
    Path(path).write_text(LINE)
    judged = judge_file(JudgeTask(path=path))
    assert judged.path == shown(path) == f"{tmp_path}/\\xff.jsonl"
    assert judged.results


def test_small_files_go_together() -> None:
    small = [JudgeTask(path=str(n), size_bytes=1) for n in range(2 * CHUNK_FILES + 1)]
    assert [len(chunk) for chunk in chunks(small, 2)] == [CHUNK_FILES, CHUNK_FILES, 1]
    large = [JudgeTask(path=str(n), size_bytes=CHUNK_BYTES) for n in range(3)]
    assert [len(chunk) for chunk in chunks(large, 2)] == [1, 1, 1]
    assert [job for chunk in chunks(small, 2) for job in chunk] == small
    assert {len(chunk) for chunk in chunks(small, 1)} == {1}


def test_a_file_that_was_lost_twice_is_named(tmp_path: Path) -> None:
    (tmp_path / "good").write_text(LINE)
    good, bad = JudgeTask(path=str(tmp_path / "good")), JudgeTask(path="bad", named=True)
    (judged,) = judge_task.lost_file((bad,))
    assert (judged.path, judged.refusals, judged.named) == ("bad", (Refusal("", DIED),), True)
    first, second = judge_task.lost_files(Serial(), (good, bad))
    assert (len(first.results), len(second.refusals)) == (1, 1)
    assert second.refusals[0].reason != DIED


def deadly(chunk: TaskChunk) -> tuple[FileRead, ...]:
    """Judge a batch; one file ends each process that reads it."""
    for job in chunk:
        if job.path.endswith("3.jsonl"):
            with open(f"{job.path}.deaths", "a") as deaths:
                deaths.write("x")
            os._exit(3)
    return judge_chunk(chunk)


@pytest.mark.real
def test_a_file_that_ends_its_process_is_named_and_the_others_of_its_batch_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(6):
        (tmp_path / f"{n}.jsonl").write_text(LINE)
    jobs = [
        JudgeTask(path=str(tmp_path / f"{n}.jsonl"), named=n == 3, size_bytes=CHUNK_BYTES // 2)
        for n in range(6)
    ]
    monkeypatch.setattr(judge_task, "judge_chunk", deadly)
    judged = list(judge_files(Local(2), jobs))
    assert [file.path for file in judged] == [job.path for job in jobs]
    assert [file.refusals for file in judged] == [
        (Refusal("", DIED),) if n == 3 else () for n in range(6)
    ]
    assert [len(file.results) for file in judged] == [int(n != 3) for n in range(6)]
    assert [file.named for file in judged] == [n == 3 for n in range(6)]
    assert (tmp_path / "3.jsonl.deaths").read_text() == "xx", "it cost two workers"
