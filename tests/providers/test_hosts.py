"""Other hosts: what each changes of a request, of an answer, of an error and of a stream."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import faults, providers
from harness.clock import RealClock
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.calls import Received
from harness.core.values.draws import Draws
from harness.core.values.errors import InputError
from harness.core.values.plans import ApiError, Close, Head, Plan, Send, Wait
from harness.providers.shared import sse
from harness.providers.shared.codec import Unreadable
from harness.providers.shared.event_stream import CONTENT_TYPE, as_sse, named_events, readable_sse
from harness.providers.shared.hosts import HostedEndpoint, hosts
from harness.runner import prepare
from harness.transports.dispatcher import Dispatcher

INVOKE, STREAM = "/model/anthropic.claude-x-v1%3A0/invoke", "/model/m/invoke-with-response-stream"
VERTEX = "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x@1:rawPredict"
COUNT = "/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict"
AZURE = "/openai/deployments/my-gpt/chat/completions"
ASKED: dict[str, Any] = {"max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
BEDROCK_ASKED = {**ASKED, "anthropic_version": "bedrock-2023-05-31"}


def _endpoint(name: str) -> HostedEndpoint:
    wire, path = {
        "azure": ("openai-chat", AZURE),
        "bedrock": ("anthropic", INVOKE),
        "vertex": ("anthropic", VERTEX),
    }[name]
    found = providers.by_name(wire).endpoint(path)  # type: ignore[attr-defined]
    assert isinstance(found, HostedEndpoint)
    return found


def _run(wire: str = "anthropic", *faults: FaultSpec, dialect: str = "") -> Transition:
    scenario = Scenario(name="hosts", wire=wire, dialect=dialect, faults=faults)
    script = TurnScript((Turn(say="hello", times="forever"),), Draws(0))
    return prepare.transition_for(scenario, script)


def _asked(run: Transition, path: str, body: Any) -> tuple[Head, bytes]:
    plan = run.model(Received(path, {}, json.dumps(body).encode(), 0))
    return _head(plan), _bytes(plan)


def _head(plan: Plan) -> Head:
    return next(step.head for step in plan if isinstance(step, Send) and step.head)


def _bytes(plan: Plan) -> bytes:
    return b"".join(step.data for step in plan if isinstance(step, Send))


@pytest.mark.parametrize(
    ("wire", "path", "body", "model"),
    [
        ("anthropic", INVOKE, BEDROCK_ASKED, "anthropic.claude-x-v1:0"),
        ("anthropic", VERTEX, BEDROCK_ASKED, "claude-x@1"),
        ("openai-chat", AZURE, {"messages": ASKED["messages"]}, "my-gpt"),
        ("openai-chat", "/openai/v1/chat/completions", {**ASKED, "model": "m"}, "m"),
        ("openai-responses", "/openai/responses", {"input": "hi", "model": "m"}, "m"),
    ],
)
def test_the_model_is_the_one_of_the_address(wire: str, path: str, body: Any, model: str) -> None:
    assert path in {path, *providers.record(wire).live_paths}
    head, answer = _asked(_run(wire), path, body)
    assert (head.status, json.loads(answer)["model"]) == (200, model)


def test_a_stream_of_bedrock_comes_in_frames_and_says_what_the_api_says() -> None:
    head, framed = _asked(_run(), STREAM, BEDROCK_ASKED)
    _, plain = _asked(_run(), "/v1/messages", {**ASKED, "model": "m", "stream": True})
    assert head.headers["content-type"] == "application/vnd.amazon.eventstream"
    assert "x-amzn-requestid" in head.headers
    assert not [name for name in head.headers if name.startswith(("anthropic-", "request-id"))]
    events = list(sse.values(plain))
    assert list(sse.values(as_sse(framed))) == events
    assert {name for name, _ in named_events(framed)} == {"chunk"}
    parse = providers.by_name("anthropic").parse
    assert parse(framed, head.headers["content-type"]) == parse(plain, "text/event-stream")
    torn = parse(framed[: len(framed) // 2], head.headers["content-type"])
    assert (torn.message is not None, torn.complete) == (True, False)


@pytest.mark.parametrize(
    ("path", "body", "rule", "text"),
    [
        (INVOKE, ASKED, "V32", "anthropic_version: Field required"),
        (INVOKE, {**BEDROCK_ASKED, "model": "m"}, "V29", "model: Extra inputs are not permitted"),
        (STREAM, {**BEDROCK_ASKED, "stream": True}, "V29", "stream: Extra inputs are not permi"),
        (VERTEX, {**BEDROCK_ASKED, "model": "m"}, "V29", "model: Extra inputs are not permitted"),
    ],
)
def test_a_field_that_moved_is_refused(path: str, body: Any, rule: str, text: str) -> None:
    run = _run()
    head, answer = _asked(run, path, body)
    assert head.status == 400
    assert text in answer.decode()
    assert [e.refused for e in run.history.events if hasattr(e, "refused")] == [(rule,)]


def test_vertex_takes_the_flag_of_a_stream_and_a_lenient_host_a_model() -> None:
    head, _ = _asked(_run(), VERTEX, {**BEDROCK_ASKED, "stream": True})
    assert head.headers["content-type"].startswith("text/event-stream")
    assert _asked(_run(dialect="lenient"), INVOKE, {**BEDROCK_ASKED, "model": "m"})[0].status == 200


@pytest.mark.parametrize("body", [b"[1]", b"{", b'{"\x82": 1}', b""])
def test_a_body_that_is_no_object_is_refused_by_the_api(body: bytes) -> None:
    plan = _run().model(Received(INVOKE, {}, body, 0))
    head, answer = _head(plan), _bytes(plan)
    assert (head.status, list(json.loads(answer))) == (400, ["message"])
    assert head.headers["x-amzn-errortype"] == "ValidationException"


@pytest.mark.parametrize(
    ("wire", "path", "status", "told", "error"),
    [
        ("anthropic", INVOKE, 429, 429, {"message": "M"}),
        ("anthropic", INVOKE, 529, 503, {"message": "M"}),
        ("anthropic", INVOKE, 401, 403, {"message": "M"}),
        (
            "anthropic",
            VERTEX,
            429,
            429,
            {"error": {"code": 429, "message": "M", "status": "RESOURCE_EXHAUSTED"}},
        ),
        (
            "anthropic",
            VERTEX,
            404,
            404,
            {"error": {"code": 404, "message": "M", "status": "NOT_FOUND"}},
        ),
        ("openai-chat", AZURE, 429, 429, {"error": {"code": "429", "message": "M"}}),
        ("openai-chat", AZURE, 401, 401, {"error": {"code": "401", "message": "M"}}),
        ("openai-chat", AZURE, 404, 404, {"error": {"code": "DeploymentNotFound", "message": "M"}}),
    ],
)
def test_an_error_is_in_the_words_of_its_host(
    wire: str, path: str, status: int, told: int, error: Any
) -> None:
    settings: dict[str, Any] = {"status": status, "message": "M"}
    run = _run(wire, FaultSpec(kind="http.status", settings=settings))
    head, answer = _asked(run, path, BEDROCK_ASKED)
    assert (head.status, json.loads(answer)) == (told, error)


def test_an_error_that_the_publisher_says_passes_as_it_is() -> None:
    head, answer = _asked(_run(), VERTEX, {**BEDROCK_ASKED, "messages": []})
    assert (head.status, json.loads(answer)["error"]["type"]) == (400, "invalid_request_error")


def test_a_status_that_was_asked_for_stands_and_a_page_too() -> None:
    settings: dict[str, Any] = {"status": 502}
    run = _run("anthropic", FaultSpec(kind="http.status", settings=settings, often=1))
    assert _asked(run, INVOKE, BEDROCK_ASKED)[0].status == 502
    page = Send(b"<html>", Head(503, {"content-type": "text/html"}))
    assert _bytes(_endpoint("bedrock").sent((page,))) == b"<html>"


def test_a_count_of_tokens_has_an_address_of_its_own() -> None:
    run = _run()
    body = json.dumps({**BEDROCK_ASKED, "model": "m"}).encode()
    plan = Dispatcher(run, RealClock()).model("POST", COUNT, {}, body)
    assert json.loads(_bytes(plan))["input_tokens"] > 0
    assert run.question("POST", "/model/m/count-tokens") is None


_EVENTS = b"".join(
    (
        sse.frame("message_start", message={"content": []}),
        b": nothing is said\n\n",
        b"event: ping\r\ndata: {}\r\n\r\n",
        sse.frame("message_stop"),
    )
)
_STREAMED = Head(200, {"content-type": "text/event-stream", "content-length": str(len(_EVENTS))})


@given(st.sets(st.integers(1, len(_EVENTS) - 1), max_size=9))
def test_frames_do_not_depend_on_the_pieces_of_a_stream(cuts: set[int]) -> None:
    places = [0, *sorted(cuts), len(_EVENTS)]
    pieces = [_EVENTS[a:b] for a, b in pairwise(places)]
    plan: Plan = (Send(pieces[0], _STREAMED), *map(Send, pieces[1:]))
    sent = _endpoint("bedrock").sent(plan)
    assert list(sse.values(as_sse(_bytes(sent)))) == list(sse.values(_EVENTS))
    assert int(_head(sent).headers["content-length"]) == len(_bytes(sent))


@pytest.mark.parametrize("end", [(), (Close(reset=True),), (Wait(9), Close())])
def test_an_event_that_breaks_off_is_a_frame_that_does(end: Plan) -> None:
    sent = _endpoint("bedrock").sent((Send(_EVENTS[:-9], _STREAMED), *end))
    body = _bytes(sent)
    whole = readable_sse(body)
    assert list(sse.values(whole)) == list(sse.values(_EVENTS))[:-1]
    with pytest.raises(Unreadable, match="torn"):
        as_sse(body)
    assert tuple(step for step in sent if not isinstance(step, Send)) == end


def test_an_error_in_a_stream_is_an_exception_of_the_host() -> None:
    error = sse.frame("error", error={"type": "overloaded_error", "message": "M"})
    sent = _endpoint("bedrock").sent((Send(error, _STREAMED),))
    assert list(named_events(_bytes(sent))) == [("serviceUnavailableException", {"message": "M"})]
    parsed = providers.by_name("anthropic").parse(
        _bytes(sent), "application/vnd.amazon.eventstream"
    )
    assert isinstance(parsed.error, ApiError)
    assert parsed.error.type == "serviceUnavailableException"
    odd = _endpoint("bedrock").sent((Send(b"event: error\ndata: oh\n\n", _STREAMED),))
    assert list(named_events(_bytes(odd))) == [("modelStreamErrorException", {"message": "oh"})]


def test_every_fault_on_a_stream_leaves_frames_that_a_client_can_begin_to_read() -> None:
    kinds = [k for k in faults.faults() if k.startswith(("sse.", "transport."))]
    read = 0
    for kind in kinds:
        try:
            run = _run("anthropic", FaultSpec(kind=kind, must_fire=False))
        except InputError:  # a fault of other wires, or one without its settings
            continue
        plan = run.model(Received(STREAM, {}, json.dumps(BEDROCK_ASKED).encode(), 0))
        head = next((s.head for s in plan if isinstance(s, Send) and s.head is not None), None)
        if head is not None and head.headers.get("content-type") == CONTENT_TYPE:
            read += bool(readable_sse(_bytes(plan)))
    assert read >= len(kinds) // 2


@pytest.mark.parametrize(
    "step",
    [
        Send(b"HTTP/1.1 200 OK\r\n\r\n" + _EVENTS),
        Send(b"\x1f\x8b", Head(200, {"Content-Encoding": "gzip", "content-type": "text/plain"})),
    ],
)
def test_bytes_that_are_framed_already_stay(step: Send) -> None:
    assert _endpoint("bedrock").sent((step,)) == (step,)


def test_every_host_of_an_address_has_a_row_or_is_only_read() -> None:
    rows = [row for record in providers.records() for row in record.addresses]
    assert {row.host for row in rows if row.live and row.host} == set(hosts())
