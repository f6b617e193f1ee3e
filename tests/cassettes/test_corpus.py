"""Real cassettes, where they are available: each is played byte for byte.

The corpus is not part of the project. `LOOP_HARNESS_CORPUS` names its folder; without it the
folder `shared/corpus` beside the project is looked for. The fast tier takes one file of each
writer's folder and shape of bodies; the slow one takes them all.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from harness.cassettes.cassette_file import (
    CassetteExchange,
    read_cassette,
    wire_of,
)
from harness.cassettes.cassette_player import CassettePlayer
from harness.cassettes.request_index import CassetteIndex
from harness.clock import RealClock
from harness.core.history.history import History
from harness.core.scenario.scenario import Limits, Scenario
from harness.core.transition.transition import Transition
from harness.providers import by_name, record
from harness.providers.shared.record import shape
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport
from tests.http_library import http

_BESIDE = Path(__file__).parents[3] / "shared" / "corpus"
_STEP = 37
"""The fast tier takes every so many files of a folder."""

_TORN = "lib__crewai__tests__cassettes__tracing__TestTraceListenerSetup.test_trace_listener_"
_WITHOUT_END = [
    _TORN + name for name in ("collects_crew_events", "ephemeral_batch", "with_authenticated_user")
]
"""Files without the key that ends a whole one; none of them has a call to a model."""


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """All cassettes of the corpus."""
    return [path for path in _corpus("vcr_yaml") if path.stem not in _WITHOUT_END]


@pytest.fixture(scope="module")
def archives() -> list[Path]:
    """All HAR files of the corpus."""
    return _corpus("har")


def _corpus(name: str) -> list[Path]:
    folder = Path(os.environ.get("LOOP_HARNESS_CORPUS") or _BESIDE) / name
    if not folder.is_dir():
        pytest.skip("no corpus of recordings: set LOOP_HARNESS_CORPUS to its folder")
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _played(wire: str, exchanges: list[CassetteExchange]) -> int:
    """Play the calls to a bare client; how many came back as they were recorded."""
    scenario = Scenario(name="corpus", wire=wire, limits=Limits(model_calls=1 << 20))  # type: ignore[arg-type]
    script = CassettePlayer(CassetteIndex(exchanges))
    transition = Transition(scenario, by_name(wire), script, History())
    same = 0
    with http.Client(transport=HttpxTransport(Dispatcher(transition, RealClock()))) as client:
        for exchange in exchanges:
            url = f"http://127.0.0.1{_live_path(wire, exchange.path)}"
            response = client.post(f"{url}?{exchange.query}", content=exchange.body)
            told = response.status_code, response.content
            same += told == (exchange.answer.status, exchange.answer.body)
    assert list(script.unplayed(transition.history.past)) == []
    return same


def _live_path(wire: str, path: str) -> str:
    """A path at which a live call says what the recorded one says."""
    row = record(wire).address_of(path)
    found = shape(row.path).search(path) if row is not None and row.live else None
    return found[0] if found else by_name(wire).paths()[0]


def spoken(path: Path) -> dict[str, list[CassetteExchange]]:
    """The calls of a file by the wire that they speak."""
    found: dict[str, list[CassetteExchange]] = {}
    for exchange in read_cassette(path):
        wire = wire_of(exchange.method, exchange.path)
        assert wire is not None
        found.setdefault(wire.name, []).append(exchange)
    return found


def _replay(files: list[Path]) -> Counter[str]:
    """How many calls were played, and from how many files, by wire."""
    played: Counter[str] = Counter()
    for path in files:
        for wire, exchanges in spoken(path).items():
            assert _played(wire, exchanges) == len(exchanges), path
            played[wire] += len(exchanges)
            played[f"{wire} files"] += 1
    return played


def test_some_cassettes_are_played(files: list[Path]) -> None:
    played = _replay(files[::_STEP])
    assert set(played) >= {"anthropic", "openai-chat", "openai-responses"}


def test_some_archives_are_played(archives: list[Path]) -> None:
    played = _replay(archives[:: _STEP // 5])
    assert set(played) >= {"openai-chat", "openai-responses"}


@pytest.mark.real
def test_every_cassette_is_played_byte_for_byte(files: list[Path]) -> None:
    assert _replay(files) == {
        "anthropic": 697,
        "anthropic files": 395,
        "gemini": 13,
        "gemini files": 6,
        "openai-chat": 1769,
        "openai-chat files": 1083,
        "openai-responses": 608,
        "openai-responses files": 443,
    }


@pytest.mark.real
def test_every_archive_is_played_byte_for_byte(archives: list[Path]) -> None:
    assert len(archives) == 52
    assert _replay(archives) == {
        "anthropic": 7,
        "anthropic files": 7,
        "openai-chat": 33,
        "openai-chat files": 29,
        "openai-responses": 13,
        "openai-responses files": 12,
    }


@pytest.mark.real
def test_what_an_archive_plays_is_what_stands_in_it(archives: list[Path]) -> None:
    """The bodies are read here without the reader: as text, or as chunks of base64 of gzip."""
    for path in archives:
        entries = json.loads(path.read_bytes())["log"]["entries"]
        for exchange in read_cassette(path):
            content = entries[exchange.number - 1]["response"]["content"]
            body = content["text"].encode()
            if content.get("encoding") == "base64":
                body = gzip.decompress(b"".join(map(base64.b64decode, json.loads(body))))
            assert exchange.answer.body == body, path
