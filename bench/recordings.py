"""How fast recordings are judged: read, paired, made a history, counted and put to all checks.

The recording is a session log of JSON Lines such as coding agents write: a message a line, tool
results of some twelve kilobytes, as real ones have, and around each what the program notes. The
measure beside it is decoding the same lines and nothing else, which no reader can do without.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from bench.figure import Figure
from harness.checks.judge import judge
from harness.recordings.recognition import read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history

ROUNDS = 300
RESULT_BYTES = 12_000
LEAST_MB_S = 40


def recording(rounds: int = ROUNDS) -> bytes:
    """A session log of so many calls with their results."""
    lines = [_line("user", 0, {"role": "user", "content": "Find out why it fails."})]
    for n in range(1, rounds + 1):
        use = {"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {"path": f"src/{n}.py"}}
        text = {"type": "text", "text": f"I look at file {n}."}
        lines.append(_line("assistant", n, {"id": f"m{n}", "content": [text, use]}))
        content = f"{n}: line of a file\n" * (RESULT_BYTES // 20)
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": content}
        lines.append(_line("user", n, {"role": "user", "content": [result]}))
    return b"\n".join(lines) + b"\n"


def _line(kind: str, n: int, message: dict[str, Any]) -> bytes:
    around = {"type": kind, "uuid": f"{kind}-{n}", "sessionId": "s", "cwd": "/home/user/project"}
    return msgspec.json.encode({**around, "message": {"role": kind, **message}})


def figures(rounds: int) -> Iterator[Figure]:
    """The time for a megabyte, and its ratio to decoding the lines."""
    data = recording()
    size_mb = len(data) / 1e6
    judged_s = min(_seconds(_judge, data) for _ in range(rounds))
    decoded_s = min(_seconds(_decode, data) for _ in range(rounds))
    ratio = f"{judged_s / decoded_s:.1f}x decoding"
    yield Figure(
        f"judging JSON Lines, {size_mb:.1f} MB ({size_mb / judged_s:.0f} MB/s), a MB",
        judged_s / size_mb * 1000,
        1000 / LEAST_MB_S,
        unit="ms",
        beside=ratio,
    )


def _judge(data: bytes) -> None:
    for transcript in read(data).transcripts:
        judge(to_history(transcript))
        counts(transcript)


def _decode(data: bytes) -> None:
    for line in data.splitlines():
        msgspec.json.decode(line)


def _seconds(work: Callable[[bytes], None], data: bytes) -> float:
    began = time.perf_counter()
    work(data)
    return time.perf_counter() - began
