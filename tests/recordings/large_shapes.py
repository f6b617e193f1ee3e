"""Large logs of other shapes: sessions, branches, exchanges, and formats of tool runs alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.recordings import documents
from tests.recordings.large_logs import (
    anthropic_rows,
    chat,
    encoded,
    one_turn_of_calls,
    rows_of_the_user,
)
from tests.recordings.readers import test_agents_run_state as agents_run_state
from tests.recordings.readers import test_aider as aider
from tests.recordings.readers import test_genai_replay as genai_replay
from tests.recordings.readers import test_managed_agents as managed_agents
from tests.recordings.readers import test_pi as pi

_GO = {"role": "user", "content": "Go."}


def _swe_agent(n: int) -> bytes:
    step = {"thought": "look", "response": "", "state": "{}"}
    steps = [{**step, "action": f"cat {i}\n", "observation": f"seen {i}"} for i in range(n)]
    return encoded({"environment": "main", "trajectory": steps, "history": [], "info": {}})


def _mini_swe_agent(n: int) -> bytes:
    messages = [*chat(one_turn_of_calls(n)), {"role": "exit", "content": "Submitted"}]
    kind = "mini-swe-agent-1"
    return encoded({"info": {"mini_version": "1"}, "messages": messages, "trajectory_format": kind})


def _moatless(n: int) -> bytes:
    action = {"scratch_pad": "look", "action_args_class": "m.list.ListArgs"}
    nodes: list[dict[str, Any]] = [{"node_id": 0, "parent_id": None, "message": "Go."}]
    for i in range(1, n + 1):
        seen = {"message": f"seen {i}", "expect_correction": False}
        act = {**action, "path": str(i)}
        nodes.append({"node_id": i, "parent_id": i - 1, "action": act, "observation": seen})
    return encoded({"agent": {"system_prompt": "x"}, "nodes": nodes})


def _intercode(n: int) -> bytes:
    seen = {"observations": [f"seen {i}" for i in range(n)], "valid_action": [True] * n}
    turns = {"actions": [f"ls {i}" for i in range(n)], **seen}
    return encoded({"0": {"environment": "ic_bash", "query": "Go.", "turn_history": turns}})


def _autogpt(n: int) -> bytes:
    episodes = [
        {"action": {"use_tool": {"name": "ls", "arguments": {"path": str(i)}}},
         "result": {"status": "success", "outputs": f"seen {i}"}}
        for i in range(n)
    ]  # fmt: skip
    return encoded({"task": {"input": "Go."}, "history": {"episodes": episodes}})


def _otel(n: int) -> bytes:
    name = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    spans = [
        {"trace_id": "t", "span_id": str(i), "name": "look", "start_time": i, "end_time": i + 1,
         "attributes": {**name, "gen_ai.tool.call.id": f"c{i}"}}
        for i in range(n)
    ]  # fmt: skip
    return encoded({"spans": spans})


def _langfuse_lines(n: int) -> bytes:
    run = {"traceId": "t", "type": "TOOL", "name": "look", "output": "seen"}
    return b"\n".join(encoded({**run, "id": str(i), "input": {"n": i}}) for i in range(n))


def _chat_lines(n: int) -> bytes:
    return b"\n".join(encoded({"messages": chat(one_turn_of_calls(2))}) for _ in range(n))


def _sessions_of_claude_code(n: int) -> bytes:
    lines = (
        {"type": row["role"], "message": row, "sessionId": f"s{i % (n // 4)}", "uuid": str(i)}
        for i, row in enumerate(anthropic_rows(rows_of_the_user(n)))
    )
    return b"\n".join(map(encoded, lines))


def _branches_of_pi(n: int) -> bytes:
    """A chain with a side branch at each of its first entries."""
    entries: list[dict[str, Any]] = []
    for i in range(n):
        entry = {"type": "message", "parentId": f"e{i - 1}" if i else None, "message": _GO}
        entries.append({**entry, "id": f"e{i}"})
        entries += [{**entry, "id": f"b{i}"}] if i < 50 else []
    return pi.log(*entries)


def _lost_parents_of_pi(n: int) -> bytes:
    told = {"type": "message", "message": _GO}
    return pi.log(*({**told, "id": f"e{i}", "parentId": f"x{i}"} for i in range(n)))


def _exchanges(n: int) -> bytes:
    """Recorded calls that have nothing to do with each other."""
    asked = ({"messages": [{"role": "user", "content": f"question {i}"}]} for i in range(n))
    return documents.har([documents.har_entry(one, documents.har_answer()) for one in asked])


def _deep(n: int) -> bytes:
    """Inputs that nest: the depth is bounded by the readers, their number is not."""
    deep: Any = json.loads('{"a": [' * 40 + '"end"' + "]}" * 40)
    block = {"type": "tool_use", "name": "look", "input": deep}
    rows = [{"role": "assistant", "content": [{**block, "id": f"c{i}"}]} for i in range(n)]
    return encoded([_GO, *rows])


OTHERS: dict[str, Callable[[int], bytes]] = {
    "aider": lambda n: aider.CHAT * n,
    "agents_run_state": lambda n: agents_run_state.state(*agents_run_state.RUN * n),
    "swe_agent": _swe_agent,
    "mini_swe_agent": _mini_swe_agent,
    "moatless": _moatless,
    "intercode": _intercode,
    "autogpt": _autogpt,
    "otel": _otel,
    "langfuse_lines": _langfuse_lines,
    "chat_lines": _chat_lines,
    "managed_agents": lambda n: managed_agents.lines(*managed_agents.SESSION[:3] * n),
    "chat_rows": lambda n: b"\n".join(map(encoded, chat(one_turn_of_calls(n)))),
    "claude_code": _sessions_of_claude_code,
    "pi": _lost_parents_of_pi,
    "pi with branches": _branches_of_pi,
    "har": _exchanges,
    "genai_replay": lambda n: genai_replay.replay(*[genai_replay.interaction({})] * n),
    "chat_json": _deep,
}
"""Logs of other shapes by their format, each of `n` steps, sessions or calls."""
