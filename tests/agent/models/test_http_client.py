"""The plain client: the same agent behind it does the same as behind the SDK."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.agent import agent
from harness.agent.models.anthropic_model import PlainClient
from harness.agent.models.failures import APIConnectionError, APIError
from harness.core.history.events import Answered, Called
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, ToolScript, Turn
from harness.fuzz.choice_sequence import ChoiceSequence
from harness.fuzz.scenario_grammar import Options, scenario_of
from harness.runner import run

PLAIN = Scenario(
    name="plain",
    tools={"ping": ToolScript()},
    inbox=(InboxItem(text="Hello"),),
    script=(Turn(use="ping"), Turn(say="Done.", times="forever", optional=True)),
)


def _met(scenario: Scenario, client: str) -> tuple[list[Any], Any]:
    """What an agent says and receives, and how it ends."""
    played = run(scenario, agent, options={"client": client, "stream": False})
    calls = [
        (e.key, e.purpose, e.sdk_retry) if isinstance(e, Called) else (e.key, e.stop, e.status)
        for e in played.history.events
        if isinstance(e, (Called, Answered))
    ]
    return calls, played.verdict.outcome


@given(st.integers(0, 1 << 32))
@settings(max_examples=30)
def test_it_is_told_from_the_sdk_by_nothing_without_faults(seed: int) -> None:
    scenario = scenario_of(ChoiceSequence((), Random(seed)), Options())
    assert _met(scenario, "plain") == _met(scenario, "sdk")


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("http.status", {"status": 500}),
        ("http.status", {"status": 400}),
        ("http.status", {"status": 413}),
        ("http.missing_usage", {}),
        ("http.overloaded", {}),
        ("http.retry_after", {"retry_after": 7.0}),
        ("http.retry_after", {"retry_after": 86_400.0}),
        ("transport.reset_before_headers", {}),
        ("transport.close_before_headers", {}),
        ("transport.login_page", {}),
    ],
)
@pytest.mark.parametrize("often", ["once", "forever"])
def test_it_fails_and_tries_again_as_the_sdk_does(
    kind: str, settings: dict[str, Any], often: Any
) -> None:
    fault = FaultSpec(kind=kind, often=often, settings=settings, must_fire=False)
    scenario = msgspec.structs.replace(PLAIN, faults=(fault,))
    assert _met(scenario, "plain") == _met(scenario, "sdk")


class Answers:
    """A transport that gives answers, and keeps the requests."""

    def __init__(self, answers: Sequence[Any]) -> None:
        self.answers, self.requests = list(answers), []

    def handle_request(self, request: Any) -> Any:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def _response(status: int, **body: Any) -> Any:
    import httpx2

    return httpx2.Response(status, json=body)


def test_an_error_has_its_status_and_its_type_and_a_broken_connection_is_told_apart() -> None:
    import httpx2

    refused = _response(400, error={"type": "invalid_request_error", "message": "no"})
    with pytest.raises(APIError, match="no") as caught:
        PlainClient(Answers([refused]), "http://x.invalid").messages.create(model="m")
    assert (caught.value.status_code, caught.value.type) == (400, "invalid_request_error")
    client = PlainClient(Answers([httpx2.ReadError("gone")]), "http://x.invalid", max_retries=0)
    with pytest.raises(APIConnectionError, match="gone"):
        client.messages.create(model="m")


def test_options_make_another_client_and_leave_the_first() -> None:
    transport = Answers([_response(200, content=[]), _response(200, content=[])])
    first = PlainClient(transport, "http://x.invalid")
    other = first.with_options(
        timeout=3.0, base_url="http://x.invalid/s/child", default_headers={"x-harness-parent": "p"}
    )
    for client in (first, other):
        assert client.messages.create(model="m", extra_headers={"a": "b"}).content == []
    plain, child = transport.requests
    assert (plain.url.path, child.url.path) == ("/v1/messages", "/s/child/v1/messages")
    assert "x-harness-parent" not in plain.headers
    assert child.headers["x-harness-parent"] == "p"
    assert child.extensions["timeout"]["read"] == 3.0
