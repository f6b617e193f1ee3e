"""A cassette as a Script: equal requests get their answers in recorded order, others none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.cassette_player import CassettePlayer, cassette_script, indexes
from harness.cassettes.request_index import CassetteIndex
from harness.core.history.events import Answered
from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.core.transition.ports import Miss
from harness.core.transition.transition import Transition
from harness.core.values.calls import Call, Received
from harness.core.values.errors import InputError
from harness.core.values.plans import Send, Value
from harness.faults import arm
from harness.providers import by_name
from tests.cassettes.played import Played, encoded, run_requests
from tests.cassettes.recorded import ASK, cassette, interaction, said
from tests.recordings.imports import exchanges_in


def test_a_whole_run_is_played_and_nothing_is_owed() -> None:
    requests = run_requests(5)
    played = Played(*(interaction(r, said(str(n))) for n, r in enumerate(requests)))
    answers = [played.ask(request)["content"][0]["text"] for request in requests]
    assert answers == ["0", "1", "2", "3", "4"]
    assert played.unplayed == []


def test_the_answer_is_sent_as_it_was_recorded() -> None:
    body = json.dumps(said("hello"), indent=3)
    headers = {"Content-Type": ["application/json"], "request-id": ["req_9"], "x-other": ["no"]}
    played = Played(interaction(answer=body, headers=headers))
    (step,) = played.transition.model(Received("/v1/messages", {}, encoded(ASK), 0))
    assert isinstance(step, Send)
    assert step.data == body.encode()
    assert step.head is not None
    assert step.head.headers == {"content-type": "application/json", "request-id": "req_9"}
    assert played.last.blocks
    assert played.last.script_turn == 0


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=8))
def test_identical_requests_get_their_answers_in_recorded_order(texts: list[str]) -> None:
    requests = [{**ASK, "messages": [{"role": "user", "content": text}]} for text in texts]
    played = Played(*(interaction(r, said(f"{n}")) for n, r in enumerate(requests)))
    order = sorted(range(len(texts)), key=lambda n: texts[n])
    answers = [int(played.ask(requests[n])["content"][0]["text"]) for n in order]
    assert answers == order
    assert played.unplayed == []
    played.ask(requests[0])
    assert played.last.error == "cassette.miss"


def test_a_recorded_error_is_played_once_and_then_the_retry() -> None:
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    played = Played(interaction(answer=failed, status=529), interaction())
    assert played.ask() == failed
    assert (played.last.status, played.last.outcome) == (529, "error")
    assert played.ask()["content"][0]["text"] == "hello"
    assert played.unplayed == []


def test_a_stream_that_was_cut_as_it_was_recorded_is_not_complete() -> None:
    start = {"type": "message_start", "message": {"role": "assistant", "content": []}}
    body = f"event: message_start\ndata: {json.dumps(start)}\n\n"
    headers = {"content-type": ["text/event-stream"]}
    played = Played(interaction({**ASK, "stream": True}, body, headers=headers))
    played.transition.model(Received("/v1/messages", {}, encoded({**ASK, "stream": True}), 0))
    assert played.last.complete is False
    assert played.unplayed == []


def test_a_refusal_that_was_recorded_comes_before_the_dialects() -> None:
    refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": "its words"}}
    empty = {**ASK, "messages": []}
    played = Played(interaction(empty, refusal, status=400))
    assert played.ask(empty) == refusal
    assert played.last.error == ""


def test_a_cassette_of_several_apis_plays_the_one_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    chat = {"model": "gpt", "messages": ASK["messages"]}
    uri = "https://api.openai.com/v1/chat/completions"
    path.write_bytes(cassette(interaction(chat, uri=uri), interaction()))
    assert list(indexes(path)) == ["openai-chat", "anthropic"]
    for wire, number in (("openai-chat", 1), ("anthropic", 2)):
        owed = list(cassette_script(path, wire).unplayed(Past()))
        assert owed == [f"exchange #{number} of the cassette (1 messages)"]
    with pytest.raises(InputError, match="speaks openai-chat and anthropic, the run openai-resp"):
        cassette_script(path, "openai-responses")


def test_parallel_calls_are_answered_by_what_they_ask() -> None:
    lanes = [{**ASK, "messages": [{"role": "user", "content": f"lane {n}"}]} for n in range(20)]
    played = Played(*(interaction(r, said(str(n))) for n, r in enumerate(lanes)))
    order = [n * 7 % 20 for n in range(20)]
    assert [int(played.ask(lanes[n])["content"][0]["text"]) for n in order] == order
    assert played.unplayed == []


def test_a_fault_over_a_cassette_leaves_the_turn_for_the_next_call() -> None:
    fault = FaultSpec(kind="http.status", settings={"status": 529})
    armed = arm(fault, wire="anthropic", refusals=by_name("anthropic").refusals())
    played = Played(interaction(), faults=[armed])
    assert played.ask()["error"]["type"] == "overloaded_error"
    assert len(played.unplayed) == 1
    assert played.ask()["content"][0]["text"] == "hello"
    assert played.unplayed == []


def test_requests_that_go_back_and_on_again_are_found() -> None:
    long = run_requests(6)
    compacted = {**ASK, "messages": [{"role": "user", "content": "summary"}]}
    requests = [*long[:4], compacted, long[2], *long[4:]]
    played = Played(*(interaction(r, said(str(n))) for n, r in enumerate(requests)))
    answers = [played.ask(r)["content"][0]["text"] for r in requests]
    assert answers == [str(n) for n in range(len(requests))]


class _Fresh:
    """Hands each call to a player that has not seen the ones before."""

    def __init__(self, index: CassetteIndex) -> None:
        self.index = index

    def reply(self, call: Call, past: Past) -> tuple[Value, int] | Miss:
        return CassettePlayer(self.index).reply(call, past)

    def unplayed(self, past: Past) -> Iterator[str]:
        return CassettePlayer(self.index).unplayed(past)


def test_what_is_remembered_only_saves_work() -> None:
    requests = run_requests(4)
    index = CassetteIndex(exchanges_in(cassette(*(interaction(r, said("x")) for r in requests))))
    history = History()
    wire = by_name("anthropic")
    transition = Transition(Scenario(name="fresh"), wire, _Fresh(index), history)
    for request in requests:
        transition.model(Received("/v1/messages", {}, encoded(request), 0))
    turns = [e.script_turn for e in history.events if isinstance(e, Answered)]
    assert turns == [0, 1, 2, 3]


def test_traffic_that_is_no_call_to_a_model_is_not_played(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(cassette(interaction(uri="https://example.com/weather"), interaction()))
    owed = list(cassette_script(path, "anthropic").unplayed(Past()))
    assert owed == ["exchange #2 of the cassette (1 messages)"]
    path.write_bytes(cassette(interaction(uri="https://example.com/weather")))
    with pytest.raises(InputError, match=r"x\.yaml: no exchange of the cassette is a call"):
        cassette_script(path, "anthropic")
