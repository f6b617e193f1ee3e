"""A scripted model for the hand checks: the standard library alone, and nothing of the harness.

    with BareServer([call("add", {"a": 1}), say("Two.")]) as server:
        run_the_agent(base_url=server.url)
    print(server.bodies)  # the JSON of each request to a model, in order

It speaks Anthropic Messages, OpenAI Chat Completions and Responses, and Gemini, plain and streamed.
It refuses nothing: what an API would refuse is for the check to say. After the last answer it says
"Done.". An answer may be a function of the request's body: give that to answer by what is asked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """What the model answers. `calls` are (name, arguments); arguments that are a `str` go out
    as they are, any other value as its JSON. `stop` is the API's own word; a `cut` stream stops
    before its end; `signature` is the mark of a thought of Gemini; `status` is that of an error."""

    text: str = ""
    calls: tuple = ()
    stop: str = ""
    cut: bool = False
    signature: str = ""
    status: int = 200


def say(text, **more):
    return Answer(text=text, **more)


def call(name, arguments, **more):
    return Answer(calls=((name, arguments),), **more)


def error(status, text="The model is not available."):
    return Answer(text=text, status=status)


def scratch(home, **more):
    """The environment of a program under test: its own HOME, and none of your settings."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "HOME": str(home), **more}


class LoopbackServer:
    """A server on a free port of loopback, for as long as its block runs."""

    def __init__(self, handler):
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class BareServer(LoopbackServer):
    """A model's API on loopback. `requests` are (method, path, headers, body)."""

    def __init__(self, answers=()):
        self.answers, self.requests, self.bodies = list(answers), [], []
        self._lock = threading.Lock()
        super().__init__(type("H", (_Handler,), {"bare": self}))

    def answer(self, body):
        """The answer that is due, with the number of the request, from 1."""
        with self._lock:
            self.bodies.append(body)
            number = len(self.bodies)
            due = self.answers[number - 1] if number <= len(self.answers) else Answer("Done.")
        return number, due(body) if callable(due) else due


def restarted(script, answers, *messages):
    """The requests of a script that is started again for each message, as after a kill: it gets
    the URL of the model, one folder for all starts, and the message."""
    with BareServer(answers) as server, tempfile.TemporaryDirectory() as folder:
        for message in messages:
            subprocess.run([sys.executable, script, server.url, folder, message], check=False)
    return server.bodies


def refuses_blanks(body):
    """An answer of the Anthropic API, which takes no text of white space alone."""
    texts = [b["text"] for m in body["messages"] for b in m["content"] if b["type"] == "text"]
    refusal = error(400, "text content blocks must contain non-whitespace text")
    return say("Hi.") if all(text.strip() for text in texts) else refusal


class _Handler(BaseHTTPRequestHandler):
    bare: BareServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Print nothing."""

    def do_HEAD(self):
        self._send(200, b"")

    def do_GET(self):
        self._keep({})
        path = self.path.partition("?")[0]
        known = path.endswith("/models")
        self._send(200 if known else 404, _json({"object": "list", "data": [], "models": []}))

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {"unreadable": raw.decode("utf-8", "replace")}
        self._keep(body)
        path, _, query = self.path.partition("?")
        if path.endswith(("count_tokens", ":countTokens")):
            return self._send(200, _json({"input_tokens": 10, "totalTokens": 10}))
        endings = [(end, wire) for end, wire in _WIRES.items() if path.endswith(end)]
        if not endings:
            return self._send(404, _json({"error": {"message": f"no such path: {path}"}}))
        number, answer = self.bare.answer(body)
        if answer.status != 200:
            return self._send(answer.status, _json(_error(answer)))
        whole, events = endings[0][1](replace(answer, calls=_calls(answer, number)), number)
        streamed = body.get("stream") is True or "streamGenerate" in path
        if not streamed:
            return self._send(200, _json(whole))
        if "streamGenerate" in path and "alt=sse" not in query:
            return self._send(200, _json([whole]))
        kept = events[: len(events) - 2] if answer.cut else events
        return self._send(200, b"".join(map(_sse, kept)), "text/event-stream")

    def _keep(self, body):
        self.bare.requests.append((self.command, self.path, dict(self.headers), body))

    def _send(self, status, data, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _json(value):
    return json.dumps(value).encode()


def _sse(event):
    name, data = event
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def _error(answer):
    kind = "invalid_request_error" if answer.status < 429 else "overloaded_error"
    said = {"type": kind, "code": answer.status, "message": answer.text, "status": kind}
    return {"type": "error", "error": said}


def _calls(answer, number):
    """(id, name, arguments as text) for each call; ids are new in each answer."""
    return tuple(
        (f"call_{number}_{place}", name, given if isinstance(given, str) else json.dumps(given))
        for place, (name, given) in enumerate(answer.calls, 1)
    )


def _value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def _anthropic(answer, number):
    stop = answer.stop or ("tool_use" if answer.calls else "end_turn")
    usage = {"input_tokens": 10, "output_tokens": 5}
    blocks = [{"type": "text", "text": answer.text}] if answer.text else []
    for id, name, given in answer.calls:
        blocks.append({"type": "tool_use", "id": f"toolu_{id}", "name": name})
        blocks[-1]["input"] = _value(given)
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "fake"}
    whole = {**head, "content": blocks, "stop_reason": stop, "stop_sequence": None, "usage": usage}
    begun = {**whole, "content": [], "stop_reason": None}
    events = [("message_start", {"type": "message_start", "message": begun})]
    texts = [None] * bool(answer.text) + [given for _, _, given in answer.calls]
    for index, (block, given) in enumerate(zip(blocks, texts, strict=True)):
        empty = {**block, **({"text": ""} if given is None else {"input": {}})}
        delta = {"type": "text_delta", "text": answer.text}
        if given is not None:
            delta = {"type": "input_json_delta", "partial_json": given}
        for kind, more in (
            ("content_block_start", {"content_block": empty}),
            ("content_block_delta", {"delta": delta}),
            ("content_block_stop", {}),
        ):
            events.append((kind, {"type": kind, "index": index, **more}))
    end = {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
    events.append(("message_delta", {"type": "message_delta", **end}))
    return whole, [*events, ("message_stop", {"type": "message_stop"})]


def _chat(answer, number):
    stop = answer.stop or ("tool_calls" if answer.calls else "stop")
    head = {"id": f"chatcmpl-{number}", "created": 1, "model": "fake"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": given}}
        for id, name, given in answer.calls
    ]
    message = {"role": "assistant", "content": answer.text or None}
    whole = {**message, **({"tool_calls": calls} if calls else {})}
    pieces = [{"role": "assistant", "content": answer.text}]
    pieces += [{"tool_calls": [{"index": n, **one}]} for n, one in enumerate(calls)]

    def chunk(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return ("", {**head, "object": "chat.completion.chunk", "choices": [choice]})

    last = chunk({}, stop)
    last[1]["usage"] = usage
    choice = {"index": 0, "message": whole, "finish_reason": stop}
    reply = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    return reply, [*map(chunk, pieces), last, ("", "[DONE]")]


def _responses(answer, number):
    items = []
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        items.append({"type": "message", "id": f"msg_{number}", "role": "assistant"})
        items[-1] |= {"status": "completed", "content": [part]}
    for id, name, given in answer.calls:
        item = {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": name}
        items.append({**item, "arguments": given, "status": "completed"})
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    usage |= {"input_tokens_details": {"cached_tokens": 0}}
    usage |= {"output_tokens_details": {"reasoning_tokens": 0}}
    status = "incomplete" if answer.stop else "completed"
    reply = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "fake"}
    reply |= {"status": status, "output": items, "usage": usage, "error": None}
    reply |= {"incomplete_details": {"reason": answer.stop} if answer.stop else None}
    reply |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    begun = {**reply, "status": "in_progress", "output": []}
    events = [("response.created", {"response": begun})]
    for index, item in enumerate(items):
        at = {"output_index": index, "item_id": item["id"]}
        opened = {**item, **({"content": []} if "content" in item else {"arguments": ""})}
        events.append(("response.output_item.added", {"output_index": index, "item": opened}))
        if "content" in item:
            at |= {"content_index": 0}
            empty, part = {**item["content"][0], "text": ""}, item["content"][0]
            events.append(("response.content_part.added", {**at, "part": empty}))
            events.append(("response.output_text.delta", {**at, "delta": answer.text}))
            events.append(("response.output_text.done", {**at, "text": answer.text}))
            events.append(("response.content_part.done", {**at, "part": part}))
        else:
            given = item["arguments"]
            events.append(("response.function_call_arguments.delta", {**at, "delta": given}))
            events.append(("response.function_call_arguments.done", {**at, "arguments": given}))
        events.append(("response.output_item.done", {"output_index": index, "item": item}))
    events.append((f"response.{status}", {"response": reply}))
    numbered = enumerate(events)
    return reply, [(kind, {"type": kind, "sequence_number": n, **e}) for n, (kind, e) in numbered]


def _gemini(answer, number):
    parts = [{"text": answer.text}] if answer.text else []
    for _, name, given in answer.calls:
        parts.append({"functionCall": {"name": name, "args": _value(given)}})
        if answer.signature:
            parts[-1]["thoughtSignature"] = answer.signature
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    head = {"responseId": f"r{number}", "modelVersion": "fake", "usageMetadata": usage}

    def reply(parts, reason=None):
        one = {"index": 0, "content": {"role": "model", "parts": parts}}
        return {**head, "candidates": [{**one, **({"finishReason": reason} if reason else {})}]}

    stop = answer.stop or "STOP"
    pieces = [("", reply([part])) for part in parts[:-1]]
    return reply(parts, stop), [*pieces, ("", reply(parts[-1:], stop))]


_WIRES = {
    "/messages": _anthropic,
    "/chat/completions": _chat,
    "/responses": _responses,
    ":generateContent": _gemini,
    ":streamGenerateContent": _gemini,
}
