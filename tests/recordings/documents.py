"""Small recordings in the formats that are one JSON document, as their writers spell them.

Each says the same: the user asks for the files, the agent lists them, sees two, and lists again.
"""

from __future__ import annotations

import json
from typing import Any

ASKED = "list the files"
SEEN = "a.txt b.txt"


def _bytes(value: Any, **how: Any) -> bytes:
    return json.dumps(value, **how).encode()


def openai_messages() -> list[dict[str, Any]]:
    """A chat of the OpenAI shape: one call, its result, a text."""
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    return [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": SEEN},
        {"role": "assistant", "content": "two files"},
    ]


def anthropic_messages() -> list[dict[str, Any]]:
    """The same of the Anthropic shape."""
    use = {"type": "tool_use", "id": "c1", "name": "ls", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": SEEN}
    return [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "text", "text": "two files"}]},
    ]


def har(entries: list[Any]) -> bytes:
    """An archive of these entries."""
    return _bytes({"log": {"version": "1.2", "creator": {"name": "x"}, "entries": entries}})


def har_entry(request: Any, response: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An entry: the request's body is JSON, `response` is the `content` of the answer."""
    return {
        "request": {
            "method": "POST",
            "url": "https://api.anthropic.com/v1/messages?beta=true",
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "postData": {"mimeType": "application/json", "text": json.dumps(request)},
            **more,
        },
        "response": {"status": 200, "headers": [], "content": response},
    }


def har_answer() -> dict[str, Any]:
    """The answer of a model as the content of a response."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "two"}]}
    return {"mimeType": "application/json", "text": json.dumps(said)}


_STEPS = [
    {
        "action": "ls\n",
        "observation": SEEN,
        "thought": "look",
        "response": "look ls",
        "state": "{}",
    },
    {"action": "ls -a\n", "observation": SEEN, "thought": "again", "response": "x", "state": "{}"},
]
_HISTORY = [
    {"role": "system", "content": "be brief", "agent": "main"},
    {"role": "user", "content": "a demonstration", "agent": "main", "is_demo": True},
    {"role": "user", "content": ASKED, "agent": "main"},
    {"role": "assistant", "content": "look", "action": "ls\n", "agent": "main"},
    {"role": "user", "content": SEEN, "agent": "main"},
]
_THOUGHTS = {"thoughts": {"text": "look"}, "command": {"name": "ls", "args": {"path": "."}}}
_CLASS = "action_args_class"


def langfuse_rows() -> list[dict[str, Any]]:
    """Rows of observations: a generation with the tool that it called."""
    row = {"traceId": "t1", "parentObservationId": None, "level": "DEFAULT", "model": "m"}
    asked, answer = openai_messages()[:-1], openai_messages()[-1]
    used = {"startTime": "2026-01-01T00:00:01Z", "input": {}, "output": SEEN}
    return [
        {**row, "id": "o2", "type": "TOOL", "name": "ls", **used},
        {**row, "id": "o1", "type": "GENERATION", "name": "chat", "input": asked,
         "output": answer, "startTime": "2026-01-01T00:00:02Z"},
    ]  # fmt: skip


SAMPLES: dict[str, tuple[str, bytes]] = {
    "har": (
        "har",
        har([har_entry({"messages": anthropic_messages()[:1], "model": "m"}, har_answer())]),
    ),
    "swe_agent": (
        "swe_agent",
        _bytes({"environment": "main", "trajectory": _STEPS, "history": _HISTORY, "info": {}}),
    ),
    "mini_swe_agent": (
        "mini_swe_agent",
        _bytes(
            {
                "info": {"mini_version": "1.14.0"},
                "messages": [*openai_messages(), {"role": "exit", "content": "Submitted"}],
                "trajectory_format": "mini-swe-agent-1",
            },
            indent=2,
        ),
    ),
    "moatless": (
        "moatless",
        _bytes(
            {
                "agent": {"system_prompt": "be brief"},
                "nodes": [
                    {"node_id": 0, "parent_id": None, "message": ASKED},
                    {
                        "node_id": 1,
                        "parent_id": 0,
                        "action": {"scratch_pad": "look", "path": ".", _CLASS: "m.list.ListArgs"},
                        "observation": {"message": SEEN, "expect_correction": False},
                    },
                    {"node_id": 2, "parent_id": 1, "action": {_CLASS: "m.FinishArgs"}},
                ],
            }
        ),
    ),
    "intercode": (
        "intercode",
        _bytes(
            {
                "0": {
                    "environment": "ic_bash",
                    "query": ASKED,
                    "turn_history": {
                        "actions": ["ls", "ls -a"],
                        "observations": [SEEN, "no such option"],
                        "valid_action": [True, False],
                    },
                }
            }
        ),
    ),
    "atif": (
        "atif",
        _bytes(
            {
                "schema_version": "ATIF-v1.5",
                "session_id": "s",
                "agent": {"name": "x", "model_name": "m"},
                "steps": [
                    {"step_id": 1, "source": "user", "message": ASKED},
                    {
                        "step_id": 2,
                        "source": "agent",
                        "message": "look",
                        "reasoning_content": "hm",
                        "tool_calls": [
                            {"tool_call_id": "c1", "function_name": "ls", "arguments": {"p": "."}}
                        ],
                        "observation": {"results": [{"source_call_id": "c1", "content": SEEN}]},
                    },
                ],
            }
        ),
    ),
    "autogpt history": (
        "autogpt",
        _bytes(
            [
                {"role": "user", "content": ASKED},
                {"role": "assistant", "content": json.dumps(_THOUGHTS)},
                {"role": "system", "content": f"Command ls returned: {SEEN}"},
            ]
        ),
    ),
    "autogpt state": (
        "autogpt",
        _bytes(
            {
                "task": {"input": ASKED},
                "history": {
                    "episodes": [
                        {
                            "action": {"use_tool": {"name": "ls", "arguments": {"path": "."}}},
                            "result": {"status": "success", "outputs": SEEN},
                        }
                    ]
                },
            }
        ),
    ),
    "inspect_ai": (
        "inspect_ai",
        _bytes(
            {
                "version": 2,
                "status": "success",
                "eval": {"model": "m"},
                "plan": {},
                "samples": [
                    {
                        "id": 1,
                        "epoch": 1,
                        "messages": [
                            {"role": "user", "content": ASKED},
                            {
                                "role": "assistant",
                                "content": "",
                                "tool_calls": [{"id": "c1", "function": "ls", "arguments": {}}],
                            },
                            {"role": "tool", "content": SEEN, "tool_call_id": "c1"},
                        ],
                    }
                ],
            }
        ),
    ),
    "langfuse": (
        "langfuse",
        _bytes({"trace": {"id": "t1", "name": "list"}, "observations": langfuse_rows()}),
    ),
    "langfuse lines": ("langfuse_lines", b"\n".join(map(_bytes, langfuse_rows()))),
    "chat list": ("chat_json", _bytes(openai_messages(), indent=1)),
    "chat object": (
        "chat_json",
        _bytes({"model": "m", "system": "be brief", "messages": anthropic_messages()}),
    ),
    "chat objects": (
        "chat_json",
        _bytes([{"task_id": n, "traj": openai_messages()} for n in "ab"]),
    ),
    "chat lines": ("chat_lines", b"\n".join(_bytes({"messages": openai_messages()}) for _ in "ab")),
    "chat rows lines": ("chat_rows", b"\n".join(map(_bytes, openai_messages()))),
}
"""A name for each sample, with its format and its bytes."""
