"""Real recordings, where they are at hand: nothing in them is refused that could be read.

The corpus is not part of the project. `LOOP_HARNESS_CORPUS` names its folder; without it the
folder `shared/corpus` beside the project is looked for.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from harness.checks.loops import no_progress_stop
from harness.core.calls import ModelRequest
from harness.core.events import Called
from harness.incidents.as_history import as_history
from harness.incidents.counts import counts
from harness.incidents.read import read
from harness.incidents.transcripts import Transcript

_BESIDE = Path(__file__).parents[3] / "shared" / "corpus"
_NOT_READ = ("not an LLM path: ", "response: ")


@pytest.fixture(scope="module")
def corpus() -> Path:
    """The folder of the corpus."""
    folder = Path(os.environ.get("LOOP_HARNESS_CORPUS") or _BESIDE)
    if not folder.is_dir():
        pytest.skip("no corpus of recordings: set LOOP_HARNESS_CORPUS to its folder")
    return folder


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_every_session_log_is_read(corpus: Path) -> None:
    files = _files(corpus / "claude_code_jsonl")
    assert len(files) == 22
    failing = 0
    for path in files:
        recording = read(path.read_bytes(), path.name)
        assert recording.format == "claude_code"
        assert recording.transcripts
        for transcript in recording.transcripts:
            found = counts(transcript)
            assert found["orphan_results"] == found["duplicate_results"] == 0
            _check_findings(transcript)
            failing += bool(found["same_fail_runs_explicit"])
    assert failing == 1, "one batch whose first call failed: seven siblings errored"


def test_every_cassette_with_a_call_to_a_model_is_read(corpus: Path) -> None:
    files = _files(corpus / "vcr_yaml")
    assert len(files) == 2002
    refused: Counter[str] = Counter()
    transcripts = 0
    for path in files:
        recording = read(path.read_bytes(), path.name)
        assert recording.format == "vcr"
        transcripts += len(recording.transcripts)
        refused += recording.refused
        for transcript in recording.transcripts:
            _check_history(transcript)
            _check_findings(transcript)
    assert transcripts == 3131
    assert not [reason for reason in refused if not reason.startswith(_NOT_READ)]


def _check_findings(transcript: Transcript) -> None:
    """A run that is counted is a finding, and nothing else is one."""
    found = {finding.code for finding in no_progress_stop(as_history(transcript))}
    counted = counts(transcript)
    assert ("no_progress_stop.same_call" in found) == bool(counted["same_call_runs"])
    failing = bool(counted["same_fail_runs_explicit"])
    assert ("no_progress_stop.same_failure" in found) == failing


def _check_history(transcript: Transcript) -> None:
    """The last request of an exchange, put together again, is what was sent."""
    history = as_history(transcript)
    kept: list[str] = []
    for event in history.events:
        if isinstance(event, Called) and isinstance(event.request, ModelRequest):
            kept = kept[: event.request.keep] + list(event.request.messages)
    sent = transcript.messages[: -1 if transcript.answered else None]
    assert [history.messages[name] for name in kept] == list(sent)
