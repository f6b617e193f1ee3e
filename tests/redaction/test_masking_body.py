"""Redaction of bodies: JSON stays JSON, a stream stays one, and a key in pieces is seen."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.providers.anthropic.response import parse
from harness.redaction.masking import MASK, mask_body
from tests.redaction.secrets import PLAIN, SECRETS, TEXTS

_json = st.recursive(
    TEXTS | st.integers(-(2**53), 2**53) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(_json, SECRETS, st.booleans())
def test_json_stays_json_without_secrets(value: Any, secret: str, escaped: bool) -> None:
    said = json.dumps(f"it is {secret}.")
    if escaped:
        said = said.replace("-", "\\u002d").replace("_", "\\u005f")
    body = f'{{"value": {json.dumps(value)}, "list": [{{"key": {said}}}]}}'.encode()
    masked = json.loads(mask_body(body))
    assert secret not in json.dumps(masked)
    assert masked["value"] == value
    assert masked["list"][0]["key"].startswith("it is [REDACTED]")


@given(_json)
def test_json_without_secrets_keeps_its_bytes(value: Any) -> None:
    body = json.dumps(value, indent=1).encode()
    assert mask_body(body) == body


@given(st.lists(SECRETS | TEXTS, max_size=5).map("".join))
def test_masking_a_body_twice_is_masking_it_once(text: str) -> None:
    masked = mask_body(text.encode())
    assert mask_body(masked) == masked


@given(st.binary(max_size=40), SECRETS, st.binary(max_size=40))
def test_a_body_that_is_no_text_is_masked_too(before: bytes, secret: str, after: bytes) -> None:
    masked = mask_body(before + b"\xff " + secret.encode() + b" " + after)
    assert secret.encode() not in masked
    assert masked.startswith(before)


def _stream(kind: str, field: str, pieces: list[str], index: int = 0) -> bytes:
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"role": "assistant"}}]
    start = {"type": "text", "text": ""} if field == "text" else {"type": "tool_use", "input": {}}
    events.append({"type": "content_block_start", "index": index, "content_block": start})
    events += [
        {"type": "content_block_delta", "index": index, "delta": {"type": kind, field: piece}}
        for piece in pieces
    ]
    events.append({"type": "message_stop"})
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def _pieces(text: str, cuts: list[int]) -> list[str]:
    places = [0, *sorted({cut % (len(text) + 1) for cut in cuts}), len(text)]
    return [text[a:b] for a, b in pairwise(places)]


_cuts = st.lists(st.integers(0, 500), max_size=8)


@given(PLAIN, SECRETS, PLAIN, _cuts)
def test_a_key_that_is_streamed_in_pieces_is_masked(
    before: str, secret: str, after: str, cuts: list[int]
) -> None:
    text = f"{before} {secret} {after}"
    masked = mask_body(_stream("text_delta", "text", _pieces(text, cuts)), "text/event-stream")
    said = parse(masked, "text/event-stream")
    assert said.complete
    assert said.message is not None
    assert secret not in said.message.text
    assert said.message.text.startswith(f"{before} {MASK}")
    assert mask_body(masked, "text/event-stream") == masked


@given(SECRETS, _cuts)
def test_a_tool_input_that_is_streamed_stays_json(secret: str, cuts: list[int]) -> None:
    text = json.dumps({"before": 1, "key": secret, "after": 2})
    pieces = _pieces(text, cuts)
    masked = mask_body(_stream("input_json_delta", "partial_json", pieces), "text/event-stream")
    data = [json.loads(line[6:]) for line in masked.decode().split("\n") if line[:5] == "data:"]
    joined = "".join(e["delta"]["partial_json"] for e in data if "delta" in e)
    assert json.loads(joined) == {"before": 1, "key": MASK, "after": 2}


def test_pieces_of_different_blocks_are_not_one_text() -> None:
    key = "sk-ant-" + "a" * 30
    first = _stream("text_delta", "text", ["sk-ant-"], 0)
    second = _stream("text_delta", "text", [key[7:]], 1)
    assert mask_body(first + second, "text/event-stream") == first + second


def test_openai_deltas_are_seen_as_one_text() -> None:
    pieces = ["my key: sk-pr", "oj-0123456789abc", "defghij0123 ", "is secret"]
    chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    masked = mask_body(body.encode(), "text/event-stream").decode()
    said = [json.loads(x[6:]) for x in masked.split("\n") if x.startswith("data: {")]
    assert "".join(c["choices"][0]["delta"]["content"] for c in said) == f"my key: {MASK} is secret"
    assert masked.endswith("data: [DONE]\n\n")


@pytest.mark.parametrize("body", [b"", b"null", b"[1", b"data: x", b"event: ping\ndata: [\n\n"])
def test_odd_bodies_stay(body: bytes) -> None:
    assert mask_body(body) == body
