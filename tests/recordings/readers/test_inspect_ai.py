"""Logs of inspect_ai: a sample is a transcript, in a JSON log as in an archive."""

from __future__ import annotations

import json
import struct
import sys
import tracemalloc
from io import BytesIO
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Text, ToolResult, ToolUse
from harness.recordings import zip_archive
from harness.recordings.recognition import format_of, read
from harness.recordings.transcript_counts import counts

HEADER = {"version": 2, "status": "success", "eval": {"task": "t", "model": "openai/gpt-4o"},
          "plan": {"name": "plan", "steps": []}, "stats": {}}  # fmt: skip


def sample(number: int = 1, **more: Any) -> dict[str, Any]:
    """A sample whose agent lists files, and fails to read one."""
    calls = [
        {"id": "c1", "function": "ls", "arguments": {}, "type": "function", "view": {"title": "x"}},
        {"id": "c2", "function": "read", "arguments": {"path": "a"}},
    ]
    failed = {"type": "file_not_found", "message": "no such file"}
    return {
        "id": number, "epoch": 1, "input": "list the files", "target": "x",
        "messages": [
            {"id": "m0", "content": "be brief", "role": "system"},
            {"id": "m1", "content": "list the files", "source": "input", "role": "user"},
            {"id": "m2", "content": "", "source": "generate", "role": "assistant",
             "tool_calls": calls, "model": "gpt-4o"},
            {"content": "a.txt b.txt", "role": "tool", "tool_call_id": "c1", "function": "ls"},
            {"content": "", "role": "tool", "tool_call_id": "c2", "function": "read",
             "error": failed},
            {"content": "two files", "role": "assistant"},
        ],
        "output": {"choices": [{"stop_reason": "stop"}]},
        "events": [{"event": "model", "tools": [
            {"name": "read", "parameters": {"type": "object", "required": ["path"]}}]}],
        "attachments": {}, **more,
    }  # fmt: skip


def log(*samples: Any, **more: Any) -> bytes:
    """A log that is one JSON object."""
    return json.dumps({**HEADER, "samples": list(samples), **more}).encode()


def archive(*samples: Any, method: int = ZIP_DEFLATED) -> bytes:
    """The same as an archive."""
    file = BytesIO()
    with ZipFile(file, "w", method) as zipped:
        zipped.writestr("_journal/start.json", json.dumps({"version": 2, "eval": HEADER["eval"]}))
        for number, one in enumerate(samples, start=1):
            zipped.writestr(f"samples/{number}_epoch_1.json", json.dumps(one))
        zipped.writestr("summaries.json", "[]")
        zipped.writestr("header.json", json.dumps(HEADER))
    return file.getvalue()


ZSTD = b"\x28\xb5\x2f\xfd no frame"
"""Bytes that begin as zstd does, and are torn."""


def zstd_archive(packed: bytes, size: int, crc: int) -> bytes:
    """An archive whose one sample is compressed with zstd, which the standard library cannot."""
    name = b"samples/1_epoch_1.json"
    rest = struct.pack("<HHHIIIHH", 0, 93, 0, crc, len(packed), size, len(name), 0)
    local = b"PK\x03\x04\x14\x00" + rest[:2] + rest[2:4] + b"\0\0\0\0" + rest[6:]
    local += name + packed
    central = b"PK\x01\x02\x14\x00\x14\x00" + rest[:4] + b"\0\0\0\0" + rest[6:]
    central += struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + end


@pytest.mark.parametrize("data", [log(sample()), archive(sample())])
def test_a_sample_is_a_transcript(data: bytes) -> None:
    recording = read(data)
    assert recording.format == format_of(data) == "inspect_ai"
    (found,) = recording.transcripts
    assert (found.name, found.model) == ("sample 1, epoch 1", "openai/gpt-4o")
    assert (found.answered, found.stops) == (True, {5: "stop"})
    assert found.messages[2].tool_uses == (
        ToolUse("c1", "ls", {}),
        ToolUse("c2", "read", {"path": "a"}),
    )
    results = [result for message in found.messages for result in message.tool_results]
    assert results == [ToolResult("c1", "a.txt b.txt"), ToolResult("c2", "no such file", True)]
    counted = counts(found)
    assert (counted["messages"], counted["empty_input_calls"]) == (5, 1)
    assert [tool.required for tool in found.tools] == [("path",)]


def test_samples_and_epochs_have_names_of_their_own() -> None:
    data = archive(sample(1), sample(2), sample(2), {**sample(2), "epoch": 2})
    names = [found.name for found in read(data).transcripts]
    assert names == ["sample 1, epoch 1", "sample 2, epoch 1", "sample 2, epoch 1 #2",
                     "sample 2, epoch 2"]  # fmt: skip


def test_attachments_stand_in_their_places() -> None:
    parts = [
        {"type": "text", "text": "attachment://f00"},
        {"type": "image", "image": "attachment://e"},
    ]
    said = [{"role": "user", "content": parts}]
    (found,) = read(log(sample(messages=said, attachments={"f00": "a long text"}))).transcripts
    assert found.messages[0].blocks[0] == Text("a long text")
    assert found.messages[0].blocks[1].value["image"] == "attachment://e"  # type: ignore[union-attr]


@pytest.mark.parametrize("data", [log(sample(), {"id": 2}, 3), archive(sample(), {"id": 2}, 3)])
def test_a_sample_that_says_nothing_costs_itself_alone(data: bytes) -> None:
    recording = read(data)
    assert len(recording.transcripts) == 1
    assert [refusal.place.partition("_")[0] for refusal in recording.refusals] in (
        ["sample 2", "sample 3"], ["samples/2", "samples/3"],
    )  # fmt: skip


def test_a_call_that_cannot_be_read_refuses_its_sample_alone() -> None:
    odd = sample(2)
    del odd["messages"][2]["tool_calls"][0]["function"]
    recording = read(archive(sample(), odd))
    assert [found.name for found in recording.transcripts] == ["sample 1, epoch 1"]
    assert [refusal.place for refusal in recording.refusals] == ["sample 2, epoch 1, message 2"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (log(), "line 1: the log holds no samples: it was written without them"),
        (archive(), "line 1: the log holds no samples"),
        (archive(sample())[:-30], "line 1: no whole ZIP archive: "),
    ],
)
def test_a_log_without_samples_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data, "f")
    assert str(caught.value).startswith(f"f: {says}")


def test_a_torn_member_costs_its_sample() -> None:
    data = archive(sample(1), sample(2), method=ZIP_STORED).replace(b"two files", b"two fi1es", 1)
    recording = read(data)
    assert [found.name for found in recording.transcripts] == ["sample 2, epoch 1"]
    assert recording.refused == {"a sample that is torn": 1}


def test_methods_without_a_bound_are_not_read() -> None:
    with pytest.raises(
        InputError, match="its header is compressed by method 12, which is not read"
    ):
        read(archive(sample(), method=ZIP_BZIP2))


def test_an_archive_unpacks_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "MAX_KEPT_BYTES", 1024**2)
    bomb = sample(2, input="x" * 2 * 1024**2)
    recording = read(archive(sample(1), bomb))
    assert [found.name for found in recording.transcripts] == ["sample 1, epoch 1"]
    assert recording.refused == {"a sample that is more than 1 MB when unpacked": 1}


def test_a_member_that_declares_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "MAX_KEPT_BYTES", 16 * 1024**2)
    document = archive(sample(1), sample(2, input="x" * 32 * 1024**2))
    tracemalloc.start()
    recording = read(document)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert recording.refused == {"a sample that is more than 16 MB when unpacked": 1}
    assert peak_bytes < 8 * 1024**2


def test_zstd_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    needs = r"compressed with zstd needs the package zstandard: pip install 'loop-harness\[zstd\]'"
    with pytest.raises(InputError, match=needs):
        read(zstd_archive(ZSTD, 9, 0))


@pytest.mark.real  # only the slow tier installs the package
def test_what_zstd_compressed_is_read() -> None:
    from zlib import crc32

    import zstandard

    data = json.dumps(sample()).encode()
    frames = b"".join(map(zstandard.ZstdCompressor().compress, (data[:99], data[99:])))
    (found,) = read(zstd_archive(frames, len(data), crc32(data))).transcripts
    assert found == read(log(sample(), eval={})).transcripts[0]
    for torn in (ZSTD, frames[:-9], frames + frames):
        recording = read(zstd_archive(torn, len(data), crc32(data)))
        assert recording.refused == {"a sample that is torn": 1}


def test_another_archive_is_no_log() -> None:
    file = BytesIO()
    with ZipFile(file, "w") as zipped:
        zipped.writestr("word/document.xml", "<x/>")
    with pytest.raises(InputError, match="format not recognised"):
        read(file.getvalue())
