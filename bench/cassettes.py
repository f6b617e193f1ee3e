"""What a strict replay costs, beside vcrpy: `python -m bench.cassettes`.

One agent run of 300 turns is 20 MB of YAML, because every request repeats the history. All sides
answer the same requests of the same bare client in recorded order, in one process, loading
included. What counts is the ratio of the times: to vcrpy's from the same file, and to the parsing
of that file by PyYAML's loader in C. The growth says how much longer a call takes in the last tenth
of the run than in the first: most of it is the client's, whose requests grow. A cassette of many
small calls is loaded first. It is played beside a door that answers them from memory, so what is
left is the index's.
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

from bench.figure import Figure
from harness.cassettes.cassette_player import cassette_script
from harness.clock import RealClock
from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.scenario.scenario import Limits, Scenario
from harness.core.transition.ports import Script
from harness.core.transition.transition import Transition
from harness.core.values.calls import Call
from harness.core.values.plans import Recorded
from harness.providers.anthropic.provider import AnthropicProvider
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport

TURNS, RATIO_MOST, GROWTH_MOST = 300, 0.05, 3.0
YAML_MOST = 2.0
"""Times the parsing of the YAML."""

CALLS, DOOR_MOST = 20_000, 3.0
"""Small calls, and how many times a door's own cost one of them takes."""

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
    return by_script(cassette_script(path, "anthropic"), bodies)


def by_script(script: Script, bodies: list[bytes]) -> list[float]:
    """The calls through a door, answered by a script."""
    scenario = Scenario(name="bench", limits=Limits.unreached())
    transition = Transition(scenario, AnthropicProvider(), script, History())
    transport: Any = HttpxTransport(Dispatcher(transition, RealClock()))
    with httpx2.Client(transport=transport) as client:
        took = ask(client, bodies)
    assert not list(transition.script.unplayed(transition.history.past))
    return took


class InOrder:
    """A script that answers any request from memory."""

    recorded = True

    def reply(self, call: Call, past: Past) -> tuple[Recorded, int]:
        """The answer of the call's number."""
        return Recorded(200, JSON, answer(call.n - 1).encode()), call.n - 1

    def unplayed(self, past: Past) -> Iterator[str]:
        """Nothing is owed."""
        return iter(())


def by_parser(path: Path, bodies: list[bytes]) -> list[float]:
    """The file parsed, and nothing else."""
    yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    return []


def small_calls(count: int) -> list[bytes]:
    """Calls that have nothing to do with each other."""
    return [
        msgspec.json.encode(
            {
                "max_tokens": 1000,
                "messages": [{"role": "user", "content": f"{n}: {RESULT}"}],
                "model": "m",
            }
        )
        for n in range(count)
    ]


def timed(play: Any, source: Path | Script, bodies: list[bytes]) -> tuple[float, list[float]]:
    """The time of a replay in seconds, with the loading of a path, and that of each call."""
    gc.collect()
    start = time.perf_counter()
    took = play(source, bodies)
    return time.perf_counter() - start, took


def whole_run(turns: int) -> Iterator[Figure]:
    """What the run costs."""
    bodies = list(requests(turns))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.yaml"
        write(path, bodies)
        parsed_s = min(timed(by_parser, path, bodies)[0] for _ in range(3))
        ours_s, took = min(timed(by_us, path, bodies) for _ in range(3))
        theirs_s, _ = timed(by_vcrpy, path, bodies)
    name = f"strict replay of {turns} turns"
    yield Figure(f"{name}, of vcrpy", ours_s / theirs_s, RATIO_MOST, beside=f"of {theirs_s:.1f} s")
    parser = f"of {parsed_s:.2f} s"
    yield Figure(f"{name}, of parsing its YAML", ours_s / parsed_s, YAML_MOST, beside=parser)
    yield Figure(f"{name}, last tenth of the first", _growth(took), GROWTH_MOST)


def many_calls(count: int) -> Iterator[Figure]:
    """What a small call of a large cassette costs."""
    bodies = small_calls(count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.yaml"
        write(path, bodies)
        script = cassette_script(path, "anthropic")
    ours_s, took = timed(by_script, script, bodies)
    door_s, _ = timed(by_script, InOrder(), bodies)
    name = f"replay of {count:,} small calls"
    yield Figure(f"{name}, of the door's own", ours_s / door_s, DOOR_MOST, beside=f"{door_s:.1f} s")
    yield Figure(f"{name}, last tenth of the first", _growth(took), GROWTH_MOST)


def _growth(took: list[float]) -> float:
    """The time of the last tenth of the calls as a ratio of the first tenth's."""
    tenth = max(1, len(took) // 10)
    return sum(took[-tenth:]) / sum(took[:tenth])


def figures(rounds: int, turns: int = TURNS, calls: int = CALLS) -> Iterator[Figure]:
    """Both cassettes; each side takes the quickest of its own rounds."""
    yield from whole_run(turns)
    yield from many_calls(calls)


def main() -> int:
    """Print every figure; 1 when one is over its bound."""
    found = list(figures(1, *map(int, sys.argv[1:])))
    for figure in found:
        print(figure, flush=True)
    return int(any(figure.is_over for figure in found))


if __name__ == "__main__":
    sys.exit(main())
