"""Logs of Inspect AI: our own reader, and Inspect itself, find the conversation again."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import given

from harness.core.values.messages import ToolUse
from harness.core.values.verdict import Verdict
from harness.recordings.recognition import format_named
from harness.recordings.transcripts import Recording
from harness.report.exports.exported_run import ExportedRun, numbered
from harness.report.exports.inspect_log import inspect_archive, inspect_log
from harness.report.exports.otlp_spans import otlp
from tests.compat.environments import ENVIRONMENTS
from tests.report.exports.made_runs import CATALOGUE, RunMaker, failing_run, histories, played

INSPECT = format_named("inspect_ai")


def _read(data: bytes) -> Recording:
    found = INSPECT.attempt(data)
    assert found is not None
    return found


def _talks(recording: Recording) -> list[tuple[Any, ...]]:
    """The calls and results of each sample."""
    return [
        (
            [(use.id, use.name, use.input) for m in one.messages for use in m.tool_uses],
            [(r.id, r.text, r.is_error) for m in one.messages for r in m.tool_results],
        )
        for one in recording.transcripts
    ]


def _last(run: ExportedRun, session: str) -> Any:
    own = [e for e in run.history.trace.exchanges if e.called.session == session]
    return next((e for e in reversed(own) if e.purpose == "main" and not e.request.unread), None)


def _wanted(run: ExportedRun) -> list[tuple[Any, ...]]:
    found = []
    for last in filter(None, (_last(run, session) for session in run.sessions)):
        said = (*last.node.messages, *([last.reply] if last.reply else []))
        calls = [(use.id, use.name, use.input) for m in said for use in m.tool_uses]
        given = [(r.id, r.text, r.is_error) for m in said for r in m.tool_results]
        found.append(([(i, n, v if isinstance(v, dict) else {}) for i, n, v in calls], given))
    return found


@given(histories())
def test_the_last_conversation_of_each_session_comes_back(run: ExportedRun) -> None:
    assert _talks(_read(inspect_log([run]))) == _wanted(run)


@pytest.mark.parametrize("name", CATALOGUE[2:])
def test_runs_of_the_catalogue_come_back(name: str) -> None:
    run = played(name)
    assert _talks(_read(inspect_log([run]))) == _wanted(run)


@given(histories())
def test_the_archive_holds_the_same_and_two_exports_are_equal(run: ExportedRun) -> None:
    data = inspect_archive([run])
    assert sorted(_talks(_read(data)), key=repr) == sorted(_wanted(run), key=repr)
    (again,) = numbered([(run.history, run.verdict)])
    assert inspect_archive([again]) == data
    assert inspect_log([again]) == inspect_log([run])


def test_the_verdict_is_the_score_and_the_share_of_passes_the_metric() -> None:
    made = RunMaker()
    made.comes("main", 1, "Hi.")
    made.asks("main", 1, say="Hello.")
    doubt = RunMaker().ended(Verdict("unknown", doubts=("a check crashed",)))
    log = json.loads(inspect_log([failing_run(), made.ended(), doubt]))
    scores = [sample["scores"]["harness"] for sample in log["samples"]]
    assert [score["value"] for score in scores] == ["I", "C", "N"]
    assert "no_progress_stop.same_failure: read fails twice" in scores[0]["explanation"]
    assert "a check crashed" in scores[2]["explanation"]
    (score,) = log["results"]["scores"]
    assert score["metrics"]["accuracy"]["value"] == pytest.approx(1 / 3)


def test_arguments_that_are_no_object_are_told_as_such() -> None:
    made = RunMaker()
    made.comes("main", 1, "Go.")
    made.asks("main", 1, ToolUse("t1", "read", "a.txt"))
    (sample,) = json.loads(inspect_log([made.ended()]))["samples"]
    (call,) = sample["messages"][-1]["tool_calls"]
    assert (call["arguments"], call["parse_error"]) == ({}, 'not an object: "a.txt"')


def test_each_member_of_the_archive_is_without_a_date() -> None:
    with ZipFile(BytesIO(inspect_archive([failing_run()]))) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


_WITH_INSPECT = """
import sys
from inspect_ai.log import read_eval_log, read_eval_log_sample
for path in sys.argv[1:]:
    log = read_eval_log(path)
    whole = [read_eval_log_sample(path, s.id, s.epoch) for s in log.samples]
    calls = sum(len(m.tool_calls or []) for s in whole for m in s.messages if m.role == "assistant")
    print(log.status, len(whole), calls, *sorted(s.scores["harness"].value for s in whole))
"""

_WITH_OTLP = """
import base64, json, sys
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
IDS = ("traceId", "spanId", "parentSpanId")
def based(v):  # OTLP has ids in hexadecimal digits, the JSON of protobuf in base64
    if isinstance(v, list):
        return [based(i) for i in v]
    if not isinstance(v, dict):
        return v
    return {k: base64.b64encode(bytes.fromhex(i)).decode() if k in IDS else based(i)
            for k, i in v.items()}
data = ParseDict(based(json.load(open(sys.argv[1], "rb"))), TracesData())
print(sum(len(s.spans) for r in data.resource_spans for s in r.scope_spans))
"""


@pytest.fixture(scope="module")
def official() -> Path:
    """A Python with the packages of Inspect AI and OpenTelemetry; skipped where none installs."""
    python = ENVIRONMENTS / "exports" / "bin" / "python"
    packages = ("inspect_ai", "opentelemetry-proto")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "-q", *packages], capture_output=True, timeout=500
    )
    return python if done.returncode == 0 else pytest.skip("inspect_ai does not install here")


def _says(python: Path, program: str, *files: Path) -> Sequence[str]:
    words = [str(python), "-c", program, *map(str, files)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.splitlines()


@pytest.mark.real
def test_the_packages_of_the_formats_read_them(official: Path, tmp_path: Path) -> None:
    runs = [failing_run(), played(CATALOGUE[3])]
    log, archive, spans = tmp_path / "a.json", tmp_path / "a.eval", tmp_path / "spans.json"
    log.write_bytes(inspect_log(runs))
    archive.write_bytes(inspect_archive(runs))
    spans.write_bytes(otlp(runs))
    one, other = _says(official, _WITH_INSPECT, log, archive)
    assert one == other
    calls = sum(len(talk[0]) for run in runs for talk in _wanted(run))
    assert one == f"success 2 {calls} C I"
    (count,) = _says(official, _WITH_OTLP, spans)
    assert int(count) == spans.read_bytes().count(b'"startTimeUnixNano"')
