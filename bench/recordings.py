"""How fast recordings are judged: read, paired, made a history, counted and put to all checks.

The recording is a session log of JSON Lines such as coding agents write. Its shape is that of 22
published logs of 10 MB. Each result stands there twice, and most lines are notes on progress. An
entry has some 500 bytes around its message, and 21 bytes of 1,000 begin an escape. The measure
beside it is decoding the same lines and nothing else, which no reader can do without.
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

ROUNDS = 800
RESULT_LINES = 40
TURNS = 100
LINES_MOST, YAML_MOST = 4.0, 1.8

_RESULT_LINE = """    return self.name == "a name" and value in self.values  # line of a file\n"""
_AROUND = {
    "parentUuid": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
    "sessionId": "00112233-4455-6677-8899-aabbccddeeff",
    "cwd": "/home/user/projects/the-name-of-a-project",
    "timestamp": "2026-01-02T03:04:05.678Z",
    "isSidechain": False,
    "userType": "external",
    "version": "2.1.0",
    "gitBranch": "main",
    "slug": "three-words-of-a-session",
}


def recording(rounds: int = ROUNDS) -> bytes:
    """A session log of a given number of calls with their results."""
    lines = [_line("user", 0, message={"role": "user", "content": "Find out why it fails."})]
    for n in range(1, rounds + 1):
        use = {"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {"path": f"src/{n}.py"}}
        text = {"type": "text", "text": f"I look at file {n}."}
        said = {"role": "assistant", "id": f"m{n}", "content": [text, use]}
        lines.append(_line("assistant", n, message=said))
        lines += (_line("progress", n, data={"type": "hook", "n": at}) for at in range(4))
        content = f"{n}:\n{_RESULT_LINE * RESULT_LINES}"
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": content}
        came = {"role": "user", "content": [result]}
        lines.append(_line("user", n, message=came, toolUseResult={"stdout": content}))
    return b"\n".join(lines) + b"\n"


def _line(kind: str, n: int, **parts: Any) -> bytes:
    return msgspec.json.encode({"type": kind, "uuid": f"{kind}-{n}", **_AROUND, **parts})


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
