"""A recording answers only its own agent: the token in its URL, and what keeps it secret."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from harness.cassettes.recorder import Recorder
from harness.clock import RealClock
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.providers.shared.codec import encode
from harness.redaction.masking import MASK, mask, mask_body
from harness.runner.cassette_model import record_run, recording_to
from harness.runner.prepare import transition_for
from harness.targets import of_callable
from harness.transports.access_check import new_token
from harness.transports.loopback import Loopback
from harness.transports.recording_proxy import RecordingProxy
from harness.transports.sdk_clients import model_environment
from harness.transports.upstream import ProviderAccess, Upstream
from tests.cassettes.recorded import ASK, said
from tests.cli.url_agents import echo, recorded
from tests.transports.recording import HELLO, post, proxy
from tests.transports.upstreams import answering, upstream, whole

TOKEN = re.compile(rb"lhr_[0-9a-f]{32}")
KEY = "opaque-key-of-no-shape"


@contextmanager
def provider(wire: str) -> Iterator[str]:
    """A scripted model in the provider's place."""
    scenario = Scenario(name="p", wire=wire, script=(Turn(say="hello", times="forever"),))
    with Loopback(transition_for(scenario), RealClock()) as server:
        yield server.urls.model


def anthropic_said(stream: bool) -> str:
    from anthropic import Anthropic

    asked: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": ASK["messages"]}
    with Anthropic() as client:
        if not stream:
            return str(client.messages.create(**asked).content[0].text)
        with client.messages.stream(**asked) as events:
            return "".join(events.text_stream)


def chat_said(stream: bool) -> str:
    from openai import OpenAI

    with OpenAI() as client:
        answer: Any = client.chat.completions.create(
            model="m", messages=ASK["messages"], stream=stream
        )
        if not stream:
            return str(answer.choices[0].message.content)
        choices = (chunk.choices[0] for chunk in answer if chunk.choices)
        return "".join(choice.delta.content or "" for choice in choices)


def responses_said(stream: bool) -> str:
    from openai import OpenAI

    with OpenAI() as client:
        answer: Any = client.responses.create(model="m", input="hi", stream=stream)
        if not stream:
            return str(answer.output_text)
        return "".join(e.delta for e in answer if e.type == "response.output_text.delta")


SDKS = {
    "anthropic": anthropic_said,
    "openai-chat": chat_said,
    "openai-responses": responses_said,
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", SDKS)
def test_an_sdk_keeps_the_path_of_its_base_url(
    wire: str, stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(wire) as url, proxy(url, key=KEY) as (server, recorder):
        for name, value in model_environment(server.url).items():
            monkeypatch.setenv(name, value)
        assert SDKS[wire](stream) == "hello"
        recorder.write(tmp_path / "x.yaml")
    assert (len(recorder), server.refused) == (1, 0)
    assert server.token not in (tmp_path / "x.yaml").read_text()


def without(server: RecordingProxy, path: str) -> str:
    """A URL of the server without its token."""
    return f"http://{urlsplit(server.url).netloc}{path}"


@pytest.mark.parametrize(
    "path", ["/v1/messages", "/lhr_0/v1/messages", "/s/main/v1/messages", "/", "//v1/messages"]
)
def test_a_request_without_the_token_goes_nowhere(path: str) -> None:
    heard: list[bytes] = []
    told: list[str] = []
    both = {name: ProviderAccess("", KEY) for name in ("anthropic", "openai")}
    recorder = Recorder()
    with upstream(whole(HELLO), heard=heard) as url:
        known = {name: ProviderAccess(url, p.key) for name, p in both.items()}
        with RecordingProxy(recorder, Upstream(known), tell=told.append) as server:
            headers = {"x-api-key": "sk-harness-dummy", "authorization": "Bearer sk-harness-dummy"}
            answer = httpx2.post(without(server, path), json=ASK, headers=headers, trust_env=False)
            assert answer.status_code == 403
            assert "not below the whole base URL that its agent was given" in answer.json()["error"]
            assert (heard, len(recorder), server.failures, server.refused) == ([], 0, [], 1)
            (line,) = told
            assert line.startswith("refused 403 POST /")
            assert "no key went out for it" in line
            assert server.token not in line
            dummy = post(server, headers={"x-api-key": "sk-harness-dummy"})
    assert dummy.status_code == 200
    assert f"x-api-key: {KEY}".encode() in heard[0]


def test_a_dummy_key_of_the_agents_own_passes_as_it_is() -> None:
    heard: list[bytes] = []
    with upstream(whole(HELLO), heard=heard) as url, proxy(url) as (server, recorder):
        assert post(server, headers={"x-api-key": "my-own-dummy"}).status_code == 200
    assert b"x-api-key: my-own-dummy\r\n" in heard[0]
    assert len(recorder) == 1


def test_only_the_first_strangers_are_told() -> None:
    told: list[str] = []
    with answering(echo) as url:
        access = {name: ProviderAccess(url) for name in ("anthropic", "openai")}
        with RecordingProxy(Recorder(), Upstream(access), tell=told.append) as server:
            for _ in range(13):
                httpx2.post(without(server, "/v1/messages"), json=ASK, trust_env=False)
    assert (len(told), server.refused) == (10, 13)


def test_masking_knows_a_token_however_it_is_told() -> None:
    token = new_token()
    assert new_token() != token
    assert mask(f"http://127.0.0.1:80/{token}/v1") == f"http://127.0.0.1:80/{MASK}/v1"
    deltas = [{"type": "text_delta", "text": part} for part in (token[:9], token[9:])]
    events = [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    body = b"".join(b"data: %b\n\n" % encode(event) for event in events)
    assert token[9:].encode() not in mask_body(body, "text/event-stream")


def test_an_agent_that_tells_its_url_and_crashes_leaves_no_token(tmp_path: Path) -> None:
    def agent(brief: Any) -> None:
        asked = {**ASK, "messages": [{"role": "user", "content": f"I call {brief.base_url}"}]}
        httpx2.post(f"{brief.base_url}/v1/messages", json=asked, trust_env=False)
        raise ValueError(f"no answer from {brief.base_url}")

    recorder = Recorder()
    with answering(lambda body: whole(json.dumps(said("thanks")).encode())) as url:
        access = {name: ProviderAccess(url) for name in ("anthropic", "openai")}
        scenario = Scenario(name="r", inbox=(InboxItem(text="go"),), script=())
        made = record_run(scenario, of_callable(agent), recorder, access)
    recorder.write(tmp_path / "x.yaml")
    assert made.ended.how == "crashed"
    assert "/TOKEN" in made.ended.text
    assert TOKEN.search(encode(made.ended)) is None
    assert TOKEN.search((tmp_path / "x.yaml").read_bytes()) is None
    assert MASK in (tmp_path / "x.yaml").read_text()


def test_a_test_that_records_warns_of_strangers(tmp_path: Path) -> None:
    with answering(echo) as url:
        access = {name: ProviderAccess(url) for name in ("anthropic", "openai")}
        with (  # noqa: PT031
            pytest.warns(UserWarning, match="1 requests without the base URL"),
            recording_to(tmp_path / "x.yaml", access) as served,
        ):
            stranger = f"http://{urlsplit(served).netloc}/v1/messages"
            assert httpx2.post(stranger, json=ASK, trust_env=False).status_code == 403
            httpx2.post(f"{served}/v1/messages", json=ASK, trust_env=False)
    assert recorded(tmp_path / "x.yaml") == ["hi"]
