"""Files to begin with: those of the project, those that tests make, and a corpus beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.files.test_profile_file import TOML, YAML
from tests.recordings import documents
from tests.recordings.format_samples import SAMPLES
from tests.recordings.readers import test_inspect_ai
from tests.transports.every_server import SEAMS

ROOT = Path(__file__).parents[3]
CORPUS = Path(os.environ.get("HARNESS_CORPUS", ROOT.parent / "shared" / "corpus"))
SEED_MAX_BYTES = 60_000
"""Larger files are cut to this: a mutation of them costs more than it shows."""

FILES = {
    "scenario": ("scenarios", "*.yaml"),
    "cassette": ("cassettes", "*.yaml"),
}
_CORPUS = {"cassette": ("vcr_yaml", "har"), "recording": ("",)}

_CONFIGURATION = b"""\
plugins = []
profile = "mine"
target = "reference"
fail-on = "defect"
seed = 7
files-from = ["cassettes"]
limits = {real_s = 3, memory_mb = 100}

[profiles.mine]
tool_prefix = "mcp__"
checks = {no_progress_stop = {repeats = 5}}
"""
_OVERLAY = b"""\
faults:
  - {kind: http.overloaded, on: "model#1", often: 2}
  - {kind: tool.error, on: "tool:*", when: {has: x}, then: ok}
"""
_HISTORY = Path(__file__).parent / "history.jsonl"


@cache
def seeds(name: str) -> tuple[bytes, ...]:
    """The files with which a reader is tried first."""
    return tuple(data[:SEED_MAX_BYTES] for data in _seeds(name)) or (b"{}",)


def _seeds(name: str) -> Iterator[bytes]:
    yield from _OWN.get(name, ())
    folder, pattern = FILES.get(name, ("", ""))
    paths = sorted((ROOT / folder).rglob(pattern)) if folder else []
    for kind in _CORPUS.get(name, ()):
        paths += sorted(p for p in (CORPUS / kind).rglob("*") if p.is_file())
    for path in paths if len(paths) <= 200 else Random(1).sample(paths, 200):
        yield path.read_bytes()


def _bodies() -> Iterator[bytes]:
    chat: Any = documents.openai_messages()
    yield json.dumps({"model": "m", "max_tokens": 9, "messages": documents.anthropic_messages(),
                      "system": "s", "tools": [{"name": "ls"}]}).encode()  # fmt: skip
    yield json.dumps({"model": "m", "messages": chat, "stream": True}).encode()
    call = {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}
    done = {"type": "function_call_output", "call_id": "c", "output": "x"}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}
    yield json.dumps({"model": "m", "input": [said, call, done], "instructions": "s"}).encode()
    yield json.dumps({"id": "r", "object": "response", "status": "completed", "output": [
        call, {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "x", "annotations": []}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}]},
    ], "usage": {"input_tokens": 1, "output_tokens": 2}}).encode()  # fmt: skip
    yield json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": chat[2]}],
                      "usage": {"prompt_tokens": 1}}).encode()  # fmt: skip
    use = {"type": "tool_use", "id": "1", "name": "a", "input": {}}
    reply = {"type": "message", "role": "assistant", "stop_reason": "tool_use",
             "content": [{"type": "text", "text": "x"}, use],
             "usage": {"input_tokens": 1, "output_tokens": 2}}  # fmt: skip
    yield json.dumps(reply).encode()
    for wire in ("anthropic", "chat", "responses"):
        yield _STREAMS[wire].encode()


_STREAMS = {
    "anthropic": 'event: message_start\ndata: {"type":"message_start","message":{"id":"1",'
    '"role":"assistant","content":[],"usage":{"input_tokens":1}}}\n\nevent: content_block_start\n'
    'data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1",'
    '"name":"a","input":{}}}\n\ndata: {"type":"content_block_delta","index":0,"delta":'
    '{"type":"input_json_delta","partial_json":"{\\"a\\": 1}"}}\n\ndata: {"type":'
    '"content_block_stop","index":0}\n\ndata: {"type":"message_delta","delta":{"stop_reason":'
    '"end_turn"},"usage":{"output_tokens":3}}\n\ndata: {"type":"message_stop"}\n\n',
    "chat": 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"x",'
    '"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}}]}\n\n'
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    "responses": 'event: response.created\ndata: {"type":"response.created","response":{"id":"r",'
    '"output":[]}}\n\ndata: {"type":"response.output_item.added","output_index":0,"item":'
    '{"type":"message","id":"m","role":"assistant","content":[]}}\n\ndata: {"type":'
    '"response.output_text.delta","output_index":0,"content_index":0,"delta":"x"}\n\ndata: '
    '{"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":'
    '"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}]}}\n\n',
}


def _recordings() -> Iterator[bytes]:
    yield documents.har([documents.har_entry({"messages": documents.anthropic_messages()},
                                             {"text": "{}"})])  # fmt: skip
    yield json.dumps(documents.openai_messages()).encode()
    yield "\n".join(map(json.dumps, documents.openai_messages())).encode()
    step = {"step_id": 1, "source": "agent", "message": "m", "tool_calls": [
        {"tool_call_id": "c", "function_name": "f", "arguments": {"a": 1}}]}  # fmt: skip
    yield json.dumps({"session_id": "s", "schema_version": "ATIF-v1.4", "agent": {"name": "x"},
                      "steps": [step, step]}).encode()  # fmt: skip
    yield from (line.encode() for line in _STREAMS.values())
    yield from (data for samples in SAMPLES.values() for data in samples)
    yield test_inspect_ai.archive(test_inspect_ai.sample(), test_inspect_ai.sample(2))


_MCP = [
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "say", "arguments": {}}},
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
     "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}},
]  # fmt: skip

_OWN: dict[str, tuple[bytes, ...]] = {
    "cassette": (documents.SAMPLES["har"][1],),
    "overlay": (_OVERLAY,),
    "profile_yaml": (YAML.encode(),),
    "profile_toml": (TOML.encode(),),
    "configuration": (_CONFIGURATION,),
    "recording": tuple(_recordings()),
    "history": (_HISTORY.read_bytes(),),
    "model_body": tuple(_bodies()),
    "seam_body": tuple(json.dumps(SEAMS[name][2]).encode() for name in ("tools", "outbox")),
    "mcp_body": tuple(json.dumps(body).encode() for body in (SEAMS["mcp"][2], *_MCP)),
}
