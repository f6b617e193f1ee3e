"""A recorded stream with its times: six events, before one of them a silence of ten minutes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from harness.cassettes.timing import Piece, Timing, to_metadata
from tests.cassettes.recorded import ASK, interaction, said

STREAM = {"content-type": ["text/event-stream"]}
TEN_MINUTES_MS = 600_000
ASKED = {**ASK, "stream": True}


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


EVENTS = [
    _event("message_start", message={**said(""), "content": [], "stop_reason": None}),
    _event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    _event("content_block_delta", index=0, delta={"type": "text_delta", "text": "hello"}),
    _event("content_block_stop", index=0),
    _event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1}),
    _event("message_stop"),
]
WAITS_MS = [400, 0, TEN_MINUTES_MS, 20, 0, 7]
BODY = b"".join(EVENTS)


def cassette_of(folder: Path, *exchanges: tuple[dict[str, Any], Timing | None]) -> Path:
    """A cassette of these exchanges and their times."""
    path = folder / "x.yaml"
    held = {
        "interactions": [one for one, _ in exchanges],
        "metadata": to_metadata(timing for _, timing in exchanges),
        "version": 1,
    }
    path.write_text(yaml.dump(held))
    return path


def streamed(events: int = 6, cut: str = "", *, of: int = 0) -> tuple[dict[str, Any], Timing]:
    """The first `events` in an answer, with the times of as many, or `of` so many."""
    body = b"".join(EVENTS[:events])
    pieces = zip(EVENTS[: of or events], WAITS_MS, strict=False)
    timing = Timing(0, tuple(Piece(len(data), wait_ms) for data, wait_ms in pieces), cut)
    return interaction(ASKED, body.decode(), headers=STREAM), timing
