"""Recorded exchanges with the API itself: what it took is not refused, what it said is read.

The recordings are those of `tests/recordings/test_corpus.py`, and not part of the project; one file
in ten is enough here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.core.values.errors import InputError
from harness.providers.openai_chat.blocks import message_from, message_to
from harness.recordings.http_interaction import body_bytes
from harness.recordings.model_exchange import header, path_of, status_of
from harness.recordings.readers import vcr
from tests.providers.openai_chat.sdk import WIRE

_BESIDE = Path(__file__).parents[4] / "shared" / "corpus"
_PATH = "/v1/chat/completions"


class Exchange(NamedTuple):
    """A recorded request with its answer."""

    file: str
    request: bytes
    status: int
    content_type: str
    answer: bytes


@pytest.fixture(scope="module")
def exchanges() -> list[Exchange]:
    """The exchanges with the provider's own host."""
    folder = Path(os.environ.get("LOOP_HARNESS_CORPUS", _BESIDE)) / "vcr_yaml"
    if not folder.is_dir():
        pytest.skip("no corpus of recordings: set LOOP_HARNESS_CORPUS to its folder")
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".yaml", ".yml", ".json"))
    return [exchange for file in files[::10] for exchange in _exchanges(file)]


def _exchanges(file: Path) -> Iterator[Exchange]:
    data = file.read_bytes()
    if f"api.openai.com{_PATH}".encode() not in data:
        return
    try:
        recorded = vcr.interactions(vcr.load(data))
    except InputError:
        return
    for item in recorded:
        request, response = item.get("request") or {}, item.get("response") or {}
        status = status_of(response)
        if path_of(request) == _PATH and status is not None:
            kind = header(response, "content-type")
            answer = body_bytes(response, header(response, "content-encoding"))
            yield Exchange(file.name, body_bytes(request), status, kind, answer)


def test_what_the_api_took_is_not_refused(exchanges: list[Exchange]) -> None:
    taken = [e for e in exchanges if e.status == 200]
    found = {e.file: WIRE.reader("", None).read(e.request).violations for e in taken}
    assert len(taken) > 20
    assert {file: broken for file, broken in found.items() if broken} == {}


def test_every_recorded_row_says_the_same_when_written_again(exchanges: list[Exchange]) -> None:
    rows: list[Any] = [row for e in exchanges for row in json.loads(e.request)["messages"]]
    messages = [message_from(row) for row in rows]
    assert [message_from(message_to(message)) for message in messages] == messages


def test_every_recorded_answer_is_read_as_the_recordings_reader_reads_it(
    exchanges: list[Exchange],
) -> None:
    for exchange in exchanges:
        ours = WIRE.parse(exchange.answer, exchange.content_type)
        theirs = WIRE.recorded.answer(exchange.answer, exchange.content_type)
        assert (ours.message is None) == (theirs.message is None), exchange.file
        assert (ours.error is None) == (exchange.status == 200), exchange.file
        if ours.message and theirs.message:
            assert ours.message.text == theirs.message.text, exchange.file
            names = [use.name for use in theirs.message.tool_uses]
            assert [use.name for use in ours.message.tool_uses] == names, exchange.file
            assert ours.complete, exchange.file
