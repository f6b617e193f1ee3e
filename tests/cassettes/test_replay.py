"""A cassette as a Script: equal requests get their answers in recorded order, others none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.index import Index
from harness.cassettes.read import exchanges
from harness.cassettes.replay import CassettePlayer, cassette_script, indexes
from harness.core.calls import Call, Received
from harness.core.errors import InputError
from harness.core.events import Answered
from harness.core.history import History
from harness.core.past import Past
from harness.core.plans import Send, Value
from harness.core.ports import Miss
from harness.core.scenario import FaultSpec, Scenario
from harness.core.transition import Transition
from harness.faults import arm
from harness.wires import by_name
from tests.cassettes.recorded import ASK, URI, cassette, interaction, said


class Played:
    """A cassette behind a transition, and what its answers were."""

    def __init__(self, *interactions: dict[str, Any], faults: Any = ()) -> None:
        self.script = CassettePlayer(Index(exchanges(cassette(*interactions))))
        self.history = History()
        self.transition = Transition(
            Scenario(name="played"),
            by_name("anthropic"),
            self.script,
            self.history,
            faults=faults,
        )

    def ask(self, request: dict[str, Any] | None = None, **headers: str) -> Any:
        """The answer to a request: parsed JSON."""
        plan = self.transition.model(
            Received("/v1/messages", headers, _compact(ASK if request is None else request), 0)
        )
        return json.loads(b"".join(step.data for step in plan if isinstance(step, Send)))

    @property
    def last(self) -> Answered:
        """The last answered event."""
        return next(e for e in reversed(self.history.events) if isinstance(e, Answered))

    @property
    def unplayed(self) -> list[str]:
        """What is owed."""
        return list(self.script.unplayed(self.history.past))


def _compact(request: Any) -> bytes:
    return json.dumps(request, separators=(",", ":")).encode()


def _turns(count: int, path: str = "x") -> list[dict[str, Any]]:
    """The requests of a run with `count` calls, each the one before and a little more."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    requests = []
    for n in range(count):
        requests.append({**ASK, "messages": list(messages)})
        use = {"type": "tool_use", "id": f"toolu_{n}", "name": "read", "input": {"path": path}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": f"text {n}"}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return requests


def test_a_whole_run_is_played_and_nothing_is_owed() -> None:
    requests = _turns(5)
    played = Played(*(interaction(r, said(str(n))) for n, r in enumerate(requests)))
    answers = [played.ask(request)["content"][0]["text"] for request in requests]
    assert answers == ["0", "1", "2", "3", "4"]
    assert played.unplayed == []


def test_the_answer_is_sent_as_it_was_recorded() -> None:
    body = json.dumps(said("hello"), indent=3)
    headers = {"Content-Type": ["application/json"], "request-id": ["req_9"], "x-other": ["no"]}
    played = Played(interaction(answer=body, headers=headers))
    (step,) = played.transition.model(Received("/v1/messages", {}, _compact(ASK), 0))
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
    played.transition.model(Received("/v1/messages", {}, _compact({**ASK, "stream": True}), 0))
    assert played.last.complete is False
    assert played.unplayed == []


def test_a_refusal_that_was_recorded_comes_before_the_dialects() -> None:
    refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": "its words"}}
    empty = {**ASK, "messages": []}
    played = Played(interaction(empty, refusal, status=400))
    assert played.ask(empty) == refusal
    assert played.last.error == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "claude-y"}, "model differs: sent 'claude-y', recorded 'claude-x'"),
        ({"max_tokens": 7}, "max_tokens differs: sent 7, recorded 100"),
        ({"stream": True}, "stream differs: sent true, recorded false"),
        ({"system": "be kind"}, "system differs: sent 'be kind', recorded ''"),
        ({"tools": [{"name": "read"}]}, "tools[0] differs: "),
        (
            {"messages": [{"role": "user", "content": "hello"}]},
            "messages[0].content[0].text differs: sent 'hello', recorded 'hi'",
        ),
        (
            {"messages": [{"role": "assistant", "content": "hi"}]},
            "messages[0].role differs: sent 'assistant', recorded 'user'",
        ),
    ],
)
def test_a_changed_request_is_told_what_differs(change: dict[str, Any], words: str) -> None:
    played = Played(interaction())
    answer = played.ask({**ASK, **change})
    assert answer["type"] == "error"
    text = answer["error"]["message"]
    assert text.startswith("loop-harness: no recorded exchange matches this request; nearest is #1")
    assert words in text
    assert (played.last.status, played.last.error) == (400, "cassette.miss")
    assert played.last.value == text
    assert played.unplayed == ["exchange #1 of the cassette (1 messages)"]


def test_the_nearest_is_the_one_with_the_longest_beginning_in_common() -> None:
    requests = _turns(4, "a")
    played = Played(*(interaction(request) for request in requests))
    for request in requests[:2]:
        played.ask(request)
    changed = _turns(4, "a")[2]
    changed["messages"][3]["content"][0]["input"]["path"] = "b"
    text = played.ask(changed)["error"]["message"]
    assert (
        "nearest is #3: messages[3].content[0].input.path differs: sent 'b', recorded 'a'" in text
    )
    longer = _turns(5, "a")[4]
    text = played.ask(longer)["error"]["message"]
    assert "nearest is #4: messages[7] differs: " in text
    assert "recorded nothing; then #3: messages[5] differs: " in text
    assert text.endswith("; played so far: #1-#2 of 4")


def test_what_was_played_is_said_in_runs() -> None:
    lanes = [{**ASK, "messages": [{"role": "user", "content": f"lane {n}"}]} for n in range(6)]
    played = Played(*(interaction(request) for request in lanes))
    other = {**ASK, "messages": [{"role": "user", "content": "other"}]}
    assert "nothing has been played so far" in played.ask(other)["error"]["message"]
    for n in (4, 0, 1, 2):
        played.ask(lanes[n])
    assert played.ask(other)["error"]["message"].endswith("played so far: #1-#3, #5 of 6")


def test_a_miss_after_all_have_been_played_says_so() -> None:
    played = Played(interaction())
    played.ask()
    assert "its answers have been played: #1" in played.ask()["error"]["message"]
    other = {**ASK, "max_tokens": 1}
    assert "all 1 have been played" in played.ask(other)["error"]["message"]


def test_a_miss_is_not_retried_by_the_client() -> None:
    played = Played(interaction())
    request = Received("/v1/messages", {}, _compact({**ASK, "max_tokens": 1}), 0)
    (step,) = played.transition.model(request)
    assert isinstance(step, Send)
    assert step.head is not None
    assert step.head.headers["x-should-retry"] == "false"


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


def test_yesterdays_system_prompt_is_todays() -> None:
    recorded = {**ASK, "system": "Today is 2026-11-21. Be kind."}
    played = Played(interaction(recorded), interaction({**recorded, "max_tokens": 5}))
    today = {**ASK, "system": "Today is 2026-11-22. Be kind."}
    assert played.ask(today)["content"][0]["text"] == "hello"
    assert "max_tokens differs: " in played.ask({**today, "max_tokens": 6})["error"]["message"]


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


def _marked(request: dict[str, Any]) -> dict[str, Any]:
    text = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    return {**request, "messages": [{"role": "user", "content": [text]}]}


@pytest.mark.parametrize(
    "change",
    [
        _marked,
        lambda request: {**request, "metadata": {"user_id": "somebody else"}},
        lambda request: dict(reversed(request.items())),
        lambda request: {**request, "stream": False},
    ],
)
def test_what_does_not_determine_the_answer_does_not_count(change: Any) -> None:
    recorded = {**ASK, "metadata": {"user_id": "me"}}
    played = Played(interaction(recorded))
    assert played.ask(change(recorded))["content"][0]["text"] == "hello"


@pytest.mark.parametrize(
    "uri", [f"{URI}?beta=true", "https://proxy.example.com/anthropic/v1/messages"]
)
def test_what_stands_around_the_endpoint_does_not_count(uri: str) -> None:
    assert Played(interaction(uri=uri)).ask()["content"][0]["text"] == "hello"


def test_a_live_key_matches_the_masked_one_of_the_recording() -> None:
    def request(key: str) -> dict[str, Any]:
        return {**ASK, "system": f"use {key}", "messages": [{"role": "user", "content": key}]}

    played = Played(interaction(request("[REDACTED]")))
    assert played.ask(request("sk-ant-" + "a" * 30))["content"][0]["text"] == "hello"


def test_requests_that_go_back_and_on_again_are_found() -> None:
    long = _turns(6)
    compacted = {**ASK, "messages": [{"role": "user", "content": "summary"}]}
    requests = [*long[:4], compacted, long[2], *long[4:]]
    played = Played(*(interaction(r, said(str(n))) for n, r in enumerate(requests)))
    answers = [played.ask(r)["content"][0]["text"] for r in requests]
    assert answers == [str(n) for n in range(len(requests))]


class _Fresh:
    """Hands each call to a player that has not seen the ones before."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def reply(self, call: Call, past: Past) -> tuple[Value, int] | Miss:
        return CassettePlayer(self.index).reply(call, past)

    def unplayed(self, past: Past) -> Iterator[str]:
        return CassettePlayer(self.index).unplayed(past)


def test_what_is_remembered_only_saves_work() -> None:
    requests = _turns(4)
    index = Index(exchanges(cassette(*(interaction(r, said("x")) for r in requests))))
    history = History()
    wire = by_name("anthropic")
    transition = Transition(Scenario(name="fresh"), wire, _Fresh(index), history)
    for request in requests:
        transition.model(Received("/v1/messages", {}, _compact(request), 0))
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
