"""Secrets wherever an agent or a model can say them: no file that we write holds one."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cli.judge_journal import JudgeJournal, stamp
from harness.cli.scenario_import import ImportRequest
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.core.values.errors import InputError
from harness.core.values.verdict import Finding
from harness.fuzz import findings
from harness.fuzz.batch import BatchResult
from harness.fuzz.campaign import begin
from harness.fuzz.campaign_journal import CampaignPlan
from harness.fuzz.findings import ShrunkFinding
from harness.recordings.transcripts import Refusal
from harness.runner import run
from harness.verdicts.command_events import FileRead
from tests.cassettes.recorded import ASK, cassette, interaction, said
from tests.recordings.imports import import_file
from tests.redaction.secrets import TOKENS

_HEX = st.binary(max_size=4).map(lambda data: hashlib.sha256(data).hexdigest()[:32])
_PLANTED = st.fixed_dictionaries(
    {
        "shape": TOKENS,
        "name": _HEX,
        "password": st.from_regex(r"[a-z]{5}[0-9]{3}[A-Z]{4}", fullmatch=True),
    }
)
Planted = dict[str, str]


def _words(planted: Planted) -> str:
    """A text that holds all of them."""
    return (
        f"use {planted['shape']} and VENDOR_KEY={planted['name']} "
        f'or {{"password": "{planted["password"]}"}} now'
    )


def _found(folder: Path, planted: Planted) -> list[tuple[str, Path]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [
        (name, path)
        for path in files
        for name, secret in planted.items()
        if secret.encode() in path.read_bytes()
    ]


def _leaky(words: str) -> Callable[[Any], None]:
    """An agent that keeps files with secrets, says them, and crashes with them."""

    def agent(brief: Any) -> None:
        folder = Path(brief.session_dir)
        (folder / "notes.txt").write_text(words)
        (folder / "log.jsonl").write_text(json.dumps({"said": words}) + "\n")
        with closing(sqlite3.connect(folder / "own.db")) as database:
            database.execute("pragma journal_mode = wal")
            database.execute("create table said (text text)")
            database.execute("insert into said values (?)", (words,))
            database.commit()
        for message in brief.inbox():
            client = brief.anthropic()
            asked: list[Any] = [{"role": "user", "content": message.text}]
            with client.messages.stream(
                model="m", max_tokens=64, system=words, messages=asked
            ) as stream:
                brief.send(stream.get_final_text() + words)
        raise ValueError(words)

    return agent


@settings(max_examples=10, deadline=None)
@given(_PLANTED)
def test_a_run_writes_none(planted: Planted) -> None:
    words = _words(planted)
    scenario = Scenario(
        name="leaky",
        stream=True,
        inbox=(InboxItem(text=words),),
        script=(Turn(say=words), Turn(say="x", optional=True)),
    )
    with TemporaryDirectory() as out:
        done = run(scenario, _leaky(words), out=Path(out), keep=True)
        assert done.verdict.verdict == "fail"
        assert done.kept is not None
        assert sorted(path.name for path in done.kept.rglob("own.db")) == ["own.db"]
        assert _found(Path(out), planted) == []
        with closing(sqlite3.connect(next(done.kept.rglob("own.db")))) as database:
            assert database.execute("pragma integrity_check").fetchall() == [("ok",)]


def _exchange(words: str) -> bytes:
    request = {**ASK, "system": words, "messages": [{"role": "user", "content": words}]}
    return cassette(interaction(request, said(words)))


@settings(max_examples=10, deadline=None)
@given(_PLANTED)
def test_import_writes_none(planted: Planted) -> None:
    with TemporaryDirectory() as folder, TemporaryDirectory() as out:
        source = Path(folder) / "a.yaml"
        source.write_bytes(_exchange(_words(planted)))
        import_file(ImportRequest(file=source, name="imported", out=Path(out)))
        assert len([p for p in Path(out).rglob("*") if p.is_file()]) == 2
        assert _found(Path(out), planted) == []


@settings(max_examples=10, deadline=None)
@given(_PLANTED)
def test_a_campaign_and_a_judge_write_none(planted: Planted) -> None:
    words = _words(planted)
    with TemporaryDirectory() as out:
        folder = Path(out)
        _, journal = begin(folder, CampaignPlan(target="x:y", seed=1), ())
        told = Finding("a.b", words)
        shrunk = ShrunkFinding(finding=told, example=1, name="n", text=f"a: '{words}'")
        journal.write(shrunk)
        journal.write(BatchResult(number=0, examples=1, model_calls=1, doubts=(words,)))
        journal.close()
        findings.write(folder, shrunk, f"pkg:agent {words}")
        known = stamp(__file__, "a", "auto")
        assert known is not None
        with JudgeJournal(folder / "judged") as judged:
            judged.add(known, FileRead(path="a", format="vcr", refusals=(Refusal("", words),)))
        assert _found(folder, planted) == []


def test_a_campaign_does_not_begin_with_a_secret_in_its_target(tmp_path: Path) -> None:
    plan = CampaignPlan(target="process:agent --api-key a7b8c9d0e1f2a3b4c5d6e7f8a9b0c1d2", seed=1)
    with pytest.raises(InputError, match="holds a secret"):
        begin(tmp_path / "out", plan, ())
    assert list(tmp_path.iterdir()) == []
