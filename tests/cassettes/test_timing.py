"""The times of a stream: kept by vcrpy, moved with masking, ignored where they do not fit."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest
import vcr  # type: ignore[import-untyped]
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.cassette_file import read_cassette
from harness.cassettes.recorder import ReceivedAnswer, Recorder, SentRequest
from harness.cassettes.timing import Piece, Timing, from_metadata, refitted, to_metadata
from harness.redaction.masking import mask_body
from tests.cassettes.recorded import ASK, said
from tests.redaction.secrets import PLAIN, SECRETS
from tests.transports.upstreams import upstream, whole

_timings = st.builds(
    Timing,
    st.integers(0, 10**9),
    st.lists(st.builds(Piece, st.integers(0, 10**9), st.integers(0, 10**9)), max_size=5).map(tuple),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20),
)


@given(st.lists(st.none() | _timings, max_size=5))
def test_timings_come_back_from_a_file(timings: list[Timing | None]) -> None:
    text = yaml.dump({"metadata": to_metadata(timings)})
    found = from_metadata(yaml.load(text, yaml.CSafeLoader)["metadata"])
    assert found == {n: t for n, t in enumerate(timings, start=1) if t is not None}


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        [],
        {"other": 1},
        {"loop-harness": 3},
        {"loop-harness": {"exchanges": {"1": "x"}}},
        {"loop-harness": {"exchanges": [3, {}, {"exchange": 1, "at_ms": "0", "pieces": "1@1"}]}},
        {"loop-harness": {"exchanges": [{"exchange": 1, "at_ms": 0, "pieces": "1@x"}]}},
        {"loop-harness": {"exchanges": [{"exchange": [], "at_ms": 0, "pieces": "1@1"}]}},
    ],
)
def test_what_is_no_timing_says_nothing(metadata: Any) -> None:
    assert from_metadata(metadata) == {}


def test_pieces_that_do_not_add_up_are_of_another_body() -> None:
    timing = Timing(0, (Piece(3, 1), Piece(4, 1)))
    assert timing.fits(b"1234567")
    assert not timing.fits(b"12345678")


@given(PLAIN, SECRETS, st.lists(st.integers(0, 3000), max_size=6))
def test_boundaries_of_a_masked_stream_stay_in_their_lines(
    before: str, secret: str, cuts: list[int]
) -> None:
    deltas = [{"type": "text_delta", "text": t} for t in (before, secret[:9], secret[9:], "end")]
    events = [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    body = "".join(f"event: x\ndata: {json.dumps(event)}\n\n" for event in events).encode()
    places = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    pieces = [Piece(b - a, n) for n, (a, b) in enumerate(pairwise(places))]
    masked = mask_body(body, "text/event-stream")
    moved = refitted(pieces, body, masked)
    assert Timing(0, moved).fits(masked)
    assert [piece.wait_ms for piece in moved] == [piece.wait_ms for piece in pieces]
    ends = [sum(p.size_bytes for p in moved[: n + 1]) for n in range(len(moved))]
    lines = [masked[:end].count(b"\n") for end in ends]
    assert lines == [body[:end].count(b"\n") for end in places[1:]]


def test_a_masked_body_of_another_kind_is_one_piece() -> None:
    body, masked = b'{"a":\n"sk-ant-00000000000"}', b'{"a":"[REDACTED]"}'
    pieces = [Piece(5, 7), Piece(len(body) - 5, 4)]
    assert refitted(pieces, body, masked) == (Piece(len(masked), 11),)
    assert refitted(pieces, body, body) == tuple(pieces)
    assert refitted([], b"", b"") == ()


def test_vcrpy_keeps_the_times_when_it_loads_and_saves_the_file(tmp_path: Path) -> None:
    path, recorder = tmp_path / "x.yaml", Recorder()
    timing = Timing(5, (Piece(2, 10),), "cut")
    asked = SentRequest(
        "POST", "https://api.anthropic.com/v1/messages", {}, json.dumps(ASK).encode()
    )
    recorder.take(recorder.place(), asked, ReceivedAnswer(200, "OK", {}, b"{}", timing))
    recorder.write(path)
    with (
        upstream(whole(json.dumps(said("new")).encode())) as url,
        vcr.use_cassette(str(path), record_mode="new_episodes", match_on=["uri"]) as cassette,
    ):
        httpx2.post(f"{url}/v1/messages", json=ASK, trust_env=False)
        httpx2.post("https://api.anthropic.com/v1/messages", json=ASK, trust_env=False)
        assert cassette.play_count == 1, "vcrpy plays what we wrote"
    assert len(list(read_cassette(path))) == 2, "vcrpy has written the file again"
    metadata = yaml.load(path.read_bytes(), yaml.CSafeLoader)["metadata"]
    assert from_metadata(metadata) == {1: timing}
