"""Each error of each fault is in the words of the provider that is asked, plain and streamed.

The provider's own SDK reads the errors. They hold the fields that its errors have, and no word of
another vendor (`vendor_words.tsv`).
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness import providers
from harness.clock import VirtualClock
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.core.values.plans import Head, Plan, Send
from harness.faults import arm, by_kind, faults
from harness.transports.dispatcher import Dispatcher
from tests.http_library import http

VENDOR = {"openai-chat": "openai", "openai-responses": "openai"}
SAYS = Turn(say="Hello, wörld", use="ping", input={"a": "b"}, times="forever")
TOOL = {"name": "ping", "description": "Says pong.", "parameters": {"type": "object"}}
HEADERS = {"anthropic-version": "2023-06-01", "x-api-key": "k", "authorization": "Bearer k"}
STATUSES = (*range(400, 405), 408, 409, 412, 413, 422, 429, 431, 499, *range(500, 505), 529)
CAUSES = {
    "http.status": [{"status": status} for status in STATUSES],
    "http.invalid_request": [{}, {"message": "no such thing"}],
    "http.overloaded_burst": [{"failures": 5, "status": status} for status in (504, 529)],
    "sse.error_event": [{}, {"type": "api_error"}, {"type": "rate_limit_error"}],
}
"""Settings in which the errors of a fault differ; elsewhere the defaults."""


class Told(NamedTuple):
    """What a client is told: the status, and all bytes of head and body."""

    status: int
    head: str
    body: str


def _url(wire: str, stream: bool) -> tuple[str, str]:
    record = providers.record(wire)
    if wire != "gemini":
        return record.path, ""
    verb = "streamGenerateContent" if stream else "generateContent"
    return f"/v1beta/models/gemini-2.5-pro:{verb}", "alt=sse" if stream else ""


def _request(wire: str, stream: bool) -> dict[str, Any]:
    if wire == "gemini":
        said = {"role": "user", "parts": [{"text": "hi"}]}
        return {"contents": [said], "tools": [{"functionDeclarations": [TOOL]}]}
    said = {"role": "user", "content": "hi"}
    usual = {"model": "m", "stream": stream}
    if wire == "anthropic":
        tool = {"name": "ping", "input_schema": {"type": "object"}}
        return {**usual, "max_tokens": 9, "messages": [said], "tools": [tool]}
    if wire == "openai-chat":
        return {**usual, "messages": [said], "tools": [{"type": "function", "function": TOOL}]}
    return {**usual, "input": [said], "tools": [{"type": "function", **TOOL}]}


def told(kind: str, wire: str, stream: bool, settings: dict[str, Any]) -> Told | None:
    """The first answer that the fault bends; None where it bends none."""
    provider, fault = providers.by_name(wire), by_kind(kind)
    on = "main" if fault.on in ("compact", "aux") else fault.on
    spec = FaultSpec(kind=kind, on=on, often="forever", settings=settings)
    armed = arm(spec, wire=wire, refusals=provider.refusals())
    scenario = Scenario(name="words", wire=wire, stream=stream, script=(SAYS,))
    script = TurnScript((SAYS,), Draws(0))
    run = Transition(scenario, provider, script, History(), faults=[armed])
    run.history.started(run="words", scenario="words")
    path, query = _url(wire, stream)
    body = json.dumps(_request(wire, stream)).encode()
    plan = Dispatcher(run, VirtualClock()).model("POST", path, dict(HEADERS), body, None, query)
    return _read(plan) if armed.fired else None


def _read(plan: Plan) -> Told | None:
    sends = [step for step in plan if isinstance(step, Send)]
    head = next((send.head for send in sends if send.head), Head(0, {}))
    body = b"".join(send.data for send in sends).decode("utf-8", "replace")
    named = "\n".join(f"{name}: {value}" for name, value in head.headers.items())
    return Told(head.status, named, body) if sends else None


def _errors(answer: Told) -> Iterator[dict[str, Any]]:
    """The JSON objects of an answer that say an error, plain ones and those of events."""
    texts = [answer.body, *re.findall(r"^data: ?(.*?)\r?$", answer.body, re.MULTILINE)]
    for text in texts:
        try:
            said = json.loads(text)
        except ValueError:
            continue
        said = said[0] if isinstance(said, list) and len(said) == 1 else said
        if isinstance(said, dict) and (said.get("error") or said.get("type") == "error"):
            yield said


FIELDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "anthropic": (frozenset({"type", "error", "request_id"}),
                  frozenset({"type", "message", "details"})),
    "openai": (frozenset({"error"}), frozenset({"message", "type", "param", "code"})),
    "gemini": (frozenset({"error"}), frozenset({"code", "message", "status", "details"})),
}  # fmt: skip
"""The fields of an error's envelope, and of the error in it."""


def _check_fields(wire: str, said: dict[str, Any]) -> None:
    outer, inner = FIELDS[VENDOR.get(wire, wire)]
    if wire == "openai-responses" and said.get("type") == "error":
        flat = {"type", "code", "message", "param", "sequence_number", "error"}
        assert said.keys() <= flat
        said = {"error": said["error"]} if "error" in said else {}
    if wire == "openai-responses" and "response" in said:
        return
    assert said.keys() <= outer, said
    error = said.get("error", {})
    assert error.keys() <= inner, said
    if error:
        assert error["message"], said
        assert {"message"} < error.keys(), said


def _by_sdk(wire: str, answer: Told) -> None:
    """The provider's SDK makes its own class of the error, and finds what it looks for."""
    headers = dict(line.split(": ", 1) for line in answer.head.splitlines())
    headers.pop("content-length", None)
    request = http.Request("POST", "http://x/")
    response = http.Response(
        answer.status, headers=headers, content=answer.body.encode(), request=request
    )
    if wire == "gemini":
        from google.genai import errors

        with pytest.raises(errors.APIError) as caught:
            errors.APIError.raise_error(answer.status, json.loads(answer.body), None)
        assert (caught.value.code, bool(caught.value.status)) == (answer.status, True)
        assert caught.value.message
        return
    error: Any = _client(VENDOR.get(wire, wire))._make_status_error_from_response(response)
    assert type(error).__name__ != "APIStatusError" or answer.status not in KNOWN, answer
    assert error.status_code == answer.status
    assert error.request_id, answer.head
    if wire == "anthropic":
        assert error.type == json.loads(answer.body)["error"]["type"]
    else:
        assert error.type == json.loads(answer.body)["error"]["type"]
        assert error.code == json.loads(answer.body)["error"]["code"]


KNOWN = frozenset({400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504, 529})


@cache
def _client(vendor: str) -> Any:
    if vendor == "anthropic":
        from anthropic import Anthropic

        return Anthropic(api_key="k")
    from openai import OpenAI

    return OpenAI(api_key="k")


def foreign(wire: str, answer: Told) -> list[str]:
    """The words of other vendors in an answer."""
    mine, text = VENDOR.get(wire, wire), f"{answer.head}\n{answer.body}"
    return [word for vendors, word in _words() if mine not in vendors and word in text]


@cache
def _words() -> tuple[tuple[list[str], str], ...]:
    text = (Path(__file__).parent / "vendor_words.tsv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple((row["vendor"].split(), row["word"]) for row in rows)


KINDS = [
    kind
    for kind, fault in faults().items()
    if "model" in fault.seams and fault.layer not in ("persistence", "gateway", "tools")
]


PAIRS = [(k, w) for k in KINDS for w in providers.names() if w in (by_kind(k).wires or (w,))]
_EVERY = 5
"""One of so many pairs is in the fast tier: a number that has no factor in common with the number
of providers, so each of them has its turn. All pairs take half a minute of processor time."""


@pytest.mark.parametrize(
    ("kind", "wire"),
    [
        pytest.param(*pair, marks=(pytest.mark.real,) if n % _EVERY else ())
        for n, pair in enumerate(PAIRS)
    ],
)
def test_an_answer_has_the_words_of_its_provider(kind: str, wire: str) -> None:
    for stream, settings in product((False, True), CAUSES.get(kind, [{}])):
        answer = told(kind, wire, stream, settings)
        if answer is None:
            continue
        assert foreign(wire, answer) == [], (stream, settings, answer)
        said = list(_errors(answer))
        for error in said:
            _check_fields(wire, error)
        if said and answer.status >= 400:
            _by_sdk(wire, answer)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("kind", "reason"),
    [("sse.malformed_call", "MALFORMED_FUNCTION_CALL"), ("sse.blocked_midway", "SAFETY")],
)
def test_gemini_stops_in_its_own_words_plain_and_streamed(
    kind: str, reason: str, stream: bool
) -> None:
    answer = told(kind, "gemini", stream, {})
    assert answer is not None
    assert answer.body.count(f'"finishReason":"{reason}"') == 1
    assert "functionCall" not in answer.body
    assert "STOP" not in answer.body
    kinds = {False: "application/json", True: "text/event-stream"}
    parsed = providers.by_name("gemini").parse(answer.body.encode(), kinds[stream])
    assert (parsed.complete, parsed.message is not None) == (True, True)


ENDS = ("message_stop", "[DONE]", '"finish_reason":"', "response.completed", '"finishReason"')


@pytest.mark.parametrize("wire", providers.names())
@pytest.mark.parametrize(
    "kind", ["transport.stalled_stream", "transport.stalled_stream_with_pings"]
)
def test_no_stream_stalls_behind_its_end(kind: str, wire: str) -> None:
    struck = [told(kind, wire, True, {"after": after}) for after in range(1, 15)]
    assert struck[0] is not None
    for answer in filter(None, struck):
        assert not any(end in answer.body for end in ENDS), answer.body[-300:]


def test_an_error_of_responses_is_numbered_as_its_events_are() -> None:
    answer = told("sse.error_event", "openai-responses", True, {"after": 3})
    assert answer is not None
    assert '"param":null,"sequence_number":3}' in answer.body
