"""Whole commands in this process, in a folder whose files and agent say a case."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest import mock
from xml.etree import ElementTree

import yaml

from harness.cli import main
from tests.fuzz.writers import speakers
from tests.fuzz.writers.hostile_values import Case, drawn
from tests.fuzz.writers.writers import check, text_in

_AGENT = """\
from tests.fuzz.writers import commands


def agent(brief):
    commands.agent(brief, {seed!r})
"""

_BROKEN = re.compile(r"Traceback \(most recent|harness failure")


def agent(brief: Any, seed: str) -> None:
    """Say the case of a seed, by an act which is drawn. It runs in a worker of the command."""
    draws = Random(seed)
    case = drawn(draws)
    draws.choice(speakers.ACTS)(brief, case, draws)


class Ended(NamedTuple):
    """How a command ended: its status, standard output and standard error."""

    status: int
    out: bytes
    err: bytes


def command(*words: str, encoding: str = "ascii") -> Ended:
    """Run a command; the terminal has the given encoding."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2)]
    status: Any = 0
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            main(list(words))
        except SystemExit as left:
            status = left.code
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue() for stream in streams)  # type: ignore[attr-defined]
    told = err.decode(encoding)
    check(not _BROKEN.search(told), f"{words}: {told[-300:]}")
    check(status in (0, 1, 2, 3), f"{words}: status {status}")
    text_in(out.decode("utf-8" if words[-1:] == ("-",) else encoding).encode())
    return Ended(status, out, err)


def _scenario_file(case: Case) -> str:
    text = case.text[:100_000]
    try:
        return yaml.safe_dump(_document(text))
    except UnicodeEncodeError:  # YAML has an escape for what its writer refuses
        return json.dumps(_document(text))


def _document(text: str) -> dict[str, Any]:
    tool = {"description": text, "input_schema": {"type": "object"},
            "script": [{"ok": text or "x", "times": "forever"}]}  # fmt: skip
    return {
        "name": "spoken", "title": text, "story": text, "source": [text or "x"],
        "inbox": [{"text": text or "x"}], "tools": {"look": tool},
        "script": [{"use": "look", "input": {text: text}, "times": 3, "optional": True},
                   {"say": text or "x", "optional": True, "times": 9}],
    }  # fmt: skip


def _recording(case: Case) -> bytes:
    text = case.text[:100_000]
    call = {"tool_call_id": text, "function_name": text, "arguments": {text: text}}
    step = {"step_id": 1, "source": "agent", "message": text, "tool_calls": [call] * 3}
    return json.dumps({
        "session_id": text, "schema_version": "ATIF-v1.4", "agent": {"name": text},
        "steps": [{"step_id": 0, "source": "user", "message": text}, *[step] * 6],
    }).encode()  # fmt: skip


def _cassette(case: Case) -> bytes:
    text = case.text[:100_000]
    url = "https://api.anthropic.com/v1/messages"
    asked = {"model": "m", "messages": [{"role": "user", "content": text}]}
    answer = {"type": "message", "role": "assistant", "stop_reason": "end_turn",
              "content": [{"type": "text", "text": text}], "usage": {}}  # fmt: skip
    item = {
        "request": {"method": "POST", "uri": url, "body": json.dumps(asked), "headers": {}},
        "response": {"status": {"code": 200, "message": "OK"}, "headers": {"x-a": [text[:9]]},
                     "body": {"string": json.dumps(answer)}},
    }  # fmt: skip
    return json.dumps({"interactions": [item], "version": 1}).encode()


FILES = ("--junit", "j.xml", "--markdown", "m.md", "--html", "p.html", "--github")


def runs(case: Case, draws: Random) -> None:
    """`run` with every output, then `show`, `judge` and `diff` of what it kept."""
    rows = command(
        "run", "spoken.yaml", "--target", "spoken_agent:agent", "--json", "--keep", *FILES
    )
    if rows.status == 2:
        return
    found = [json.loads(line) for line in rows.out.splitlines()]
    check([row.get("name") for row in found if "verdict" in row] == ["spoken"], f"rows {found}")
    check(len(list(ElementTree.parse("j.xml").iter("testcase"))) == 1, "the case is lost")
    command("run", "spoken.yaml", "--target", "spoken_agent:agent", "-v", "--out", "again")
    ElementTree.fromstring(
        command("run", "spoken.yaml", "--target", "spoken_agent:agent", "--junit", "-").out
    )
    kept = ".harness/runs/spoken/baseline"
    command("show", kept)
    for line in command("show", kept, "--json").out.splitlines():
        json.loads(line)
    command("show", kept, "--html", "show.html")
    command(
        "judge",
        kept,
        "--json",
        "--junit",
        "judged.xml",
        "--markdown",
        "judged.md",
        "--html",
        "j.html",
    )
    command("diff", ".harness/runs", "again", "--json", "--html", "diff.html")
    command("diff", ".harness/runs", "again", "--markdown", "-")


def recordings(case: Case, draws: Random) -> None:
    """`judge`, with a journal, and `import`."""
    Path("log.json").write_bytes(_recording(case))
    for words in (("--json", *FILES), ("-v", "--resume", "kept"), ("-v", "--resume", "kept")):
        ended = command("judge", "log.json", "-j", "1", *words)
        for line in ended.out.splitlines() if "--json" in words else ():
            json.loads(line)
    command("import", "log.json", "--name", "made", "--force", *draws.choice(((), ("--json",))))
    command("run", "scenarios/made.yaml", "--target", "spoken_agent:agent") if Path(
        "scenarios/made.yaml"
    ).exists() else None


def cassettes(case: Case, draws: Random) -> None:
    """`judge` and `import` of a cassette."""
    Path("c.yaml").write_bytes(_cassette(case))
    command("judge", "c.yaml", "--json")
    command("import", "c.yaml", "--name", "recorded", "--force", "--json")


def shrinks(case: Case, draws: Random) -> None:
    """`shrink` of a run that fails."""
    if not draws.randrange(3):
        command("shrink", "spoken.yaml", "--target", "spoken_agent:agent", "--minutes", "0.02")


def examines(case: Case, draws: Random) -> None:
    """`doctor --write` and `list`, and `config`."""
    name = "".join(c for c in case.text if c not in "\0/")[:40] or "x"
    if not draws.randrange(4):
        command(
            "doctor", "--target", "spoken_agent:agent", "--write", f"p{len(name)}.toml", "--json"
        )
    command("list", "scenarios", "--json")
    command("run", name, "--target", name)
    command("explain", name)
    command("config", "--target", name, *draws.choice(((), ("--json",))))


def fuzzes(case: Case, draws: Random) -> None:
    """`fuzz`, for two batches."""
    if not draws.randrange(6):
        command(
            "fuzz", "--target", "spoken_agent:agent", "--examples", "20", "--out", "f", "--json"
        )


COMMANDS: dict[str, Callable[[Case, Random], None]] = {
    "run": runs, "judge": recordings, "cassettes": cassettes, "shrink": shrinks,
    "doctor": examines, "fuzz": fuzzes,
}  # fmt: skip
"""The commands by group."""


def play(name: str, seed: str, folder: Path) -> None:
    """Run the commands of a group in a folder in which the case of a seed is said."""
    draws = Random(seed)
    case = drawn(draws)
    (folder / "spoken.yaml").write_text(_scenario_file(case), "utf-8")
    (folder / "spoken_agent.py").write_text(_AGENT.format(seed=seed), "utf-8")
    before = os.getcwd()
    os.chdir(folder)
    try:
        with mock.patch.object(sys, "path", [str(folder), *sys.path]):
            COMMANDS[name](case, draws)
    finally:
        os.chdir(before)
