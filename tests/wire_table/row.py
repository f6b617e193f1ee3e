"""One row: a fault, and what surfaced from the SDK when it was first measured.

`says` is in the words of `measure`: a parsed message as `stop: blocks`, an exception by its class
with status and type, never by its text, which changes with versions.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from harness.core.scenario.scenario import Turn

How = Literal["stream", "raw", "plain", "retries"]

SAYS = Turn(
    blocks=(
        {"type": "text", "text": "ab"},
        {"type": "tool_use", "id": "toolu_1", "name": "t", "input": {"path": "/a/b"}},
    ),
    times="forever",
)
ONE_TEXT = Turn(say="ab", times="forever")
TWO_CALLS = Turn(
    blocks=(
        {"type": "tool_use", "id": "call_1", "name": "f", "input": {"a": 1}},
        {"type": "tool_use", "id": "call_2", "name": "g", "input": {"b": 2}},
    ),
    times="forever",
)


class Row(msgspec.Struct, frozen=True):
    """A fault in words, how it is made, and what it led to.

    `how` is the SDK's stream helper, raw iteration of a stream, or a plain answer. Where every
    request fails, it is the number of requests and the waits between them. `transports`
    leaves out one that lacks the fault, or would have to wait in real time.
    """

    what: str
    says: str
    kind: str = ""
    settings: dict[str, Any] = {}
    wire: str = "anthropic"
    how: How = "stream"
    turn: Turn = SAYS
    transports: tuple[Literal["in process", "loopback"], ...] = ("in process", "loopback")
    timeout_s: float = 600


IN_PROCESS: tuple[Literal["in process"]] = ("in process",)
