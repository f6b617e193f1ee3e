"""How fast recordings are judged: read, paired, made a history, counted and put to all checks.

The recording is a session log of JSON Lines such as coding agents write: a message a line, tool
results of some twelve kilobytes, as real ones have, and around each what the program notes. The
measure beside it is decoding the same lines and nothing else, which no reader can do without.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from bench import cassettes
from bench.figure import Figure
from harness.checks.judge import judge
from harness.cli.judge_task import few_collections
from harness.recordings.exchange_sessions import sessions
from harness.recordings.recognition import read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history

ROUNDS = 300
RESULT_BYTES = 12_000
TURNS = 100
LINES_MOST, YAML_MOST = 4.0, 2.0


def recording(rounds: int = ROUNDS) -> bytes:
    """A session log of a given number of calls with their results."""
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


def cassette(turns: int = TURNS) -> bytes:
    """A VCR cassette of a run whose requests repeat the history."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.yaml"
        cassettes.write(path, [*cassettes.requests(turns)])
        return path.read_bytes()


def figures(rounds: int) -> Iterator[Figure]:
    """Judging as a ratio to the decoding that no reader can do without."""
    lines, archive = recording(), cassette()
    for name, data, bare, most in (
        ("JSON Lines, of decoding them", lines, _decode, LINES_MOST),
        ("a VCR cassette, of parsing it", archive, _parse, YAML_MOST),
    ):
        ratios, rates = [], []
        for _ in range(rounds):
            bare_s, our_s = _seconds(bare, data), _seconds(judged, data)
            ratios.append(our_s / bare_s)
            rates.append(len(data) / 1e6 / our_s)
        beside = f"{statistics.median(rates):.0f} MB/s"
        yield Figure(f"judging {name}", statistics.median(ratios), most, beside=beside)


def judged(data: bytes) -> None:
    """A recording read, counted and judged, as `judge` does it."""
    with few_collections():
        for transcript in sessions(read(data).transcripts):
            judge(to_history(transcript))
            counts(transcript)


def _decode(data: bytes) -> None:
    for line in data.splitlines():
        msgspec.json.decode(line)


def _parse(data: bytes) -> None:
    yaml.load(data, Loader=yaml.CSafeLoader)


def _seconds(work: Callable[[bytes], None], data: bytes) -> float:
    began_s = time.process_time()
    work(data)
    return time.process_time() - began_s
