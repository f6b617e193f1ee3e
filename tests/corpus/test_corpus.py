"""What real providers accepted we accept, and what they refused for its form we refuse.

The fast tier takes one file of each recorded folder and one of each `_STEP` others; the slow one
takes all, and puts a sample to a real server.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import providers
from harness.clock import RealClock
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.transports.loopback import Loopback
from tests.corpus import folder
from tests.corpus.exceptions import rows, unexplained
from tests.corpus.judged_calls import Counts, JudgedCall, counted, judged
from tests.corpus.recorded_calls import RecordedCall, files
from tests.http_library import http

_STEP = 29
"""The fast tier takes one file of this number."""


@pytest.fixture(scope="module")
def recordings() -> list[Path]:
    """All recordings of HTTP of the corpus."""
    root = folder()
    if root is None:
        pytest.skip("no corpus of recordings: set LOOP_HARNESS_CORPUS to its folder")
    return files(root)


def test_every_exception_has_a_reason() -> None:
    table = rows()
    assert len({(row.provider, row.host, row.rule) for row in table}) == len(table)
    assert all(row.reason and row.count > 0 for row in table)
    assert {row.provider for row in table} <= set(providers.names())


def test_a_sample_is_judged_as_recorded(recordings: list[Path]) -> None:
    counts = counted(recordings[::_STEP])
    known = {(row.provider, row.host, row.rule) for row in rows()}
    assert counts.differences.keys() <= known
    assert counts.accepted.keys() >= {"anthropic", "openai-chat", "openai-responses"}


@pytest.fixture(scope="module")
def every_call(recordings: list[Path]) -> list[JudgedCall]:
    """All calls of the corpus, judged."""
    return [one for path in recordings for one in judged(path)]


@pytest.mark.real
def test_every_call_is_judged_as_recorded(every_call: list[JudgedCall]) -> None:
    counts = Counts()
    for one in every_call:
        counts.add(one)
    assert unexplained(counts.differences) == []


_STATE = (
    b'"previous_response_id"',
    b'"conversation"',
    b'"item_reference"',
    b'"rs_',
    b'"signature"',
)
"""What refers to answers of the provider, which our server did not give."""


def _is_whole(one: JudgedCall) -> bool:
    """Whether the body alone says what is asked, and no exception stands for the answer."""
    call = one.call
    refers = any(name in call.body for name in _STATE)
    answered = call.accepted or bool(one.found)
    return answered and not (one.difference or call.moved or refers)


def _status(call: RecordedCall, dialect: str) -> int:
    """The status that our server answers the request with."""
    hello = (Turn(say="hello", times="forever"),)
    scenario = Scenario(name="corpus", wire=call.provider, dialect=dialect, script=hello)
    wire = providers.by_name(call.provider)
    run = Transition(scenario, wire, TurnScript(hello, Draws(0)), History())
    with Loopback(run, RealClock()) as server, http.Client() as client:
        url = server.urls.model + wire.record.path
        response = client.post(url, content=call.body)
        return int(response.status_code)


@pytest.mark.real
def test_a_sample_is_answered_as_recorded_over_http(every_call: list[JudgedCall]) -> None:
    whole = [one for one in every_call if _is_whole(one)]
    sample = [*whole[:: _STEP * 2], *(one for one in whole if one.found)]
    seen = {200: 0, 400: 0, 404: 0}
    for one in sample:
        call = one.call
        dialect = providers.record(call.provider).dialect_at(call.host)
        expected = 200 if call.accepted else call.status
        assert _status(call, dialect) == expected, f"{call.file}: call {call.number}"
        seen[expected] += 1
    assert seen[200] > 40
    assert seen[400] > 5
    assert seen[404] > 0
