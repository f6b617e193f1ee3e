"""What a strict replay costs, beside vcrpy: `python -m bench.cassettes`.

One agent run of 300 turns is 22 MB of YAML, because every request repeats the history. Both sides
load the same file and answer the same requests of the same bare client in recorded order, in one
process; what counts is the ratio of the times, loading included. The growth says how much longer a
call takes in the last tenth of the run than in the first: most of it is the client's, whose
requests grow.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import vcr  # type: ignore[import-untyped]
import yaml

from harness.cassettes.replay import cassette_script
from harness.clock import RealClock
from harness.core.history import History
from harness.core.scenario import Limits, Scenario
from harness.core.transition import Transition
from harness.doors.door import Door
from harness.doors.transport import Transport
from harness.wires.anthropic.wire import AnthropicWire

TURNS, RATIO_MOST, GROWTH_MOST = 300, 0.05, 3.0
URL = "https://api.anthropic.com/v1/messages"
RESULT = "The quick brown fox jumps over the lazy dog. " * 5
JSON = {"content-type": "application/json"}


def requests(turns: int) -> Iterator[bytes]:
    """The requests of a run in which each turn reads a file."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "read them all"}]
    for n in range(turns):
        yield msgspec.json.encode({"max_tokens": 1000, "messages": messages, "model": "m"})
        use = {"type": "tool_use", "id": f"toolu_{n}", "name": "read", "input": {"path": f"{n}"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": f"{n}: {RESULT}"}
        messages = [
            *messages,
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ]


def answer(n: int) -> str:
    """The answer to the request of turn `n`."""
    use = {"type": "tool_use", "id": f"toolu_{n}", "name": "read", "input": {"path": f"{n}"}}
    message = {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": "m"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return msgspec.json.encode(
        {**message, "content": [use], "stop_reason": "tool_use", "usage": usage}
    ).decode()


def write(path: Path, bodies: list[bytes]) -> None:
    """Write the cassette of a run, as vcrpy does."""
    headers = {name: [value] for name, value in JSON.items()}
    interactions = [
        {
            "request": {"method": "POST", "uri": URL, "body": body.decode(), "headers": headers},
            "response": {
                "status": {"code": 200, "message": "OK"},
                "headers": headers,
                "body": {"string": answer(n)},
            },
        }
        for n, body in enumerate(bodies)
    ]
    with path.open("w") as file:
        yaml.dump({"version": 1, "interactions": interactions}, file, Dumper=yaml.CDumper)


def ask(client: httpx2.Client, bodies: list[bytes]) -> list[float]:
    """Send the requests; how long each took, in seconds."""
    took = []
    for n, body in enumerate(bodies):
        start = time.perf_counter()
        response = client.post(URL, content=body, headers=JSON)
        took.append(time.perf_counter() - start)
        assert response.text == answer(n), response.text
    return took


def by_vcrpy(path: Path, bodies: list[bytes]) -> list[float]:
    """The replay by vcrpy with the cheapest of its matchers that is strict; `body` takes longer."""
    player = vcr.VCR(record_mode="none", match_on=("method", "uri", "raw_body"))
    with player.use_cassette(str(path)), httpx2.Client() as client:
        return ask(client, bodies)


def by_us(path: Path, bodies: list[bytes]) -> list[float]:
    """The replay through our in-process door, history included."""
    scenario = Scenario(name="bench", limits=Limits(model_calls=1 << 40))
    transition = Transition(scenario, AnthropicWire(), cassette_script(path), History())
    transport: Any = Transport(Door(transition, RealClock()))
    with httpx2.Client(transport=transport) as client:
        took = ask(client, bodies)
    assert not list(transition.script.unplayed(transition.history.past))
    return took


def timed(play: Any, path: Path, bodies: list[bytes]) -> tuple[float, list[float]]:
    """The time of a replay in seconds, loading included, and that of each call."""
    gc.collect()
    start = time.perf_counter()
    took = play(path, bodies)
    return time.perf_counter() - start, took


def main(turns: int = TURNS) -> int:
    """Print the ratio and the growth; 1 when one is over its bound."""
    bodies = list(requests(turns))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.yaml"
        write(path, bodies)
        size_mb = path.stat().st_size / 1e6
        ours_s, took = timed(by_us, path, bodies)
        theirs_s, _ = timed(by_vcrpy, path, bodies)
    tenth = max(1, turns // 10)
    ratio, growth = ours_s / theirs_s, sum(took[-tenth:]) / sum(took[:tenth])
    print(f"cassette of {turns} turns, {size_mb:.1f} MB, strict: {ours_s:.2f} s, vcrpy", end=" ")
    print(f"{theirs_s:.2f} s, ratio {ratio:.3f} (<= {RATIO_MOST})")
    print(f"a call: {1000 * sum(took) / turns:.2f} ms, growth {growth:.2f} (<= {GROWTH_MOST})")
    return int(ratio > RATIO_MOST or growth > GROWTH_MOST)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
