"""What the faults make of a plan, where the values themselves are the promise."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.past import Past
from harness.core.transition.ports import Moment
from harness.core.values.calls import Call, ModelRequest
from harness.core.values.draws import Draws
from harness.core.values.plans import Answer, ApiError, Close, Head, Plan, Reply, Send
from harness.faults import by_kind, faults
from harness.faults.http.successes import with_json
from harness.faults.shared.error_answers import TYPES, refusal
from harness.providers import by_name
from tests.faults.world import bend, written

PLAN: Plan = (Answer(Reply()),)
STREAM, JSON = written(stream=True), written(stream=False)


def error(**settings: Any) -> ApiError:
    (step,) = bend("http.status", PLAN, **settings)
    assert isinstance(step, Answer)
    assert isinstance(step.value, ApiError)
    return step.value


@pytest.mark.parametrize(
    ("number", "kind"),
    [*TYPES.items(), (418, "invalid_request_error"), (500, "api_error"), (502, "api_error")],
)
def test_a_status_has_its_cause(number: int, kind: str) -> None:
    own = {"request_timeout_error": "timeout_error", "unavailable_error": "api_error"}
    assert (error(status=number).status, error(status=number).type) == (number, own.get(kind, kind))


def test_words_and_type_may_be_given() -> None:
    assert error(message="no", type="mine") == ApiError(529, "mine", "no")
    assert error().message == "Overloaded"


@pytest.mark.parametrize(
    ("settings", "headers"),
    [
        ({}, {}),
        ({"retry_after": 0}, {"retry-after": "0"}),
        ({"retry_after": 1.5}, {"retry-after": "1.5"}),
        (
            {"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"},
            {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"},
        ),
        ({"retry_after": 2, "firing": 3}, {"retry-after": "8"}),
        ({"retry_after": "2", "firing": 3}, {"retry-after": "2"}),
        ({"should_retry": False}, {"x-should-retry": "false"}),
        ({"should_retry": True}, {"x-should-retry": "true"}),
    ],
)
def test_headers_that_steer_retries(settings: dict[str, Any], headers: dict[str, str]) -> None:
    assert error(**settings).headers == headers


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({"retry_after": -5}, "-5"),
        ({"retry_after": 1e9}, "1000000000"),
        ({"retry_after": "soon"}, "soon"),
        ({"retry_after": 2, "firing": 3}, "8"),
    ],
)
def test_retry_after_says_anything(settings: dict[str, Any], value: str) -> None:
    [step] = bend("http.retry_after", PLAN, **settings)
    assert step.value.headers == {"retry-after": value}  # type: ignore[union-attr]


@pytest.mark.parametrize("seam", ["model", "tool"])
def test_a_proxy_says_it_in_html(seam: Any) -> None:
    plan = bend("http.status", PLAN, seam=seam, status=413, message="Too large", page=True)
    assert plan == (
        Send(
            b"<html><body><h1>413 Too large</h1></body></html>",
            Head(413, {"content-type": "text/html"}),
        ),
    )


@pytest.mark.parametrize("seam", ["tool", "outbox"])
def test_a_seam_without_a_wire_answers_json(seam: Any) -> None:
    plan = bend("http.status", PLAN, seam=seam, status=503, retry_after=1)
    head = Head(503, {"content-type": "application/json", "retry-after": "1"})
    assert plan == (Send(msgspec.json.encode({"error": "Unavailable error"}), head),)
    [said] = bend("http.overloaded", PLAN, seam=seam)
    assert said == Send(
        b'{"error":"Overloaded error"}', Head(529, {"content-type": "application/json"})
    )


def burst(seed: int, calls: int, **settings: Any) -> list[bool]:
    """Which of a given number of calls fail."""
    struck, burst_of = [], by_kind("http.overloaded_burst").function
    for n in range(1, calls + 1):
        call = Call(f"main/model#{n}", "model", n, "main", 1, 0, ModelRequest("m", ()))
        moment = Moment(call, Past(), Draws(seed), 1)
        struck.append(burst_of(moment, PLAN, **settings) != PLAN)
    return struck


@given(st.integers(0, 99), st.integers(1, 7), st.integers(1, 7))
def test_a_burst_strikes_as_many_of_each_group_as_it_says(
    seed: int, failures: int, among: int
) -> None:
    struck = burst(seed, among * 4, failures=failures, among=among)
    groups = [sum(struck[at : at + among]) for at in range(0, len(struck), among)]
    assert groups == [min(failures, among)] * 4
    assert struck == burst(seed, among * 4, failures=failures, among=among)


def test_a_burst_depends_on_the_seed() -> None:
    assert len({tuple(burst(seed, 20)) for seed in range(10)}) > 1


OF_REQUESTS = [
    *("http.prefill_refused", "http.system_role_refused", "http.thinking_type_refused"),
    *("http.tightened_whitespace", "http.compaction_refused", "http.invalid_request"),
    *("http.thread_not_found", "http.thread_already_continued"),
    *("http.thread_continue_in_flight", "http.thread_fingerprint_mismatch"),
    "http.thread_unsupported_request",
]


@pytest.mark.parametrize("fault", OF_REQUESTS)
def test_without_a_reason_in_the_request_nothing_happens(fault: Any) -> None:
    assert bend(fault, PLAN) == PLAN


@pytest.mark.parametrize(
    "fault", ["http.unknown_stop", "http.unknown_block", "http.fallback_block"]
)
def test_an_error_has_no_words_to_bend(fault: Any) -> None:
    refused: Plan = (Answer(ApiError(500, "api_error", "no")),)
    assert bend(fault, refused) == refused
    assert bend(fault, (Close(),)) == (Close(),)


@pytest.mark.parametrize("fault", ["http.missing_usage", "http.model_echo_differs"])
def test_fields_are_bent_where_there_are_some(fault: Any) -> None:
    html: Plan = (Send(b"<p>login</p>", Head(200, {"content-type": "text/html"})), Close())
    assert bend(fault, html) == html
    assert bend(fault, JSON) != JSON
    assert len(bend(fault, STREAM)) == len(STREAM)


def test_count_tokens_disagrees_bends_an_answer_that_only_counts() -> None:
    counted: Plan = (Send(b'{"input_tokens":10}', Head(200, {})),)
    bent = bend("http.count_tokens_disagrees", counted, factor=0.7)
    assert bent == (Send(b'{"input_tokens":7}', Head(200, {})),)


@given(st.binary(max_size=60), st.booleans())
def test_what_the_change_leaves_alone_stays_byte_for_byte(data: bytes, event: bool) -> None:
    plan: Plan = (Send(b"event: x\ndata: " + data if event else data, Head(200, {})), Close())
    assert with_json(plan, lambda value: value) == plan


def test_a_stated_length_goes_when_the_body_changes() -> None:
    head = Head(200, {"Content-Length": "9", "a": "b"})
    changed = with_json((Send(b'{"a":1}', head),), lambda value: {**value, "b": 2})
    assert changed == (Send(b'{"a":1,"b":2}', Head(200, {"a": "b"})),)


def test_several_events_in_one_send_are_all_changed() -> None:
    sent = b'event: a\r\ndata: {"model":"x"}\r\n\r\ndata: {"response":{"model":"x"}}\n\n: no\n\n'
    [step] = bend("http.model_echo_differs", (Send(sent),), model="y")
    assert isinstance(step, Send)
    assert step.data.count(b'"model":"y"') == 2
    assert step.data.endswith(b"\n\n: no\n\n")


ACCOUNT = (
    *("credit_too_low", "key_rotated", "model_gone"),
    *("payment_required", "permission_revoked", "spend_limit"),
)


def test_account_errors_are_of_the_provider_alone() -> None:
    kinds = {
        kind
        for kind, fault in faults().items()
        if fault.layer == "http" and fault.stage == "value" and fault.seams == ("model", "provider")
    }
    assert kinds == {f"http.{name}" for name in ACCOUNT}


def test_a_refusal_of_a_request_without_messages_names_the_first() -> None:
    refused = {"V1": ApiError(400, "invalid_request_error", "messages.{n}: wrong")}
    call = Call("main/model#1", "model", 1, "main", 1, 0, ModelRequest("m", ()))
    traits = by_name("anthropic").traits()
    moment = Moment(call, Past(), Draws(1), 1, "anthropic", refused, traits)
    (answer,) = refusal(moment, "V1") or ()
    assert answer == Answer(ApiError(400, "invalid_request_error", "messages.0: wrong"))
