"""Replays of google-genai: calls, streams and errors, and what the SDK itself records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.messages import Text, ToolUse
from harness.recordings.recognition import format_named, format_of, read
from harness.runner import run
from tests.recordings.imports import exchanges_in

REPLAY = format_named("genai_replay")
_URL = "{MLDEV_URL_PREFIX}/models/gemini-3:%s"
_GENERATE, _STREAM = "generateContent", "streamGenerateContent?alt=sse"


def _said(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}


def interaction(
    *answer: dict[str, Any], method: str = _GENERATE, **response: Any
) -> dict[str, Any]:
    """A call and its answer, as the SDK writes them."""
    body = {"contents": [{"role": "user", "parts": [{"text": "look"}]}]}
    request = {"method": "post", "url": _URL % method, "headers": {}, "body_segments": [body]}
    gzip = {"headers": {"content-encoding": "gzip", "content-type": "application/json"}}
    said = {**gzip, "body_segments": list(answer), "sdk_response_segments": [], **response}
    return {"request": request, "response": said}


def replay(*interactions: dict[str, Any]) -> bytes:
    """A file of the SDK."""
    held = {"replay_id": "tests/look/mldev", "interactions": list(interactions)}
    return json.dumps(held, indent=2).encode()


_CALL = _said({"functionCall": {"name": "look", "args": {"at": "a"}}}, finishReason="STOP")
WHOLE = replay(interaction(_CALL))


def test_a_call_is_the_request_and_its_answer() -> None:
    assert format_of(WHOLE) == "genai_replay"
    (found,) = REPLAY.read(WHOLE).transcripts
    assert [message.role for message in found.messages] == ["user", "assistant"]
    (block,) = found.messages[1].blocks
    assert isinstance(block, ToolUse)
    assert (block.name, block.input) == ("look", {"at": "a"})
    assert (found.wire, found.status) == ("gemini", 200)


def test_the_chunks_of_a_stream_are_put_together() -> None:
    chunks = (_said({"text": "I lo"}), _said({"text": "ok."}, finishReason="STOP"))
    (found,) = REPLAY.read(replay(interaction(*chunks, method=_STREAM))).transcripts
    assert found.messages[1].blocks == (Text("I look."),)


def test_an_error_keeps_its_status() -> None:
    error = {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}
    failed = interaction(error, method=_STREAM, status_code=429)
    (found,) = REPLAY.read(replay(failed)).transcripts
    assert found.status == 429
    assert found.error is not None
    assert found.error.message == "slow down"


def test_a_replay_is_played_as_any_cassette() -> None:
    stream = interaction(_said({"text": "ok"}, finishReason="STOP"), method=_STREAM)
    plain, streamed = exchanges_in(replay(interaction(_CALL), stream))
    assert json.loads(plain.answer.body) == _CALL
    assert streamed.answer.body.startswith(b"data: {")
    assert streamed.answer.headers["content-type"] == "text/event-stream"
    assert plain.path.endswith("/models/gemini-3:generateContent")


def test_a_call_of_another_kind_is_none_of_a_model() -> None:
    listed = interaction({"models": []})
    listed["request"] |= {"method": "get", "url": "{MLDEV_URL_PREFIX}/models"}
    recording = REPLAY.read(replay(listed, interaction(_CALL)))
    assert len(recording.transcripts) == 1


@pytest.mark.real
@pytest.mark.parametrize("stream", [False, True])
def test_what_the_sdk_records_is_read_and_played(stream: bool, tmp_path: Path) -> None:
    pytest.importorskip("google.genai", reason="needs the extra gemini")
    from google.genai.client import DebugConfig

    where = {"replay_id": "tests/look/mldev", "replays_directory": str(tmp_path)}

    def agent(brief: Any) -> None:
        client = brief.gemini(debug_config=DebugConfig(client_mode="record", **where))
        for message in brief.inbox():
            asked = {"model": "gemini-3.7-flash", "contents": message.text}
            models = client.models
            if stream:
                text = "".join(one.text for one in models.generate_content_stream(**asked))
            else:
                text = models.generate_content(**asked).text
            brief.send(text)
        client._api_client.close()  # writes the file

    told = run(
        Scenario(
            name="look",
            wire="gemini",
            stream=stream,
            tools={"look": ToolScript(description="look", script=(ToolTurn(ok="a.txt"),))},
            inbox=(InboxItem(id="m1", text="Oslo?"),),
            script=(Turn(say="It rains in Oslo."),),
        ),
        agent,
    )
    assert told.verdict.verdict == "pass"
    data = (tmp_path / "tests" / "look" / "mldev.json").read_bytes()
    (found,) = read(data).transcripts
    assert found.messages[1].blocks == (Text("It rains in Oslo."),)
    assert [exchange.answer.status for exchange in exchanges_in(data)] == [200]
