"""The official client meets this wire through both transports, in each of its ways of asking."""

from __future__ import annotations

import asyncio
from pathlib import PurePath
from typing import Any

import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.clock import RealClock
from harness.core.history.events import Called
from harness.core.history.history import canonical
from harness.core.scenario.scenario import Turn
from harness.core.transition.transition import Transition
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief
from harness.transports.loopback import Loopback
from harness.transports.sdk_clients import sdk_client
from tests.providers.openai_responses.agents import STYLES, ask, play, play_async, transition

LOOK = Turn(think="Where?", say="I look.", use="look", input={"at": "naïve 🙂"})
TURNS = (LOOK, Turn(use="look", input={}), Turn(say="All is " + "well. " * 30))
STYLE = pytest.mark.parametrize("style", STYLES)
KEEPS = pytest.mark.parametrize("keeps", [False, True])
MET = [
    "completed None ['reasoning', 'message', 'function_call'] I look.",
    "completed None ['function_call'] ",
    f"completed None ['message'] {'All is ' + 'well. ' * 30}",
]


def brief(run: Transition) -> InProcessBrief:
    """The brief of an in-process run."""
    return InProcessBrief(Dispatcher(run, RealClock()), PurePath())


def through_loopback(run: Transition, style: str, keeps: bool) -> list[str]:
    """The agent on a socket."""
    with Loopback(run, RealClock()) as server:
        where = {"base_url": f"{server.urls.model}/v1", "max_retries": 0}
        return play(sdk_client("openai", None, asynchronous=False, **where), style, keeps)


@STYLE
@KEEPS
def test_an_agent_with_tools_plays_to_its_end(style: str, keeps: bool) -> None:
    run = transition(*TURNS, stream=style != "plain")
    assert play(brief(run).openai(max_retries=0), style, keeps) == MET
    calls = [event for event in run.history.events if isinstance(event, Called)]
    assert [event.refused for event in calls] == [()] * 3


@STYLE
@KEEPS
def test_the_same_asynchronously(style: str, keeps: bool) -> None:
    run = transition(*TURNS, stream=style != "plain")
    client = brief(run).async_openai(max_retries=0)
    assert asyncio.run(play_async(client, style, keeps)) == MET


turns = st.one_of(
    st.builds(lambda text: Turn(say=text), st.sampled_from(["a", "naïve", "x" * 200])),
    st.builds(lambda at: Turn(use="look", input={"at": at}), st.integers(0, 3)),
    st.just(LOOK),
    st.sampled_from(["max_tokens", "refusal", "failed", "made_up"]).map(
        lambda stop: Turn(say="half", stop=stop)
    ),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(turns, max_size=4), st.sampled_from(STYLES), st.booleans())
def test_both_transports_write_one_history(script: list[Turn], style: str, keeps: bool) -> None:
    inner, outer = (transition(*script, stream=style != "plain") for _ in range(2))
    inside = play(brief(inner).openai(max_retries=0), style, keeps)
    assert through_loopback(outer, style, keeps) == inside
    assert canonical(inner.history) == canonical(outer.history)


def test_full_history_and_the_servers_are_one_conversation() -> None:
    noted = []
    for keeps in (False, True):
        run = transition(*TURNS)
        play(brief(run).openai(), "plain", keeps)
        noted.append([*run.history.messages])
    assert noted[0] == noted[1]


def test_the_helper_puts_together_what_was_said() -> None:
    run = transition(LOOK, stream=True)
    settings_ = {"model": "m", "input": "go", "tools": [{"type": "function", "name": "look"}]}
    plain = ask(brief(transition(LOOK)).openai(), "plain", dict(settings_))
    streamed = ask(brief(run).openai(), "helper", dict(settings_))
    told = [item.to_dict() for item in plain.output]
    again = [item.to_dict() for item in streamed.output]
    for item in again:
        item.pop("parsed_arguments", None)
        for part in item.get("content", ()):
            part.pop("parsed", None)
    assert again == told
    assert (streamed.id, streamed.usage) == (plain.id, plain.usage)


def test_the_helper_knows_no_response_that_was_incomplete_or_failed() -> None:
    for stop in ("max_tokens", "failed"):
        client = brief(transition(Turn(say="half", stop=stop), stream=True)).openai()
        assert play(client, "helper", False) == [
            "RuntimeError: Didn't receive a `response.completed` event."
        ]


def test_refusals_are_the_clients_own_exceptions() -> None:
    client: Any = brief(transition(*TURNS)).openai(max_retries=0)
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="m", input="go", previous_response_id="resp_x")
    error = caught.value
    assert (error.code, error.param) == ("previous_response_not_found", "previous_response_id")
    assert (error.request_id or "").startswith("req_")
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model="m", input=[{"type": "item_reference", "id": "msg_x"}])
