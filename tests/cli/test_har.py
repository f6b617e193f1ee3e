"""A HAR on the command line: imported with a cassette beside it, listed as a run, behind a URL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cassettes.cassette_file import read_cassette
from harness.cassettes.cassette_player import NoCalls
from harness.cli.scenario_import import ImportRequest
from harness.cli.selection import plan
from harness.runner.cassette_model import playing
from tests.http_library import http
from tests.recordings import documents
from tests.recordings.documents import har_answer, har_entry
from tests.recordings.imports import import_file

ASKED = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
KEY = "sk-ant-api03-" + "aB3dE5fG7h" * 4
PICTURE = har_entry({}, {"text": ""}, url="https://cdn.example/a.png", method="GET")


def _archive(folder: Path) -> Path:
    entry = har_entry({**ASKED, "system": f"key {KEY}"}, har_answer())
    entry["request"]["url"] += f"&api_key={KEY}"
    entry["request"]["headers"] += [{"name": "cookie", "value": f"a={KEY}"}]
    path = folder / "agent.har"
    path.write_bytes(documents.har([PICTURE, entry]))
    return path


def test_an_import_writes_the_calls_beside_the_scenario_without_secrets(tmp_path: Path) -> None:
    asked = ImportRequest(file=_archive(tmp_path), name="made", out=tmp_path)
    made = import_file(asked)
    assert made.cassette == tmp_path / "cassettes" / "made.yaml"
    (found,) = read_cassette(made.cassette)
    assert found.answer.body == har_answer()["text"].encode()
    text = made.cassette.read_text() + made.scenario.read_text()
    assert "aB3dE5fG7h" not in text
    assert "REDACTED" in text


def test_an_archive_is_a_run_and_its_other_entries_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _archive(tmp_path)
    ((named, run),) = plan([path])
    assert (named, run.name, run.wire) == (str(path), "agent", "anthropic")
    assert capsys.readouterr().err == f"{path}: skipped, no LLM traffic: entry 1\n"


def test_an_archive_without_a_call_is_passed_over_in_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = tmp_path / "silent.har"
    silent.write_bytes(documents.har([PICTURE]))
    with pytest.raises(NoCalls, match="no LLM traffic: entry 1"):
        plan([tmp_path])
    _archive(tmp_path)
    assert len(plan([tmp_path])) == 1
    assert f"{silent}: no exchange of the cassette is a call" in capsys.readouterr().err


def test_an_archive_is_played_behind_a_url(tmp_path: Path) -> None:
    path = _archive(tmp_path)
    body = json.dumps({**ASKED, "system": f"key {KEY}"}).encode()
    with (
        pytest.warns(UserWarning, match="skipped, no LLM traffic: entry 1"),
        playing(path) as url,
    ):
        answer = http.post(f"{url}/v1/messages", content=body)
    assert answer.content == har_answer()["text"].encode()
