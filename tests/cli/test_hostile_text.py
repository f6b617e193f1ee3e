"""No text from outside reaches the terminal raw, by any verb: not as control, not as direction."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from harness.cli import terminal
from harness.core.values.visible_text import visible, visible_line
from tests.cli.talks import REFERENCE, Command

OBEYED = "".join(
    chr(code)
    for first, last in ((0, 9), (0xB, 0x1F), (0x7F, 0x9F), (0x61C, 0x61C), (0x200E, 0x200F),
                        (0x2028, 0x202E), (0x2066, 0x2069))
    for code in range(first, last + 1)
)  # fmt: skip
"""Every character that a terminal obeys, except the line feed."""

RAW = re.compile(f"[{re.escape(OBEYED)}]")

HOSTILE = f"\x1b[2J\x1b]0;owned\x07\n✓ forged\n{OBEYED}\u202eevil"
NAME = OBEYED.replace("\0", "") + "\u202e\n✓ forged"
FORGED = re.compile(r"^✓ forged", re.MULTILINE)


def _scenario(name: str, **more: object) -> str:
    turn = {"use": "look", "input": {HOSTILE: HOSTILE}, "times": 3}
    tool = {"description": HOSTILE, "input_schema": {"type": "object"},
            "script": [{"ok": HOSTILE, "times": "forever"}]}  # fmt: skip
    return yaml.safe_dump({
        "name": name, "title": HOSTILE, "story": HOSTILE, "source": [HOSTILE],
        "inbox": [{"text": HOSTILE}], "tools": {"look": tool},
        "script": [turn, {"say": HOSTILE}, {"say": HOSTILE}],
        **more,
    })  # fmt: skip


def _log() -> str:
    call = {"tool_call_id": HOSTILE, "function_name": HOSTILE, "arguments": {HOSTILE: HOSTILE}}
    step = {"step_id": 1, "source": "agent", "message": HOSTILE, "tool_calls": [call] * 3}
    return json.dumps({
        "session_id": HOSTILE, "schema_version": "ATIF-v1.4", "agent": {"name": HOSTILE},
        "steps": [{"step_id": 0, "source": "user", "message": HOSTILE}, *[step] * 6],
    })  # fmt: skip


@pytest.fixture
def hostile(talks: Path) -> Path:
    """A folder whose scenarios, recordings and file names say all of it."""
    for path in (talks / "scenarios").iterdir():
        path.unlink()
    expect = {"outcome": "failed_truthfully"}
    (talks / "scenarios/hostile.yaml").write_text(_scenario("hostile", expect=expect))
    Path(talks, "scenarios", NAME).symlink_to("/")
    logs = talks / "logs"
    logs.mkdir()
    (logs / "a.json").write_text(_log())
    Path(logs, NAME).write_text(_log())
    Path(logs, f"{NAME}2").write_text("no recording")
    os.mkfifo(Path(logs, f"{NAME}3"))
    (talks / "bad.yaml").write_text(_scenario("bad", **{HOSTILE: 1}))
    (talks / "value.yaml").write_text(_scenario("value", stream=HOSTILE))
    (talks / "kind.yaml").write_text(_scenario("kind", faults=[{"kind": HOSTILE}]))
    return talks


WORDS: list[tuple[str, ...]] = [
    ("run", "-v", "--target", REFERENCE),
    ("run", "-vv", "--json", "--target", REFERENCE),
    ("run", "bad.yaml", "--target", REFERENCE),
    ("run", "value.yaml", "--target", REFERENCE),
    ("run", "kind.yaml", "--target", REFERENCE),
    ("run", "--target", HOSTILE.replace("\0", "")),
    ("run", "--only", HOSTILE, "--target", REFERENCE),
    ("run", f"{NAME}.yaml", "--target", REFERENCE),
    ("run", "--seed", HOSTILE, "--target", REFERENCE),
    ("run", "--dry-run", "--target", REFERENCE),
    ("list", "scenarios"),
    ("list", "scenarios", "--json"),
    ("list", NAME),
    ("judge", "logs", "-v"),
    ("judge", "logs", "-v", "--json"),
    ("judge", f"logs/{NAME}", f"logs/{NAME}2", "-v"),
    ("judge", "logs", "--format", HOSTILE),
    ("judge", "logs", "--check", HOSTILE),
    ("import", "logs/a.json", "--name", "made"),
    ("import", f"logs/{NAME}2", "--name", "made"),
    ("explain", HOSTILE),
    ("show", f"logs/{NAME}"),
    ("shrink", "scenarios/hostile.yaml", "--target", REFERENCE, "--max-runs", "3"),
    ("fuzz", "--target", HOSTILE.replace("\0", "")),
    ("record", "--target", HOSTILE.replace("\0", ""), "--out", "x"),
    ("serve", f"{NAME}.yaml"),
    ("doctor", "--target", HOSTILE.replace("\0", "")),
    (HOSTILE,),
]


@pytest.mark.parametrize("words", WORDS, ids=lambda words: f"{words[0][:8]!r} {len(words)}")
def test_no_verb_prints_it_raw(in_process: Command, hostile: Path, words: tuple[str, ...]) -> None:
    done = in_process(*words)
    for said in (done.out, done.err):
        assert not RAW.search(said), RAW.search(said)
        assert not FORGED.search(said), said
    assert done.out or done.err


COMMANDS = "::error::forged\n \t::add-mask::x\nsaid ##[error]forged\na::b ## [c]"


def _obeyed_by_github(line: str) -> bool:
    """Whether a line is a workflow command, as the runner tells."""
    return line.lstrip().startswith("::") or "##[" in line


def test_no_text_is_a_workflow_command_of_github(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    terminal.out(COMMANDS)
    terminal.note(COMMANDS)
    for said in capsys.readouterr():
        assert not any(map(_obeyed_by_github, said.splitlines()))
        assert said.endswith("a::b ## [c]\n")
    terminal.annotate("::error::ours")
    assert capsys.readouterr().err == "::error::ours\n"
    monkeypatch.delenv("GITHUB_ACTIONS")
    terminal.out("::error::ours")
    assert capsys.readouterr().out == "::error::ours\n"


def test_a_timeline(in_process: Command, hostile: Path) -> None:
    in_process("run", "--target", REFERENCE, "--out", "runs")
    (history,) = (hostile / "runs").rglob("history.jsonl")
    for words in (("show", str(history)), ("show", str(history), "--json")):
        done = in_process(*words)
        assert done.status == 0
        assert not RAW.search(done.out)


def test_json_says_the_same(in_process: Command, hostile: Path) -> None:
    (row,) = map(json.loads, in_process("list", "scenarios", "--json").out.splitlines())
    assert row["title"] == HOSTILE


@pytest.mark.parametrize("character", OBEYED)
def test_each_character_is_written_out(character: str) -> None:
    assert visible(f"a{character}b\n") == f"a\\u{ord(character):04x}b\n"
    assert visible_line(f"{character}\n") == f"\\u{ord(character):04x}\\u000a"


def test_our_own_colours_stay_and_those_of_strangers_do_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "_is_terminal", lambda stream: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    paint: Callable[..., str] = terminal.paint()
    terminal.out(paint("pass", "a\x1b[31mb"))
    assert capsys.readouterr().out == "\x1b[32ma\\u001b[31mb\x1b[0m\n"
