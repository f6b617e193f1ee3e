"""`judge --follow`: each finding once, as the session grows; what was there before is not told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import judge_follow
from tests.cli.talks import Command

Step = Callable[[], object]


def round_of(n: int, *, fails: bool = True) -> bytes:
    """One call and its result, in the form of Claude Code's logs; the same call each time."""
    use = {"type": "tool_use", "id": f"t{n}", "name": "read", "input": {"path": "a"}}
    result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": "no such file"}
    rows = [("assistant", [use]), ("user", [{**result, "is_error": fails}])]
    return b"".join(_row(role, f"{role}{n}", content) for role, content in rows)


def _row(role: str, uuid: str, content: object) -> bytes:
    message = {"id": uuid, "role": role, "content": content}
    row = {"type": role, "sessionId": "s", "cwd": "/home/me/shop", "uuid": uuid, "message": message}
    return json.dumps(row).encode() + b"\n"


BEGIN = _row("user", "q", "Read the file a, please")


def steps(monkeypatch: pytest.MonkeyPatch, *does: Step) -> None:
    """At each look after the first one step is done; then comes Ctrl-C."""
    left = iter(does)

    def next_step(_seconds: float) -> None:
        step = next(left, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr(judge_follow, "real_sleep", next_step)


def grow(path: Path, *rounds: int) -> Step:
    def more() -> None:
        with path.open("ab") as file:
            file.write(b"".join(map(round_of, rounds)))

    return more


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs/s.jsonl"


def test_a_finding_is_told_once_when_it_comes(
    in_process: Command, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write_bytes(BEGIN + round_of(1))
    steps(monkeypatch, lambda: None, grow(log, 2), grow(log, 3, 4), grow(log, 5), lambda: None)
    done = in_process("judge", str(log.parent), "--follow")
    told = [line for line in done.out.splitlines() if "no_progress_stop" in line]
    assert done.status == 1
    assert len(told) == len({line.split(" ✗ ")[1] for line in told}) > 0, done
    assert " in shop, 20" in told[0]
    assert "following 1 files" in done.err


def test_what_was_there_before_is_not_told(
    in_process: Command, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write_bytes(BEGIN + b"".join(map(round_of, range(6))))
    steps(monkeypatch, grow(log, 6))
    assert in_process("judge", str(log.parent), "--follow")[:2] == (0, "")
    steps(monkeypatch)
    since = in_process("judge", str(log.parent), "--follow", "--since", "1h", "--json")
    assert since.status == 1
    row = json.loads(since.out.splitlines()[0])
    assert row["file"] == str(log)
    assert row["code"].startswith("no_progress_stop.")
    assert row["fails"] is True


def test_new_gone_and_broken_files_do_no_harm(
    in_process: Command, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = log.with_name("other.jsonl")
    steps(
        monkeypatch,
        lambda: other.write_bytes(b'{"type": "user", "mess'),
        lambda: other.write_bytes(BEGIN + b"".join(map(round_of, range(6)))[:-20]),
        other.unlink,
        lambda: other.write_bytes(BEGIN + b"".join(map(round_of, range(6)))),
    )
    done = in_process("judge", str(log.parent), "--follow")
    assert done.status == 1
    assert done.out.count("no_progress_stop.same_failure") == 1


@pytest.mark.parametrize("flag", [("--junit", "x.xml"), ("--html", "x.html"), ("-j", "2")])
def test_what_is_written_at_an_end_is_refused(
    in_process: Command, log: Path, flag: tuple[str, str]
) -> None:
    done = in_process("judge", str(log.parent), "--follow", *flag)
    assert (done.status, done.out) == (2, "")
    assert "--follow never comes to an end" in done.err


def test_minutes_belong_to_follow_and_end_it(in_process: Command, log: Path) -> None:
    assert "only with --follow" in in_process("judge", str(log.parent), "--minutes", "1").err
    done = in_process("judge", str(log.parent), "--follow", "--minutes", "0.000001")
    assert (done.status, done.out) == (0, "")
