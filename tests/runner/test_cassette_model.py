"""A cassette behind a URL: a recording may be longer than a turn of an agent."""

from __future__ import annotations

import json
from pathlib import Path

from harness.core.scenario.scenario import Limits
from harness.runner.cassette_model import playing
from tests.cassettes.recorded import ASK, cassette, interaction, said
from tests.http_library import http

MORE_THAN_A_TURN = Limits().turn_calls + 5


def test_a_recording_of_more_calls_than_a_turn_of_a_scenario_is_played(tmp_path: Path) -> None:
    bodies = [
        {**ASK, "messages": [{"role": "user", "content": f"question {n}"}]}
        for n in range(MORE_THAN_A_TURN)
    ]
    path = tmp_path / "long.yaml"
    path.write_bytes(cassette(*(interaction(body, said("Yes.")) for body in bodies)))
    with playing(path) as url, http.Client() as client:
        for body in bodies:
            answer = client.post(f"{url}/v1/messages", content=json.dumps(body))
            assert answer.json()["content"][0]["text"] == "Yes.", answer.text
