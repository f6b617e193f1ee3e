"""Each HTTP library is recorded alike: by vcrpy where it goes its own way, else by the proxy."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from harness.cassettes.cassette_file import read_cassette
from harness.cassettes.client_listener import recording
from harness.cassettes.recorder import Recorder
from harness.core.scenario.scenario import InboxItem, Scenario
from harness.core.values.errors import InputError
from harness.providers.shared.codec import encode
from harness.runner.cassette_model import record_run
from harness.targets import of_callable
from harness.transports.upstream import ProviderAccess
from tests.cassettes.clients import CLIENTS, Ask
from tests.cassettes.recorded import ASK, said
from tests.transports.upstreams import CHUNKED, STREAM_HEAD, answering, chunk, upstream, whole

KEY = "sk-ant-api03-" + "k" * 40
HEADERS = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
ANSWER = encode(said(f"the key is {KEY}"))


@pytest.mark.parametrize("ask", CLIENTS, ids=lambda ask: ask.__name__)
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("zipped", [False, True])
def test_every_library_is_recorded_by_vcrpy(
    ask: Ask, streamed: bool, zipped: bool, tmp_path: Path
) -> None:
    body = b'event: ping\ndata: {"type": "ping"}\n\n' * 3 if streamed else ANSWER
    sent = gzip.compress(body) if zipped else body
    extra = [b"content-encoding: gzip"] if zipped else []
    head = STREAM_HEAD + b"".join(line + b"\r\n" for line in extra)
    answer = head + CHUNKED + chunk(sent) + b"0\r\n\r\n" if streamed else whole(sent, *extra)
    with upstream(answer) as url, recording(tmp_path / "x.yaml"):
        assert ask(f"{url}/v1/messages?beta=true", ASK, HEADERS) == body
    (exchange,) = read_cassette(tmp_path / "x.yaml")
    assert json.loads(exchange.body) == ASK
    assert exchange.answer.body == body.replace(KEY.encode(), b"[REDACTED]")
    text = (tmp_path / "x.yaml").read_text()
    assert KEY[13:] not in text
    assert "uri: https://api.anthropic.com/v1/messages?beta=true" in text


def test_what_vcrpy_cannot_decode_is_not_written(tmp_path: Path) -> None:
    answer = whole(b"\x1b\x00", b"content-encoding: compress")
    path = tmp_path / "x.yaml"
    with (
        pytest.raises(InputError, match="compressed with compress"),
        upstream(answer) as url,
        recording(path),
    ):
        CLIENTS[0](f"{url}/v1/messages", ASK, HEADERS)
    assert list(tmp_path.iterdir()) == []


def _answer(body: bytes) -> bytes:
    return whole(json.dumps(said(json.loads(body)["messages"][0]["content"])).encode())


@pytest.mark.parametrize("ask", CLIENTS, ids=lambda ask: ask.__name__)
@pytest.mark.parametrize("own_url", [False, True], ids=["url of the brief", "url of its own"])
def test_an_agent_on_every_library_is_recorded_once_a_call(
    ask: Ask, own_url: bool, tmp_path: Path
) -> None:
    texts = ["first", "second"]
    scenario = Scenario(name="prompts", inbox=tuple(InboxItem(text=text) for text in texts))
    recorder, replies = Recorder(), list[str]()

    with answering(_answer) as url:

        def agent(brief: Any) -> None:
            base = url if own_url else brief.base_url
            for inbound in brief.inbox():
                asked = {**ASK, "messages": [{"role": "user", "content": inbound.text}]}
                answer = json.loads(ask(f"{base}/v1/messages", asked, {"x-api-key": brief.api_key}))
                replies.append(answer["content"][0]["text"])
                brief.send(replies[-1])

        both = {name: ProviderAccess(url, KEY) for name in ("anthropic", "openai")}
        made = record_run(scenario, of_callable(agent), recorder, both)
    assert made.ended.how == "returned", made.ended.text
    assert made.failures == ()
    assert made.is_whole
    assert replies == texts
    recorder.write(tmp_path / "x.yaml")
    bodies = [json.loads(exchange.body) for exchange in read_cassette(tmp_path / "x.yaml")]
    assert [body["messages"][0]["content"] for body in bodies] == texts
