"""`harness secrets`: what cassettes, logs and databases hold already, told without being shown."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from harness.cassettes.cassette_file import read_cassette
from harness.cassettes.recorder import excerpt
from tests.cassettes.recorded import ASK, cassette, interaction, said
from tests.cli.conftest import Harness

KEY = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b"
NAMED = "Xk29fLq8ZtR4vWc7Yb1N"


def _asking(text: str) -> dict[str, object]:
    return {**ASK, "messages": [{"role": "user", "content": text}]}


def test_a_cassette_is_told_by_exchanges(harness: Harness, folder: Path) -> None:
    one = interaction(_asking(f"api_key={NAMED}"), said("I see."))
    other = interaction(_asking("go on"), said(f"use {KEY}"))
    (folder / "x.yaml").write_bytes(cassette(one, other))
    done = harness("secrets", "x.yaml")
    assert done.returncode == 1
    first, second, summary = done.stdout.splitlines()
    assert first.startswith("x.yaml: exchange 1, request's body: value of a secret's name (digest ")
    assert second.startswith("x.yaml: exchange 2, answer's body: GitHub (digest ")
    assert summary == "2 secrets in 1 of 1 file"
    assert KEY[4:20] not in done.stdout
    assert NAMED[:12] not in done.stdout
    digests = [line.partition("(digest ")[2].rstrip(")") for line in (first, second)]
    allowed = harness("secrets", "x.yaml", "--allow", digests[0], "--allow", digests[1])
    assert (allowed.returncode, allowed.stdout) == (0, "no secret in 1 file\n")


def test_logs_and_databases_of_a_folder_are_told_by_their_places(
    harness: Harness, folder: Path
) -> None:
    (folder / "logs").mkdir()
    (folder / "logs" / "a.jsonl").write_text(f'{{"a": 1}}\n{{"text": "it is {KEY}"}}\n')
    (folder / "logs" / "b.txt").write_text("nothing\n")
    with sqlite3.connect(folder / "logs" / "c.db") as database:
        database.execute("create table t (a)")
        database.execute("insert into t values (?)", [f"token: {NAMED}"])
    done = harness("secrets", "logs", "--json")
    assert done.returncode == 1
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["file"], row["issuer"]) for row in rows] == [
        ("logs/a.jsonl", "GitHub"),
        ("logs/c.db", "value of a secret's name"),
    ]
    assert rows[0]["place"] == "line 2"
    assert rows[1]["place"].startswith("byte ")


def test_what_redaction_has_written_holds_none(harness: Harness, folder: Path) -> None:
    (folder / "x.yaml").write_bytes(cassette(interaction(_asking(f"api_key={NAMED}"), said(KEY))))
    (folder / "y.yaml").write_bytes(excerpt(read_cassette(folder / "x.yaml")))
    assert harness("secrets", "y.yaml").returncode == 0


def test_a_file_that_is_not_there_is_an_error(harness: Harness) -> None:
    done = harness("secrets", "gone.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "gone.yaml" in done.stderr
