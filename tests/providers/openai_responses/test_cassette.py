"""Recorded sessions on this wire are played to the agent that they were recorded with."""

from __future__ import annotations

import json
from pathlib import PurePath

import pytest

from harness.cassettes.cassette_player import CassettePlayer
from harness.cassettes.request_index import CassetteIndex
from harness.clock import RealClock
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.core.transition.transition import Transition
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief
from tests.cassettes.recorded import cassette, interaction
from tests.http_library import openai_http as http
from tests.providers.openai_responses.agents import STYLES, TOOLS, play, transition
from tests.providers.openai_responses.test_sdk import MET, TURNS, brief
from tests.providers.openai_responses.world import WIRE
from tests.recordings.imports import exchanges_in

URI = "https://api.openai.com/v1/responses"


def recorded(style: str, keeps: bool) -> bytes:
    """A cassette of the small agent."""
    made = []

    def noted(response: http.Response) -> None:
        answer = response.read().decode()
        headers = {"content-type": [response.headers["content-type"]]}
        request = json.loads(response.request.content)
        made.append(interaction(request, answer, uri=URI, headers=headers))

    given = brief(transition(*TURNS, stream=style != "plain"))
    hooks = {"response": [noted]}
    client = http.Client(transport=given.transport, event_hooks=hooks)
    assert play(given.openai(http_client=client), style, keeps) == MET
    return cassette(*made)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("keeps", [False, True])
def test_a_recorded_session_is_played_again(style: str, keeps: bool) -> None:
    player = CassettePlayer(CassetteIndex(exchanges_in(recorded(style, keeps))))
    scenario = Scenario(name="played", wire="openai-responses", tools=TOOLS)
    history = History()
    run = Transition(scenario, WIRE, player, history)
    given = InProcessBrief(Dispatcher(run, RealClock()), PurePath())
    assert play(given.openai(max_retries=0), style, keeps) == MET
    assert list(player.unplayed(history.past)) == []
