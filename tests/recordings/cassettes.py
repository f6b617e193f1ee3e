"""Small hand-made cassettes, one for each dialect, around the same exchange."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

MESSAGES_URL = "https://api.anthropic.com/v1/messages?beta=true"

REQUEST = {
    "model": "claude-x",
    "max_tokens": 64,
    "system": [{"type": "text", "text": "be brief"}],
    "tools": [{"name": "roll", "input_schema": {"type": "object", "required": ["sides"]}}],
    "messages": [{"role": "user", "content": "roll a die"}],
}

ANSWER = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "roll", "input": {"sides": 6}}],
    "stop_reason": "tool_use",
}

JSON_TYPE = {"Content-Type": ["application/json"]}


def sse(*values: Any, names: bool = True, end: str = "\n") -> bytes:
    """Values as a stream of events, with their types as event names."""
    parts = []
    for value in values:
        name = f"event: {value['type']}{end}" if names and "type" in value else ""
        parts.append(f"{name}data: {json.dumps(value)}{end}{end}")
    return "".join(parts).encode()


ANTHROPIC_EVENTS = (
    {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {}}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "toolu_1", "name": "roll", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": '{"sides": 6}'},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
    {"type": "message_stop"},
)


def vcrpy(
    request: Any = None, response: Any = None, url: str = MESSAGES_URL, method: str = "POST"
) -> dict[str, Any]:
    """An interaction as vcrpy keeps it, bodies as JSON text unless they are given otherwise."""
    return {
        "request": {
            "method": method,
            "uri": url,
            "headers": JSON_TYPE,
            "body": json.dumps(REQUEST) if request is None else request,
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": JSON_TYPE,
            "body": {"string": json.dumps(ANSWER) if response is None else response},
        },
    }


def cassette(*interactions: Any, key: str = "interactions") -> bytes:
    """Interactions as a file: JSON is YAML's flow style, told apart by a first line."""
    return f"---\n{key}: {json.dumps(interactions)}\nversion: 1\n".encode()


def _go_vcr() -> bytes:
    made = vcrpy()
    request, response = made["request"], made["response"]
    request["url"] = request.pop("uri")
    response |= {"body": response["body"]["string"], "code": 200, "status": "200 OK"}
    return cassette({"id": 0, "request": request, "response": response})


def _ruby() -> bytes:
    made = vcrpy()
    made["request"] |= {
        "method": "post",
        "body": {"encoding": "UTF-8", "string": made["request"]["body"]},
    }
    body = base64.encodebytes(json.dumps(ANSWER).encode()).decode().replace("\n", "\n      ")
    text = "http_interactions:\n- request: " + json.dumps(made["request"])
    return (
        f"---\n{text}\n  response:\n    status: {{code: 200}}\n    body:\n"
        f"     encoding: ASCII-8BIT\n     string: !binary |-\n      {body.strip()}\n"
        "  recorded_at: Tue, 14 Jul 2026 01:04:31 GMT\nrecorded_with: VCR 6.4.0\n"
    ).encode()


def _parsed_body() -> bytes:
    made = vcrpy()
    made["request"] |= {"body": None, "parsed_body": REQUEST}
    made["response"] |= {"body": None, "parsed_body": ANSWER}
    return cassette(made)


def _one_json() -> bytes:
    made = vcrpy()
    made["request"]["url"] = made["request"].pop("uri")
    made["response"]["body"] = json.dumps(ANSWER)
    return json.dumps(made).encode()


def _tagged() -> bytes:
    body = json.dumps(json.dumps(REQUEST))
    packed = base64.b64encode(gzip.compress(json.dumps(ANSWER).encode())).decode()
    return (
        f"interactions:\n- request:\n    body: {body}\n    headers:\n"
        "      ? !!python/object/apply:multidict._multidict.istr\n      - Content-Type\n"
        "      : - application/json\n"
        f"    method: POST\n    uri: {MESSAGES_URL}\n"
        f"  response:\n    body:\n      string: !!binary |\n        {packed}\n"
        "    headers: {content-encoding: [gzip]}\n    status: {code: 200, message: OK}\n"
    ).encode()


def _streamed() -> bytes:
    made = vcrpy(response=sse(*ANTHROPIC_EVENTS).decode())
    made["response"]["headers"] = {"content-type": ["text/event-stream; charset=utf-8"]}
    return cassette(made)


def _langchain() -> bytes:
    made = vcrpy()
    made["response"]["body"] = {"string": json.dumps(ANSWER)}
    halves = (f"{key}s:\n- {json.dumps(made[key])}\n" for key in ("request", "response"))
    return "".join(halves).encode()


def braintrust(body: dict[str, Any] | None = None) -> bytes:
    """A cassette of Braintrust's recorder, with this body of the answer."""
    asked = {"body": {"kind": "json", "value": REQUEST}, "headers": {}, "method": "POST"}
    answered = {"body": body or {"kind": "json", "value": ANSWER}, "status": 200}
    entry = {
        "callIndex": 0,
        "id": "d41d8cd9",
        "matchKey": "POST api.anthropic.com/v1/messages",
        "recordedAt": "2026-08-04T03:10:10.524Z",
        "request": {**asked, "url": MESSAGES_URL},
        "response": {**answered, "headers": {"content-type": "application/json"}},
    }
    return json.dumps({"entries": [entry], "meta": {"createdAt": entry["recordedAt"]}}).encode()


DIALECTS = {
    "vcrpy": cassette(vcrpy()),
    "vcrpy, tags, gzip": _tagged(),
    "pytest, parsed_body": _parsed_body(),
    "go-vcr": _go_vcr(),
    "ruby": _ruby(),
    "one interaction, JSON": _one_json(),
    "langchain": _langchain(),
    "braintrust": braintrust(),
    "braintrust, text": braintrust({"kind": "text", "value": json.dumps(ANSWER)}),
    "braintrust, base64": braintrust(
        {"kind": "base64", "value": base64.b64encode(json.dumps(ANSWER).encode()).decode()}
    ),
    "streamed": _streamed(),
}
"""The same exchange in every dialect."""
