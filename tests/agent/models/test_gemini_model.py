"""The model over Gemini: what it sends, how long it waits, which ids and signatures it keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.agent.models.gemini_model import STAND_IN, GeminiClient, GeminiModel, write_contents
from harness.agent.models.model_call import Query
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolSpec,
    ToolUse,
    user,
)
from harness.transports.sdk_clients import http_library

http: Any = http_library()
"""The newest library, which the agent's own client accepts beside any SDK."""

RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7.5s"}
BUSY = {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}


class Brief:
    """What the client asks of a brief: a transport that gives these answers in turn."""

    base_url, api_key = "http://fake.invalid", "key"

    def __init__(self, *answers: tuple[int, Any]) -> None:
        self.answers, self.asked = list(answers), list[Any]()
        self.transport = http.MockTransport(self._answer)

    def _answer(self, request: Any) -> Any:
        self.asked.append(request)
        status, body = self.answers.pop(0)
        return http.Response(status, json=body)


def said(*parts: Any, **fields: Any) -> dict[str, Any]:
    candidate = {"content": {"parts": list(parts), "role": "model"}, "finishReason": "STOP"}
    return {"candidates": [candidate], "responseId": "r1", **fields}


def model_of(brief: Brief) -> GeminiModel:
    return GeminiModel(GeminiClient(brief), stream=False)  # type: ignore[arg-type]


def test_a_retry_comes_when_the_error_says(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    busy = {"error": {**BUSY["error"], "details": [RETRY]}}
    answer = model_of(Brief((429, busy), (200, said({"text": "hi"})))).query(Query((user("go"),)))
    assert answer.message.text == "hi"
    assert waits == [7.5]


def test_a_signature_goes_back_with_its_call_and_the_ids_are_its_own() -> None:
    call = {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"}
    other = {"functionCall": {"name": "f", "args": {}, "id": "own"}}
    answer = model_of(Brief((200, said(call, other)))).query(Query((user("go"),)))
    assert answer.stop == "tool_use"
    assert [use.id for use in answer.message.tool_uses] == ["r1_0", "own"]
    (content,) = write_contents((answer.message,))
    assert [part.get("thoughtSignature") for part in content["parts"]] == ["c2ln", None]


def test_results_stand_alone_and_name_their_calls() -> None:
    calls = Message("assistant", (ToolUse("a", "f", {}), ToolUse("b", "g", {})))
    failed = ToolResult("b", "no", is_error=True)
    results = Message("user", (ToolResult("a", "ok"), failed, Text("hm")))
    called, answered, more = write_contents((calls, results))
    assert [part.get("thoughtSignature") for part in called["parts"]] == [STAND_IN, None]
    named = [part["functionResponse"] for part in answered["parts"]]
    assert [(r["name"], r["response"]) for r in named] == [
        ("f", {"output": "ok"}),
        ("g", {"error": "no"}),
    ]
    assert more == {"role": "user", "parts": [{"text": "hm"}]}


def test_tools_that_are_withdrawn_stay_declared() -> None:
    brief = Brief((200, said({"text": "x"})))
    model_of(brief).query(Query((user("go"),), (ToolSpec("f"),), tools_withdrawn=True))
    body = json.loads(brief.asked[0].content)
    assert [f["name"] for f in body["tools"][0]["functionDeclarations"]] == ["f"]
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}
