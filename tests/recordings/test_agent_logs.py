"""Logs and cassettes that agents of 2026 leave, where they are available: counted a second time.

They are not part of the project. `LOOP_HARNESS_AGENT_LOGS` names their folder; without it the
folder `shared/agent_logs` beside the project is looked for. The second counts know nothing of the
readers: they walk the JSON of a file.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.files.recording_file import read_recording
from harness.recordings.transcript_counts import counts

_BESIDE = Path(__file__).parents[3] / "shared" / "agent_logs"


@pytest.fixture(scope="module")
def logs() -> Path:
    """The folder of the logs."""
    folder = Path(os.environ.get("LOOP_HARNESS_AGENT_LOGS") or _BESIDE)
    if not folder.is_dir():
        pytest.skip("no logs of agents: set LOOP_HARNESS_AGENT_LOGS to their folder")
    return folder


def _values(path: Path) -> list[Any]:
    """The values of a file: one, or one on each line that is whole."""
    text = path.read_text("utf-8")
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if _is_list(value) else ():
        yield from _objects(part)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _calls_of_gemini_cli(path: Path) -> int:
    said = (each for value in _values(path) for each in _objects(value))
    return sum(len(each.get("toolCalls") or ()) for each in said)


def _calls_of_copilot(path: Path) -> int:
    """Requests and starts, each id of an agent once."""
    ids: set[tuple[Any, str]] = set()
    for value in _values(path):
        agent = value["data"].get("parentToolCallId")
        for each in _objects(value["data"]):
            asked = "arguments" in each and "toolCallId" in each
            ids |= {(agent, each["toolCallId"])} if asked else set()
    return len(ids)


def _calls_of_openhands(path: Path) -> int:
    """Actions with another observation than that of the program."""
    own = ("recall", "null", "agent_state_changed", "error")
    seen = (each.get("observation") for value in _values(path) for each in _history(value))
    return sum(kind is not None and kind not in own for kind in seen)


def _history(value: Any) -> list[dict[str, Any]]:
    held: list[dict[str, Any]] = value["history"] if isinstance(value, dict) else value
    return held


def _exchanges(path: Path) -> int:
    """Requests to one of the four APIs with an answer that stands in the file."""
    ends = ("/v1/messages", "/chat/completions", "/v1/responses", "/v2/chat", ":generateContent")
    found = 0
    for entry in _values(path)[0]["entries"]:
        url = entry["request"]["url"].partition("?")[0]
        bodies = (entry[half]["body"]["kind"] for half in ("request", "response"))
        known = url.endswith((*ends, ":streamGenerateContent"))
        found += entry["request"]["method"] == "POST" and known and "binary" not in bodies
    return found


@pytest.mark.parametrize(
    ("folder", "pattern", "format", "count"),
    [
        ("gemini_cli_chat", "*", "gemini_cli", _calls_of_gemini_cli),
        ("copilot", "*", "copilot_cli", _calls_of_copilot),
        ("openhands", "*", "openhands", _calls_of_openhands),
    ],
)
def test_every_call_is_read(
    logs: Path, folder: str, pattern: str, format: str, count: Callable[[Path], int]
) -> None:
    files = [path for path in sorted((logs / folder).rglob(pattern)) if path.is_file()]
    formats: Counter[str] = Counter()
    for path in files:
        recording = read_recording(path)
        formats[recording.format] += 1
        if recording.format == format:
            found = sum(counts(one)["tool_calls"] for one in recording.transcripts)
            assert found == count(path), path.name
            assert all(counts(one)["orphan_results"] == 0 for one in recording.transcripts)
    assert formats[format] >= len(files) - 1, "one file of Gemini CLI is in no form of its own"


def test_every_exchange_of_a_recorder_is_read(logs: Path) -> None:
    known = ("anthropic", "openai-chat", "openai-responses", "gemini")
    for path in sorted((logs / "cassette_json").rglob("*.json")):
        recording = read_recording(path)
        assert recording.format == "vcr"
        if "bedrock" in path.name:
            continue
        answered = (one for one in recording.transcripts if one.wire in known)
        whole = sum(one.answered or one.error is not None for one in answered)
        assert whole <= _exchanges(path)
        missing = _exchanges(path) - whole
        told = Counter(refusal.reason for refusal in recording.refusals)
        assert missing <= sum(n for why, n in told.items() if why.startswith("response: "))


def test_cassettes_in_gzip_and_archives_in_yaml_are_read(logs: Path) -> None:
    for path in sorted((logs / "vcr_gz").rglob("*.gz")):
        recording = read_recording(path)
        assert (recording.format, recording.refusals) == ("vcr", ())
        assert all(one.answered for one in recording.transcripts)
    archives = sorted((logs / "har_yaml").rglob("*.yaml"))
    assert {read_recording(path).format for path in archives} == {"har"}


def test_the_conversations_of_qwen_code_are_read(logs: Path) -> None:
    glued = "two objects stand on the one line of a file: 0005"
    files = sorted((logs / "other_agents_jsonl").rglob("*qwen__019*"))
    files = [path for path in files if path.stem[-4:] not in glued]
    assert {read_recording(path).format for path in files} == {"qwen_code"}
