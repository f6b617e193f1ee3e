"""Real recordings, where they are available: nothing in them is refused that could be read.

The corpus is not part of the project. `LOOP_HARNESS_CORPUS` names its folder; without it the
folder `shared/corpus` beside the project is looked for.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from pathlib import Path

import pytest

from harness.checks.loops import no_progress_stop
from harness.checks.request_form import role_alternation
from harness.core.history.events import Called
from harness.core.history.repetition import REPEATS
from harness.core.values.calls import ModelRequest
from harness.recordings.recognition import format_of, formats, read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript

_BESIDE = Path(__file__).parents[3] / "shared" / "corpus"
_NOT_READ = ("no LLM traffic: ", "a text completion", "a compaction", "a count", "response: ")


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


def test_a_summary_after_a_result_is_no_second_message_of_the_user(corpus: Path) -> None:
    """The log has them side by side, and is counted so; no request held both."""
    told = counted = compacted = 0
    for path in _files(corpus / "claude_code_jsonl"):
        for transcript in read(path.read_bytes(), path.name).transcripts:
            told += len(list(role_alternation(to_history(transcript))))
            counted += counts(transcript)["alternation"]
            compacted += len(transcript.restarts)
    assert (told, counted, compacted) == (2, 23, 3)


def test_every_trace_is_read(corpus: Path) -> None:
    calls = []
    for path in _files(corpus / "otel"):
        recording = read(path.read_bytes(), path.name)
        assert recording.format == "otel"
        (transcript,) = recording.transcripts
        found = counts(transcript)
        assert (found["messages"], found["alternation"]) == (0, 0)
        assert found["tool_calls"] == found["tool_results"]
        assert found["unanswered_calls"] == found["late_results"] == 0
        calls.append(found["tool_calls"])
        _check_findings(transcript)
    assert sorted(calls) == [2, 2, 2, 3, 3, 3, 3]


@pytest.mark.real
def test_every_cassette_with_a_call_to_a_model_is_read(corpus: Path) -> None:
    files = _files(corpus / "vcr_yaml")
    assert len(files) == 2002
    refused: Counter[str] = Counter()
    transcripts = 0
    for path in files:
        recording = read(path.read_bytes(), path.name)
        assert recording.format == "vcr"
        assert recording.transcripts or recording.refusals
        transcripts += len(recording.transcripts)
        refused += recording.refused
        for transcript in recording.transcripts:
            _check_history(transcript)
            _check_findings(transcript)
    assert transcripts == 3131
    assert not [reason for reason in refused if not reason.startswith(_NOT_READ)]


@pytest.mark.parametrize(
    ("folder", "format", "files", "transcripts", "messages", "calls", "results"),
    [
        ("har", "har", 52, 53, 109, 13, 1),
        ("chat_json", "chat_json", 13, 212, 5192, 1199, 1189),
        ("traj/SWE-agent__SWE-agent", "swe_agent", 22, 26, 547, 271, 271),
        ("traj/SWE-agent__mini-swe-agent", "chat_json", 2, 2, 26, 0, 0),
        ("traj/aorwall__moatless-tools", "moatless", 2, 2, 96, 48, 48),
        ("traj/meridianlabs-ai__inspect_scout", "atif", 4, 4, 27, 2, 1),
        ("traj/princeton-nlp__intercode", "intercode", 12, 731, 8600, 4300, 4300),
    ],
)
def test_every_document_is_read(
    corpus: Path, folder: str, format: str, files: int, transcripts: int, messages: int,
    calls: int, results: int,
) -> None:  # fmt: skip
    found, recordings = Counter[str](), []
    for path in _files(corpus / folder):
        recording = read(path.read_bytes(), path.name)
        assert recording.format == format
        assert recording.transcripts or recording.refusals
        recordings.append(recording)
        for transcript in recording.transcripts:
            found.update({k: v for k, v in counts(transcript).items() if isinstance(v, int)})
            _check_findings(transcript)
    assert len(recordings) == files
    assert sum(len(recording.transcripts) for recording in recordings) == transcripts
    assert (found["messages"], found["tool_calls"], found["tool_results"]) == (
        messages, calls, results,
    )  # fmt: skip
    assert found["orphan_results"] == found["late_results"] == found["unanswered_calls"] == 0


def test_what_an_archive_holds_beside_calls_to_a_model_is_named(corpus: Path) -> None:
    refused: Counter[str] = Counter()
    for path in _files(corpus / "har"):
        refused += read(path.read_bytes(), path.name).refused
    assert refused == {
        "no LLM traffic: POST /v1/embeddings": 4,
        "no LLM traffic: POST /v1/images/generations": 3,
        "a text completion, which has no messages: POST /v1/completions": 2,
    }


def test_documents_have_as_many_messages_as_the_corpus_says(corpus: Path) -> None:
    """The manifest was counted by another program; it counts one message too many in one file."""
    with (corpus / "MANIFEST.tsv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["unit"] == "messages"]
    told = {r["file"]: int(r["interactions_or_messages"]) for r in rows if _is_document(r["file"])}
    assert len(told) == 55
    differing = {}
    for name, wanted in told.items():
        transcripts = read((corpus / name).read_bytes(), name).transcripts
        counted = sum(counts(transcript)["messages"] for transcript in transcripts)
        if counted != wanted:
            differing[name.rpartition("__")[2]] = (wanted, counted)
    assert differing == {"function_calling_simple.traj": (12, 11)}


def _is_document(name: str) -> bool:
    return name.startswith(("chat_json/", "traj/"))


@pytest.mark.real
def test_one_format_claims_a_file_before_those_that_fit_others(corpus: Path) -> None:
    for path in _files(corpus):
        if path.parent != corpus:
            data = path.read_bytes()
            first, *others = [n for n, kind in formats().items() if kind.recognises(data)]
            assert first == format_of(data)
            # A form that many programs write also fits the logs that wrap a chat message.
            assert all(formats()[name].fits_others for name in others), path


def _check_findings(transcript: Transcript) -> None:
    """What is found is counted, and a run of calls or results of several messages is found."""
    found = {finding.code for finding in no_progress_stop(to_history(transcript))}
    counted = counts(transcript)
    runs = {
        "no_progress_stop.same_call": bool(counted["same_call_runs"]),
        "no_progress_stop.same_failure": bool(counted["same_fail_runs_explicit"]),
    }
    batched = {code for code, counts in runs.items() if counts} - found
    turns = {"no_progress_stop.cycle"} if counted["cycle2_runs"] else set()
    assert found <= {code for code, counts in runs.items() if counts} | turns
    assert not batched or _most_calls_of_a_message(transcript) >= REPEATS


def _most_calls_of_a_message(transcript: Transcript) -> int:
    return max((len(message.tool_uses) for message in transcript.messages), default=0)


def _check_history(transcript: Transcript) -> None:
    """The last request of an exchange, put together again, is what was sent."""
    history = to_history(transcript)
    kept: list[str] = []
    for event in history.events:
        if isinstance(event, Called) and isinstance(event.request, ModelRequest):
            kept = kept[: event.request.keep] + list(event.request.messages)
    sent = transcript.messages[: -1 if transcript.answered else None]
    assert [history.messages[name] for name in kept] == list(sent)
