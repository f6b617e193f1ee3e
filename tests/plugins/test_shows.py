"""One module of fifteen lines, and its fault and its check work by name in every verb."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from harness.contracts import check_check, check_fault
from harness.plugins import load_plugins
from tests.cli.talks import REFERENCE
from tests.plugins.conftest import MY_PARTS, Line

FLAG = ("--plugin", "my_parts")
RUN = ("run", "scenarios", "--target", REFERENCE, *FLAG)


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_module_is_short() -> None:
    lines = [line for line in MY_PARTS.splitlines() if line.strip()]
    assert len(lines) <= 15


def test_run(harness: Line, folder: Path) -> None:
    status, out, _ = harness(*RUN, "--json")
    plain, strict = rows(out)
    assert status == 1
    assert (plain["name"], plain["verdict"]) == ("greeting", "pass")
    (finding,) = strict["findings"]  # type: ignore[misc]
    assert finding["code"] == "my_parts.polite.word"
    assert finding["check"] == "my_parts.polite"
    assert finding["repeat"].endswith("--plugin my_parts")
    events = [json.loads(line) for line in Path(str(plain["history"])).read_text().splitlines()]
    struck = [event for event in events if "my_parts.slow_disk" in event.get("faults", ())]
    assert struck
    assert {tuple(event["layers"].items()) for event in struck} == {
        (("my_parts.slow_disk", "persistence"),)
    }


def test_a_dry_run(harness: Line) -> None:
    status, out, _ = harness(*RUN, "--dry-run", "-v")
    assert (status, out.count("  my_parts.slow_disk")) == (0, 2)


@pytest.mark.parametrize("what", ["faults", "checks", "formats", "stores"])
def test_list(what: str, harness: Line) -> None:
    ours = harness("list", what).out
    with_guests = harness("list", what, *FLAG).out
    added = {"faults": "my_parts.slow_disk", "checks": "my_parts.polite"}.get(what)
    new = [line for line in with_guests.splitlines() if line not in ours.splitlines()]
    assert [line.split()[0] for line in new if "my_parts" in line] == ([added] if added else [])
    assert all(line.endswith("[plug-in my_parts]") for line in new if "my_parts" in line)
    marked = [row for row in rows(harness("list", what, "--json", *FLAG).out) if "plugin" in row]
    assert [(row["name"], row["plugin"]) for row in marked] == (
        [(added, "my_parts")] if added else []
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("my_parts.slow_disk", "The disk stalls before it answers."),
        ("my_parts.polite", "No reply has the word."),
        ("my_parts.polite.word", "No reply has the word."),
    ],
)
def test_explain(code: str, words: str, harness: Line) -> None:
    status, out, _ = harness("explain", code, *FLAG)
    assert status == 0
    assert words in out
    assert harness("explain", code).status == 2


def test_schema(harness: Line) -> None:
    ours, with_guests = (json.loads(harness("schema", *more).out) for more in ((), FLAG))

    def kinds(schema: Any) -> set[str]:
        options = schema["definitions"]["FaultSpec"]["properties"]["kind"]["anyOf"]
        return {option["const"] for option in options}

    assert kinds(with_guests) - kinds(ours) == {"my_parts.slow_disk"}
    assert "my_parts.polite" in with_guests["definitions"]["CheckSettings"]["properties"]
    assert "my_parts" not in json.dumps(ours)


def test_judge_and_show(harness: Line, folder: Path) -> None:
    harness(*RUN)
    kept = folder / ".harness/runs/greeting/strict/history.jsonl"
    status, out, _ = harness("judge", str(kept), "--check", "my_parts.polite", *FLAG)
    assert status == 1
    assert "my_parts.polite.word" in out
    assert harness("judge", str(kept), "--check", "my_parts.polite").status == 2
    assert "my_parts.polite.word" in harness("show", str(kept), *FLAG).out


@pytest.mark.real
def test_judge_again_after_the_plugin_was_changed(harness: Line, folder: Path) -> None:
    harness(*RUN)
    words = ("judge", str(folder / ".harness/runs/greeting/strict"), "--resume", str(folder / "j"))
    assert [harness(*words, *FLAG).status, harness(*words, *FLAG).status] == [1, 1]
    assert harness(*words).status == 3, "without its plug-in a check of the scenario is a doubt"


@pytest.mark.real
def test_shrink(harness: Line, folder: Path) -> None:
    words = ("--target", REFERENCE, "--keep", "my_parts.polite.word", "--out", "small", *FLAG)
    status, out, err = harness("shrink", "scenarios/greeting.yaml", *words)
    assert status == 0, err
    assert "my_parts.polite.word is kept" in out
    (file,) = (folder / "small").glob("*.yaml")
    assert "my_parts.polite" in file.read_text()
    assert "my_parts.slow_disk" not in file.read_text(), "the finding does not need the fault"
    assert harness("run", str(file), "--target", REFERENCE, *FLAG).status == 1


def test_an_overlay(harness: Line, folder: Path) -> None:
    (folder / "slow.yaml").write_text("faults: [{kind: my_parts.slow_disk, when: 2}]\n")
    _, out, _ = harness(*RUN, "--only", "greeting", "--faults", "slow.yaml", "--dry-run")
    assert out.count("my_parts.slow_disk") == 2
    status, _, err = harness("run", "--target", REFERENCE, "--faults", "slow.yaml")
    assert status == 2
    assert "no plug-in with the prefix 'my_parts' is loaded" in err


OTHER_PARTS = """
from pathlib import Path
from harness import InputError, Message, Text
from harness.recordings import Recording, Transcript
from harness.stores import Store, stored_row

def talk_log(document: bytes) -> Recording | None:
    '''Logs of the talk agent.'''
    if not document.startswith(b"TALK 1\\n"):
        return None
    texts = document.decode("utf-8", "replace").splitlines()[1:]
    if not texts:
        raise InputError("the log is empty", "line 2")
    said = zip(("user", "assistant") * len(texts), texts)
    messages = tuple(Message(role, (Text(text),)) for role, text in said)
    return Recording((Transcript(name="talk", messages=messages),))

class _Notes:
    name = "notes"
    def __init__(self, path):
        self._path = path
    def read(self):
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        return [stored_row(str(n), Message("user", (Text(s),))) for n, s in enumerate(lines)]

def notes(path: Path) -> Store:
    '''One message a line.'''
    return _Notes(path)
"""


def test_a_format_and_a_store_of_a_plugin(harness: Line, folder: Path) -> None:
    (folder / "other_parts.py").write_text(OTHER_PARTS)
    (folder / "talk.log").write_text("TALK 1\nhello\ngood morning\n")
    (folder / "empty.log").write_text("TALK 1\n")
    (folder / "scenarios/said.txt").write_text("what was said before\n")
    flag = ("--plugin", "other_parts")
    assert "other_parts.talk_log" in harness("list", "formats", *flag).out
    assert "other_parts.notes" in harness("list", "stores", *flag).out
    status, out, _ = harness("judge", "talk.log", "--json", *flag)
    assert (status, '"other_parts.talk_log"' in out) == (0, True)
    assert "the log is empty" in harness("judge", "empty.log", *flag).out
    asked = harness("judge", "talk.log", "--format", "other_parts.talk_log")
    assert "no plug-in with the prefix 'other_parts' is loaded" in asked.err
    (folder / "scenarios" / "seeded.yaml").write_text(
        "name: seeded\ninbox: Hello\nscript: [{say: Good morning.}]\n"
        "session: {file: said.txt, format: other_parts.notes}\n"
    )
    run = ("run", "scenarios/seeded.yaml", "--target", REFERENCE, *flag)
    status, out, err = harness(*run, "--json")
    assert status == 0, out + err
    (row,) = rows(out)
    assert "what was said before" in Path(str(row["history"])).read_text()


def test_the_contracts(folder: Path) -> None:
    load_plugins("my_parts")
    parts = import_module("my_parts")
    check_fault(parts.slow_disk, examples=10)
    check_check(parts.polite, examples=10)


def test_the_contracts_find_what_is_wrong(folder: Path) -> None:
    wrong = MY_PARTS.replace("(Wait(wait_ms), *plan)", "[*plan]").replace("(sending.n,)", "(0,)")
    (folder / "other_parts.py").write_text(wrong.replace('"darn"', '"o"'))
    load_plugins("other_parts")
    parts = import_module("other_parts")
    with pytest.raises(AssertionError, match=r"other_parts\.slow_disk: .* it gave a list"):
        check_fault(parts.slow_disk)
    with pytest.raises(AssertionError, match="is proved by event 0"):
        check_check(parts.polite, examples=100)
