"""Faults that strike only on requests that hold what the provider no longer takes."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from harness.clock import VirtualClock
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.faults import arm
from harness.providers import by_name
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport

HI = {"role": "user", "content": "hi"}
SAYS = Turn(say="hello", times="forever")
SHORT = Turn(say="short", purpose="compact", times="forever")
BEGUN = {"messages": [HI, {"role": "assistant", "content": "{"}]}
SYSTEM = {"messages": [HI, {"role": "system", "content": "be brief"}]}
BLANK = {"messages": [{"role": "user", "content": [{"type": "text", "text": " \n"}]}]}
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000}
DOT = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
CREATED = {"thread": {"type": "create"}}


class Asked:
    """Requests to a model on which one fault is armed, in a dialect that takes all it refuses."""

    def __init__(self, kind: str, dialect: str = "lenient", **knobs: Any) -> None:
        wire, spec = by_name("anthropic"), FaultSpec(kind=kind, **knobs)
        self.armed = arm(spec, wire="anthropic", refusals=wire.refusals())
        scenario = Scenario(name="asked", dialect=dialect, script=(SAYS, SHORT), faults=(spec,))
        script = TurnScript(scenario.script, Draws(0))  # type: ignore[arg-type]
        run = Transition(scenario, wire, script, History(), faults=[self.armed])
        transport: Any = HttpxTransport(Dispatcher(run, VirtualClock()))
        self._http = httpx2.Client(transport=transport, base_url="http://model.invalid")

    def post(self, purpose: str = "main", **request: Any) -> httpx2.Response:
        """The answer to a request with these fields."""
        body = {"model": "m", "max_tokens": 100, "messages": [HI], **request}
        headers = {"x-harness-purpose": purpose, "anthropic-beta": "message-threads-2026-08-12"}
        return self._http.post("/v1/messages", json=body, headers=headers)

    def count(self) -> httpx2.Response:
        """The answer to the question how many tokens a request has."""
        body = {"model": "m", "messages": [{"role": "user", "content": "hi " * 50}]}
        return self._http.post("/v1/messages/count_tokens", json=body)


def answered(kind: str, settings: dict[str, Any], **request: Any) -> tuple[Any, int, bool]:
    """The error and status of the answer to a request, and whether the fault fired."""
    asked = Asked(kind, settings=settings)
    answer = asked.post(**request)
    return answer.json().get("error", {}), answer.status_code, bool(asked.armed.fired)


@pytest.mark.parametrize(
    ("name", "settings", "request_", "words"),
    [
        ("prefill_refused", {}, BEGUN, "This model does not support assistant message prefill"),
        ("system_role_refused", {}, SYSTEM, "messages.1: role 'system' is not supported"),
        ("thinking_type_refused", {}, THINKING, '"thinking.type.enabled" is not supported'),
        (
            "thinking_type_refused",
            {"type": "adaptive"},
            {"thinking": {"type": "adaptive"}},
            "adaptive thinking is not supported",
        ),
        ("tightened_whitespace", {}, BLANK, "messages: text content blocks must contain non-"),
    ],
)
def test_a_capability_is_gone(
    name: str, settings: dict[str, Any], request_: dict[str, Any], words: str
) -> None:
    error, status, fired = answered(f"http.{name}", settings, **request_)
    assert (status, fired) == (400, True)
    assert error["type"] == "invalid_request_error"
    assert error["message"].startswith(words)


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("thread_not_found", 404, "thread: no usable thread state was found"),
        ("thread_already_continued", 400, "thread: the response msg_"),
        ("thread_continue_in_flight", 400, "thread: another request is still continuing"),
        ("thread_fingerprint_mismatch", 400, "thread: `tools` must stay as stored"),
        ("thread_unsupported_request", 400, "thread: threads are not supported"),
    ],
)
def test_a_thread_is_refused_with_its_code(name: str, status: int, words: str) -> None:
    asked = Asked(f"http.{name}", "anthropic-2026", when=2)
    begun = asked.post(thread=CREATED["thread"]).json()["id"]
    thread = {"type": "continue", "previous_message_id": begun}
    refused = asked.post(thread=thread, messages=[HI])
    error = refused.json()["error"]
    assert (refused.status_code, asked.armed.fired) == (status, 1)
    assert error["message"].startswith(words)
    assert error["details"] == {"error_code": name}


PICTURE = {"type": "image", "source": DOT}
SEEN = {"type": "tool_result", "tool_use_id": "t1", "content": [PICTURE]}


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ([PICTURE], 400),
        ([SEEN], 400),
        ([{"type": "text", "text": "[a picture was left out]"}], 200),
    ],
)
def test_a_picture_is_refused_while_the_request_holds_it(content: Any, status: int) -> None:
    asked = Asked("http.picture_refused", often="forever")
    call = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    messages = [HI, {"role": "assistant", "content": [call]}, {"role": "user", "content": content}]
    first, second = asked.post(messages=messages), asked.post(messages=messages)
    assert (first.status_code, second.status_code) == (status, status)
    assert status == 200 or first.json()["error"]["message"] == "Could not process image"


def test_tools_are_refused_and_a_request_without_them_is_not() -> None:
    asked = Asked("http.tools_refused", often="forever")
    refused = asked.post(tools=[{"name": "look", "input_schema": {"type": "object"}}])
    assert (refused.status_code, asked.post().status_code) == (400, 200)
    assert refused.json()["error"]["message"] == "m does not support tools."


@pytest.mark.parametrize("name", ["prefill_refused", "system_role_refused", "tightened_whitespace"])
def test_another_request_is_left_alone(name: str) -> None:
    assert answered(f"http.{name}", {})[1:] == (200, False)
    assert answered(f"http.{name}", {}, **THINKING)[1:] == (200, False)


@pytest.mark.parametrize("request_", [{}, {"thinking": {"type": "disabled"}}])
def test_thinking_of_another_type_is_left_alone(request_: dict[str, Any]) -> None:
    assert answered("http.thinking_type_refused", {}, **request_)[2] is False


@pytest.mark.parametrize(
    "name", ["thread_not_found", "thread_already_continued", "thread_fingerprint_mismatch"]
)
def test_a_thread_that_begins_is_left_alone(name: str) -> None:
    assert answered(f"http.{name}", {}, **CREATED)[2] is False
    assert answered(f"http.{name}", {})[2] is False


def test_a_thread_that_begins_can_be_unsupported() -> None:
    assert answered("http.thread_unsupported_request", {}, **CREATED)[1:] == (400, True)
    assert answered("http.thread_unsupported_request", {})[1:] == (200, False)


def test_compaction_refused_strikes_on_compactions() -> None:
    asked = Asked("http.compaction_refused", often="forever")
    answers = [asked.post(purpose) for purpose in ("main", "compact", "main")]
    assert [answer.status_code for answer in answers] == [200, 400, 200]
    assert "prompt is too long" in answers[1].text


def test_count_tokens_disagrees_with_what_a_request_costs() -> None:
    plain = Asked("http.count_tokens_disagrees", on="model").count().json()["input_tokens"]
    asked = Asked("http.count_tokens_disagrees", on="provider", settings={"factor": 0.7})
    assert asked.count().json() == {"input_tokens": round(plain * 0.7)}
    assert asked.armed.fired == 1


@pytest.mark.parametrize(
    ("kind", "status", "type_"),
    [
        ("http.key_rotated", 401, "authentication_error"),
        ("http.model_gone", 404, "not_found_error"),
        ("http.overloaded", 529, "overloaded_error"),
        ("http.retry_after", 429, "rate_limit_error"),
    ],
)
def test_a_count_is_refused_in_the_wires_own_envelope(kind: str, status: int, type_: str) -> None:
    answer = Asked(kind, on="provider").count()
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, type_)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("transport.refused", httpx2.ConnectError),
        ("transport.reset_before_headers", httpx2.ReadError),
        ("transport.cut_mid_chunk", httpx2.RemoteProtocolError),
        ("transport.bad_status_line", httpx2.RemoteProtocolError),
    ],
)
def test_a_count_can_be_lost_on_the_way(kind: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        Asked(kind, on="provider").count()
