"""Real cassettes through the installed SDKs: each recorded answer is parsed by its provider's own.

What an SDK does not take is counted by the reason: a few streams that end in a provider's error,
and answers of gateways that are not answers of a model. See `test_corpus` for where the corpus is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent

from harness.cassettes.cassette_file import CassetteExchange
from harness.cassettes.cassette_player import CassettePlayer
from harness.cassettes.request_index import CassetteIndex
from harness.clock import RealClock
from harness.core.history.history import History
from harness.core.scenario.scenario import Limits, Scenario
from harness.core.transition.transition import Transition
from harness.providers import by_name
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport
from tests.cassettes.test_corpus import files as files
from tests.cassettes.test_corpus import spoken
from tests.http_library import http

Ask = Callable[[Any, dict[str, Any]], None]


def _anthropic(client: Any, body: dict[str, Any]) -> None:
    sdk = anthropic.Anthropic(api_key="k", http_client=client, max_retries=0)
    if body.get("stream"):
        kind = anthropic.Stream[RawMessageStreamEvent]
        for _ in sdk.post("/v1/messages", cast_to=Message, body=body, stream=True, stream_cls=kind):
            pass
        return
    assert sdk.post("/v1/messages", cast_to=Message, body=body).role == "assistant"


def _chat(client: Any, body: dict[str, Any]) -> None:
    sdk = openai.OpenAI(api_key="k", http_client=client, max_retries=0)
    if body.get("stream"):
        kind = openai.Stream[ChatCompletionChunk]
        path = "/chat/completions"
        for _ in sdk.post(path, cast_to=ChatCompletion, body=body, stream=True, stream_cls=kind):
            pass
        return
    assert sdk.post("/chat/completions", cast_to=ChatCompletion, body=body).choices is not None


def _responses(client: Any, body: dict[str, Any]) -> None:
    sdk = openai.OpenAI(api_key="k", http_client=client, max_retries=0)
    if body.get("stream"):
        kind = openai.Stream[ResponseStreamEvent]
        for _ in sdk.post("/responses", cast_to=Response, body=body, stream=True, stream_cls=kind):
            pass
        return
    assert sdk.post("/responses", cast_to=Response, body=body).output is not None


ASK: dict[str, Ask] = {
    "anthropic": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
}


def _played(wire: str, exchanges: list[CassetteExchange]) -> Counter[str]:
    """Play the calls to an SDK; how many it took, and why not the others.

    The SDK asks at the provider's own address, so what a recorded address says is in the body.
    """
    scenario = Scenario(name="corpus", wire=wire, limits=Limits(model_calls=1 << 20))  # type: ignore[arg-type]
    script = CassettePlayer(CassetteIndex(exchanges))
    transition = Transition(scenario, by_name(wire), script, History())
    found: Counter[str] = Counter()
    with http.Client(transport=HttpxTransport(Dispatcher(transition, RealClock()))) as client:
        for exchange in exchanges:
            said = by_name(wire).complete_body(exchange.path, exchange.query, exchange.body)
            try:
                ASK[wire](client, json.loads(said))
                found["taken"] += 1
            except (anthropic.APIStatusError, openai.APIStatusError):
                assert exchange.answer.status >= 400
                found["refusal"] += 1
            except UnicodeDecodeError:  # frames of AWS, which only the host's own client reads
                assert "amazon.eventstream" in exchange.answer.headers["content-type"]
                found["frames"] += 1
            except Exception as error:
                found[type(error).__name__] += 1
    assert list(script.unplayed(transition.history.past)) == []
    return found


@pytest.mark.real
@pytest.mark.timeout(300)
def test_every_answer_through_its_sdk(files: list[Path]) -> None:
    taken: dict[str, Counter[str]] = {wire: Counter() for wire in ASK}
    for path in files:
        for wire, exchanges in spoken(path).items():
            if wire in ASK:
                taken[wire] += _played(wire, exchanges)
    assert taken["anthropic"] == {"taken": 678, "refusal": 9, "frames": 10}
    for wire, found in taken.items():
        read = found["taken"] + found["refusal"] + found["frames"]
        assert read >= 0.99 * found.total(), f"{wire}: {found}"
