"""The sets of headers of a run, and what of them stands in the history."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.history.events import Called
from harness.core.history.history import encode
from harness.core.scenario.scenario import Turn
from harness.core.transition.model_seam import RequestHeaders
from harness.core.values.calls import ModelRequest, Received
from harness.providers import by_name
from tests.core import world
from tests.providers.anthropic import world as anthropic
from tests.providers.anthropic.world import in_process, loopback

BETA = {"anthropic-beta": "a"}


def numbers(*sent: dict[str, str]) -> list[int]:
    """The number of each set."""
    headers, found = RequestHeaders(by_name("anthropic").headers), []
    for one in sent:
        headers.take(one)
        found.append(headers.number)
    return found


def test_a_set_has_one_number_whenever_it_comes() -> None:
    assert numbers({}, BETA, BETA, {}, {"authorization": "Bearer b"}, BETA) == [0, 1, 1, 0, 2, 1]


@pytest.mark.parametrize(
    "name",
    ["x-stainless-retry-count", "idempotency-key", "date", "content-length", "traceparent", "host"],
)
def test_a_header_that_is_new_with_each_try_makes_no_other_set(name: str) -> None:
    assert numbers(BETA, {**BETA, name: "1"}, {**BETA, name: "2"}) == [0, 0, 0]


def test_no_secret_comes_into_the_history() -> None:
    run = world.run()
    for key in ("Bearer one-secret", "Bearer another-secret"):
        world.ask(run, headers={"authorization": key})
    assert [r.header_set for r in asked(run)] == [0, 1]
    assert b"secret" not in encode(run.history.events)


def asked(run: Any) -> list[ModelRequest]:
    """The requests of a run."""
    found = [e.request for e in run.history.events if isinstance(e, Called)]
    return [request for request in found if isinstance(request, ModelRequest)]


def test_a_field_beside_the_messages_makes_another_request() -> None:
    run = world.run()
    for fields in ({}, {"temperature": 0.5}, {"temperature": 0.5}, {"temperature": 1}, {}):
        world.ask(run, **fields)
    first, warm, again, hot, last = (r.settings for r in asked(run))
    assert first == last == ""
    assert warm == again != hot
    wholes = [exchange.whole for exchange in run.history.trace.exchanges]
    assert wholes[1] == wholes[2] != wholes[3] != wholes[4] == wholes[0]


def test_a_body_that_cannot_be_read_is_marked() -> None:
    run = world.run()
    world.ask(run, messages=[{"role": "user", "content": "hi"}])
    run.model(Received("/v1/messages", {}, b'{"messages": [', 0))
    world.ask(run, messages=["no message"])  # type: ignore[list-item]
    assert [request.unread for request in asked(run)] == [False, True, True]


def test_two_bodies_that_cannot_be_read_are_alike_in_their_length() -> None:
    run = world.run()
    for body in (b"{", b"{", b"{{"):
        run.model(Received("/v1/messages", {}, body, 0))
    one, again, other = (exchange.whole for exchange in run.history.trace.exchanges)
    assert one == again != other


@pytest.mark.parametrize("transport", [in_process, loopback])
def test_another_key_of_the_client_is_another_set(transport: Any) -> None:
    run = anthropic.run(Turn(say="hello", times="forever"))
    with transport(run) as client:
        for key in ("one", "one", "another"):
            client.with_options(api_key=key).messages.create(
                model="m", max_tokens=9, messages=[{"role": "user", "content": key}]
            )
    assert [request.header_set for request in asked(run)] == [0, 0, 1]


def test_a_signature_of_one_request_is_no_part_of_a_set() -> None:
    run = world.run()
    signed = "AWS4-HMAC-SHA256 Credential=a/2026/us-east-1/bedrock/aws4_request, Signature="
    for name, date in (
        (f"{signed}1", "1"),
        (f"{signed}2", "2"),
        ("Bearer a", "2"),
        ("Bearer b", "2"),
    ):
        run.model(Received("/v1/messages", {"authorization": name, "x-amz-date": date}, b"{}", 0))
    assert [request.header_set for request in asked(run)] == [0, 0, 1, 2]
