"""Large logs of several talks, in every format: what a reader must take in linear time.

A talk is a list of steps; a writer spells it as a format does. Formats without rows of a user have
only the talks with calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from tests.recordings import documents
from tests.recordings.readers import test_claude_stream as claude_stream
from tests.recordings.readers import test_codex as codex
from tests.recordings.readers import test_copilot_cli as copilot_cli
from tests.recordings.readers import test_gemini_cli as gemini_cli
from tests.recordings.readers import test_gemini_stream as gemini_stream
from tests.recordings.readers import test_httprr as httprr
from tests.recordings.readers import test_inspect_ai as inspect_ai
from tests.recordings.readers import test_opencode as opencode
from tests.recordings.readers import test_openhands as openhands
from tests.recordings.readers import test_pi as pi
from tests.recordings.readers import test_qwen_code as qwen_code


class Step(NamedTuple):
    """A text of one side, or calls by their ids, or the results of calls."""

    kind: Literal["user", "assistant", "calls", "results"]
    text: str = ""
    ids: tuple[str, ...] = ()


Talk = list[Step]
_ANSWER = Step("assistant", "Done.")
_GO = {"role": "user", "content": "Go."}


def rows_of_the_user(n: int) -> Talk:
    """Messages of the user without an answer until the end."""
    return [*(Step("user", f"question {i}") for i in range(n)), _ANSWER]


def rows_of_the_assistant(n: int) -> Talk:
    """Answers, one after the other."""
    return [Step("user", "Go."), *(Step("assistant", f"answer {i}") for i in range(n))]


def one_message_of_calls(n: int) -> Talk:
    """Calls of one answer, and their results."""
    ids = tuple(f"c{i}" for i in range(n))
    return [Step("user", "Go."), Step("calls", ids=ids), Step("results", ids=ids), _ANSWER]


def one_turn_of_calls(n: int) -> Talk:
    """A turn in which each answer calls once."""
    made = (Step(kind, ids=(f"c{i}",)) for i in range(n) for kind in ("calls", "results"))  # type: ignore[arg-type]
    return [Step("user", "Go."), *made, _ANSWER]


def calls_without_results(n: int) -> Talk:
    """A turn of calls of which only the first is answered."""
    made = (Step("calls", ids=(f"c{i}",)) for i in range(1, n))
    first = (Step("calls", ids=("c0",)), Step("results", ids=("c0",)))
    return [Step("user", "Go."), *first, *made, _ANSWER]


def one_huge_text(n: int) -> Talk:
    """A question and an answer of a hundred characters for each step of another talk."""
    return [Step("user", "why so \n" * n * 12), Step("assistant", "because " * n * 12)]


TALKS: dict[str, Callable[[int], Talk]] = {
    talk.__name__: talk
    for talk in (
        rows_of_the_user, rows_of_the_assistant, one_message_of_calls, one_turn_of_calls,
        calls_without_results, one_huge_text,
    )
}  # fmt: skip


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def _given(id_: str) -> dict[str, str]:
    return {"path": f"file-{id_}"}


def chat(talk: Talk) -> list[dict[str, Any]]:
    """The messages of OpenAI's chat."""
    found: list[dict[str, Any]] = []
    for step in talk:
        if step.kind == "results":
            found += [{"role": "tool", "tool_call_id": i, "content": f"seen {i}"} for i in step.ids]
            continue
        row: dict[str, Any] = {"role": "user" if step.kind == "user" else "assistant"}
        calls = [
            {"id": i, "function": {"name": "look", "arguments": json.dumps(_given(i))}}
            for i in step.ids
        ]
        found.append({**row, "content": step.text, **({"tool_calls": calls} if calls else {})})
    return found


def anthropic_rows(talk: Talk) -> Iterator[dict[str, Any]]:
    for step in talk:
        role = "user" if step.kind in ("user", "results") else "assistant"
        blocks: list[dict[str, Any]] = [{"type": "text", "text": step.text}] if step.text else []
        for id_ in step.ids:
            if step.kind == "calls":
                blocks.append({"type": "tool_use", "id": id_, "name": "look", "input": _given(id_)})
            else:
                blocks.append({"type": "tool_result", "tool_use_id": id_, "content": f"seen {id_}"})
        yield {"role": role, "content": blocks}


def _claude_code(talk: Talk) -> bytes:
    lines = (
        {"type": row["role"], "message": row, "sessionId": "s", "uuid": str(n)}
        for n, row in enumerate(anthropic_rows(talk))
    )
    return b"\n".join(map(encoded, lines)) + b"\n"


def _claude_stream(talk: Talk) -> bytes:
    rows = (claude_stream.event(row["role"], *row["content"]) for row in anthropic_rows(talk))
    return claude_stream.stream(*rows)


def _codex(talk: Talk) -> bytes:
    items: list[dict[str, Any]] = []
    for step in talk:
        if step.kind == "calls":
            given = {"name": "look", "arguments": "{}"}
            items += [{"type": "function_call", "call_id": i, **given} for i in step.ids]
        elif step.kind == "results":
            kind = "function_call_output"
            items += [{"type": kind, "call_id": i, "output": f"seen {i}"} for i in step.ids]
        else:
            text = [{"type": "input_text", "text": step.text}]
            items.append({"type": "message", "role": step.kind, "content": text})
    return codex.log(*({"type": "response_item", "payload": item} for item in items))


def _pi(talk: Talk) -> bytes:
    said: list[dict[str, Any]] = []
    for step in talk:
        text = [{"type": "text", "text": step.text}] if step.text else []
        if step.kind == "results":
            seen = {"role": "toolResult", "content": "seen"}
            said += [{**seen, "toolCallId": id_} for id_ in step.ids]
            continue
        calls = [
            {"type": "toolCall", "id": i, "name": "look", "arguments": _given(i)} for i in step.ids
        ]
        role = "user" if step.kind == "user" else "assistant"
        said.append({"role": role, "content": [*text, *calls]})
    entries = (
        {"type": "message", "id": f"e{n}", "parentId": f"e{n - 1}" if n else None, "message": one}
        for n, one in enumerate(said)
    )
    return pi.log(*entries)


def _gemini(talk: Talk) -> Iterator[dict[str, Any]]:
    """Contents of the Gemini API."""
    for step in talk:
        parts: list[dict[str, Any]] = [{"text": step.text}] if step.text else []
        for id_ in step.ids:
            named = {"id": id_, "name": "look"}
            if step.kind == "calls":
                parts.append({"functionCall": {**named, "args": _given(id_)}})
            else:
                answer = {"output": f"seen {id_}"}
                parts.append({"functionResponse": {**named, "response": answer}})
        yield {"role": "user" if step.kind in ("user", "results") else "model", "parts": parts}


def _gemini_cli(talk: Talk) -> bytes:
    kinds = {"user": "user", "model": "gemini"}
    said = ({"type": kinds[row["role"]], "content": row["parts"]} for row in _gemini(talk))
    return gemini_cli.session(*said)


def _qwen_code(talk: Talk) -> bytes:
    kinds = {"user": "user", "model": "assistant"}
    rows = enumerate(_gemini(talk))
    entries = (
        qwen_code.entry(f"e{n}", f"e{n - 1}", *row["parts"], kind=kinds[row["role"]])
        for n, row in rows
    )
    return qwen_code.log(*entries)


def _copilot_cli(talk: Talk) -> bytes:
    events: list[tuple[str, dict[str, Any]]] = []
    for step in talk:
        if step.kind == "results":
            events += [copilot_cli.ended(id_, f"seen {id_}") for id_ in step.ids]
            continue
        requests = [copilot_cli.requested(id_, _given(id_)) for id_ in step.ids]
        side = "user" if step.kind == "user" else "assistant"
        events.append((f"{side}.message", {"content": step.text, "toolRequests": requests}))
    return copilot_cli.log(*events)


def _openhands(talk: Talk) -> bytes:
    events: list[dict[str, Any]] = []
    for step in talk:
        told = [openhands.metadata(*step.ids, called=id_) for id_ in step.ids[:50]]
        if step.kind == "calls":
            events += [openhands.action("run", tool_call_metadata=each) for each in told]
        elif step.kind == "results":
            events += [openhands.observation("run", "x", tool_call_metadata=each) for each in told]
        else:
            source = "user" if step.kind == "user" else "agent"
            events.append(openhands.action("message", source, args={"content": step.text}))
    return openhands.trajectory(*events)


def _httprr(talk: Talk) -> bytes:
    body = json.dumps({"messages": list(anthropic_rows(talk))[:-1], "model": "m"})
    head = "POST https://api.anthropic.com/v1/messages HTTP/1.1\r\n\r\n"
    answer = "HTTP/2.0 200 OK\r\nContent-Type: application/json\r\n\r\n"
    said = documents.har_answer()["text"]
    return httprr.trace(((head + body).encode(), (answer + said).encode()))


def _atif(talk: Talk) -> bytes:
    steps: list[dict[str, Any]] = []
    for step in talk:
        if step.kind == "results":
            seen = [{"source_call_id": i, "content": f"seen {i}"} for i in step.ids]
            steps[-1]["observation"] = {"results": seen}
            continue
        calls = [
            {"tool_call_id": i, "function_name": "look", "arguments": _given(i)} for i in step.ids
        ]
        source = "user" if step.kind == "user" else "agent"
        steps.append({"source": source, "message": step.text, "tool_calls": calls})
    return encoded({"schema_version": "ATIF-v1.5", "agent": {}, "steps": steps})


def _har(talk: Talk) -> bytes:
    request = {"messages": list(anthropic_rows(talk))[:-1], "model": "m"}
    return documents.har([documents.har_entry(request, documents.har_answer())])


def _vcr(talk: Talk) -> bytes:
    body = json.dumps({"messages": list(anthropic_rows(talk))[:-1], "model": "m"})
    answer = {"body": {"string": documents.har_answer()["text"]}, "status": {"code": 200}}
    uri = "https://api.anthropic.com/v1/messages"
    request = {"method": "POST", "uri": uri, "body": body, "headers": {}}
    return encoded({"version": 1, "interactions": [{"request": request, "response": answer}]})


def _langfuse(talk: Talk) -> bytes:
    row = {"traceId": "t", "id": "o", "type": "GENERATION", "name": "chat", "model": "m"}
    messages = chat(talk)
    observed = {**row, "input": messages[:-1], "output": messages[-1]}
    return encoded({"trace": {"id": "t", "name": "n"}, "observations": [observed]})


WRITERS: dict[str, Callable[[Talk], bytes]] = {
    "chat_json": lambda talk: encoded(chat(talk)),
    "chat_json of Anthropic": lambda talk: encoded(list(anthropic_rows(talk))),
    "claude_code": _claude_code,
    "claude_stream": _claude_stream,
    "codex": _codex,
    "pi": _pi,
    "atif": _atif,
    "inspect_ai": lambda talk: inspect_ai.log(inspect_ai.sample(1, messages=chat(talk)), eval={}),
    "copilot_cli": _copilot_cli,
    "gemini_cli": _gemini_cli,
    "gemini_stream": lambda talk: gemini_stream.of_talk(talk, _given),
    "har": _har,
    "httprr": _httprr,
    "opencode": lambda talk: opencode.of_talk(talk, _given),
    "openhands": _openhands,
    "qwen_code": _qwen_code,
    "vcr": _vcr,
    "langfuse": _langfuse,
}
"""The formats that keep messages, by their names."""
