"""`judge --since` and `--mine`: which sessions are judged, and what they are called."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from harness.cli.judge_sessions import begin_of, named_session, own_folders, shown_time
from harness.cli.judge_task import files
from harness.core.values.errors import InputError
from harness.core.values.table_file import pairs
from harness.recordings.recognition import read
from tests.cli.conftest import Harness
from tests.recordings.readers import test_codex as codex

DAY_S = 86_400


def session(*texts: str, cwd: str = "/home/me/work/shop", answered: bool = True) -> bytes:
    """A log of Claude Code with these texts of the user, each answered."""
    made = []
    for n, text in enumerate(texts):
        said = [("user", text), ("assistant", [{"type": "text", "text": "Done."}])]
        for role, content in said[: 1 + answered]:
            message = {"id": f"m{n}", "role": role, "content": content}
            row = {"type": role, "sessionId": "s", "cwd": cwd, "uuid": f"{role}{n}"}
            made.append(json.dumps({**row, "message": message}).encode())
    return b"\n".join(made) + b"\n"


def lay(path: Path, data: bytes, days_old: float = 0) -> Path:
    """Write a file, and let it be as old as `days_old` says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    then = time.time() - days_old * DAY_S
    os.utime(path, (then, then))
    return path


@pytest.mark.parametrize(
    ("since", "seconds"),
    [("90m", 5_400), ("24h", DAY_S), ("7d", 7 * DAY_S), ("2w", 14 * DAY_S)],
)
def test_a_duration_ends_now(since: str, seconds: int) -> None:
    before = time.time()
    begin = begin_of(since)
    assert before - seconds <= begin <= time.time() - seconds


@pytest.mark.parametrize("since", ["2026-11-20", "2026-11-20T00:00", "20261120"])
def test_a_date_begins_at_midnight_on_the_users_clock(since: str) -> None:
    assert begin_of(since) == time.mktime((2026, 11, 20, 0, 0, 0, 0, 0, -1))
    assert begin_of("2026-11-20T00:00+00:00") % DAY_S == 0
    assert shown_time(begin_of(since)) == "2026-11-20 00:00"


@pytest.mark.parametrize("since", ["", "soon", "7", "7y", "d7", "2026-13-01", "99999d", "-1d"])
def test_anything_else_is_refused(since: str) -> None:
    with pytest.raises(InputError, match=f"--since {since}: neither a date nor a duration"):
        begin_of(since)


def test_only_files_that_changed_since_then_are_taken(tmp_path: Path) -> None:
    old, new = lay(tmp_path / "a", b"a", days_old=9), lay(tmp_path / "b", b"b", days_old=1)
    since = begin_of("7d")
    for named in ([tmp_path], [old, new], [tmp_path, old]):
        assert [found.path for found in files(named, since)] == [str(new)]
    assert len([*files([tmp_path])]) == 2


def test_a_day_on_which_no_file_is_new_is_no_error(harness: Harness, folder: Path) -> None:
    lay(folder / "logs/old.jsonl", session("hi"), days_old=9)
    quiet = harness("judge", "logs", "--since", "7d")
    assert (quiet.returncode, quiet.stdout.splitlines()[-1]) == (
        0, "0 files, 0 transcripts: none judged; 0 refused",
    )  # fmt: skip
    assert quiet.stderr.startswith("files that changed since 20")


def test_what_changed_is_judged_or_refused(harness: Harness, folder: Path) -> None:
    lay(folder / "logs/old.jsonl", session("hi"), days_old=9)
    lay(folder / "logs/new.jsonl", session("hi"), days_old=1)
    done = harness("judge", "logs", "--since", "7d", "--json")
    assert [json.loads(line).get("file") for line in done.stdout.splitlines()] == ["logs/new.jsonl"]
    lay(folder / "logs/noise", b"\0", days_old=1)
    (folder / "logs/new.jsonl").unlink()
    unread = harness("judge", "logs", "--since", "7d")
    assert (unread.returncode, "no file could be read" in unread.stderr) == (2, True)


def test_the_folders_of_programs_are_below_the_home_folder(
    harness: Harness, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = folder / "home"
    monkeypatch.setenv("HOME", str(home))
    lay(home / "notes.txt", b"not a session")
    lone = harness("judge", "--mine")
    assert (lone.returncode, lone.stdout) == (2, "")
    assert "no known program keeps sessions here: tried ~/.claude/projects, " in lone.stderr
    lay(home / ".claude/projects/-home-me/s.jsonl", session("hi"))
    lay(home / ".codex/sessions/2026/11/27/rollout.jsonl", codex.log(*codex.TURN))
    done = harness("judge", "--mine")
    assert done.returncode == 0
    assert f"Claude Code: {home}/.claude/projects; Codex: {home}/.codex/sessions" in done.stderr
    assert done.stdout.splitlines()[-1].startswith("2 files, 2 transcripts")
    assert [*own_folders().values()] == ["Claude Code", "Codex"]


def test_every_folder_of_the_table_is_below_the_home_folder() -> None:
    table = pairs("harness.cli", "session_folders.tsv")
    assert all(folder.startswith(".") and ".." not in folder for folder in table)
    assert all(table.values())


def _name(path: Path, data: bytes) -> str:
    return named_session(str(path), read(lay(path, data).read_bytes())).called


def test_a_session_is_called_by_its_project_time_and_first_words(tmp_path: Path) -> None:
    path = tmp_path / "-home-me-work-shop/0b5e.jsonl"
    when = shown_time(time.time())[:10]
    named = _name(path, session("<environment>x</environment>", "Mend the\nlogin of the shop"))
    assert named.startswith(f"shop, {when} ")
    assert named.endswith(": Mend the login of the shop")
    assert _name(path, session("<rules>", cwd="c:\\Apps\\till")).startswith("till, ")
    assert _name(path, session("<rules>")).endswith(": <rules>")
    assert _name(path, session("word " * 40)).endswith("word…")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("2026-04-16T20:10:42.522Z", shown_time(begin_of("2026-04-16T20:10+00:00"))),
        ("2026-04-16 20:10", "2026-04-16 20:10"),
        ("2026-02-31T20:10:42Z", ""),
        ("9999-99", ""),
    ],
)
def test_the_time_is_that_of_the_first_line_before_that_of_the_file(
    tmp_path: Path, said: str, shown: str
) -> None:
    data = session("hi").replace(b'"sessionId"', b'"timestamp": "%s", "sessionId"' % said.encode())
    then = shown_time(time.time() - 9 * DAY_S)
    path = lay(tmp_path / "a.jsonl", data, days_old=9)
    found = named_session(str(path), read(data))
    assert found.called.split(", ")[1] == f"{shown or then}: hi"
    assert found.day == (shown or then)[:10]


def test_json_says_the_session_of_each_transcript(harness: Harness, folder: Path) -> None:
    lay(folder / "logs/s.jsonl", session("Mend the login"))
    for words in (["logs"], ["logs/s.jsonl"]):
        row = json.loads(harness("judge", *words, "--json").stdout.splitlines()[0])
        assert row["session"].startswith("shop, 20")
        assert row["session"].endswith(": Mend the login")


def test_a_session_that_names_no_folder_is_called_by_that_of_its_file(tmp_path: Path) -> None:
    rows = [{"role": "user", "content": "hi\x1b"}, {"role": "assistant", "content": "Hello."}]
    named = _name(tmp_path / "talks/a.json", json.dumps(rows).encode())
    assert named.startswith("talks, ")
    assert named.endswith(": hi\\u001b")


def test_the_first_screen_says_which_sessions_are_the_worst(harness: Harness, folder: Path) -> None:
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "seen"}
    for n in range(7):
        said = {"id": "m", "role": "user", "content": [result]}
        row = {"type": "user", "sessionId": "s", "uuid": "x", "message": said}
        bad = session(f"look at {n}", answered=False) + json.dumps(row).encode() + b"\n"
        lay(folder / f"logs/{n}.jsonl", bad + session("and then?"))
    done = harness("judge", "logs")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert len(lines) <= 25
    at = lines.index("✗ logs/0.jsonl")
    assert lines[at + 1].startswith("    shop, 20")
    assert lines[at + 1].endswith(": look at 0")


def test_a_baseline_sets_the_last_week_beside_the_one_before(
    harness: Harness, folder: Path
) -> None:
    for days_old in (1, 2, 10):
        lay(folder / f"logs/{days_old}.jsonl", session("Mend the login"), days_old=days_old)
    told = harness("judge", "logs", "--baseline", "b.tsv", "--update-baseline").stdout
    newest = shown_time(time.time() - DAY_S)[:10]
    weeks = f"week to {newest}: 2 sessions, 0 failed; the week before: 1 session, 0 failed"
    assert told.splitlines()[-1] == weeks
    summary = json.loads(harness("judge", "logs", "--json").stdout.splitlines()[-1])["summary"]
    assert [week["sessions"] for week in summary["weeks"]] == [2, 1]
