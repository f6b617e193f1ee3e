"""An answer that the provider no longer holds: what an agent makes of the refusal is told apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import openai
import pytest

from harness.runner import run
from tests.scenarios.all_runs import named


class Talk:
    """A conversation. The agent sends what is new, and names the stored answer before it."""

    def __init__(self) -> None:
        self.whole: list[Any] = []
        self.new: list[Any] = []
        self.held: str | None = None

    def add(self, *items: Any) -> None:
        self.whole += items
        self.new += items


Recover = Callable[[Talk], None]


def send_the_whole(talk: Talk) -> None:
    talk.held, talk.new = None, [*talk.whole]


def send_the_new_alone(talk: Talk) -> None:
    talk.held = None


def send_the_same(talk: Talk) -> None:
    """Nothing is changed."""


def give_up(talk: Talk) -> None:
    raise openai.OpenAIError("the answer is gone")


def _agent(brief: Any, recover: Recover) -> None:
    client, talk = brief.openai(max_retries=0), Talk()
    for message in brief.inbox():
        talk.new = []
        talk.add({"role": "user", "content": message.text})
        try:
            brief.send(_answer(brief, client, talk, recover), in_reply_to=message.id)
        except openai.OpenAIError as error:
            brief.send(f"That failed: {error}", kind="error", in_reply_to=message.id)


def _answer(brief: Any, client: openai.OpenAI, talk: Talk, recover: Recover) -> str:
    [tool] = brief.tools
    while True:
        response = _asked(client, tool, talk, recover)
        talk.held, talk.new = response.id, []
        said = [item.model_dump(exclude_none=True, exclude={"status"}) for item in response.output]
        talk.whole += said
        calls = [item for item in said if item["type"] == "function_call"]
        if not calls:
            return str(response.output_text)
        for call in calls:
            output = tool.call(json.loads(call["arguments"]), id=call["call_id"])
            result = {"type": "function_call_output", "call_id": call["call_id"]}
            talk.add({**result, "output": output})


def _asked(client: openai.OpenAI, tool: Any, talk: Talk, recover: Recover) -> Any:
    declared = {"type": "function", "name": tool.name, "parameters": tool.input_schema}

    def ask() -> Any:
        named = {"previous_response_id": talk.held} if talk.held else {}
        return client.responses.create(
            model="m", input=talk.new, tools=[{**declared, "strict": False}], **named
        )

    try:
        return ask()
    except openai.BadRequestError as error:
        if error.code != "previous_response_not_found":
            raise
        recover(talk)
        return ask()


RUN = "stored-answer-expires@openai-responses"
BETWEEN = "stored-answer-expires/between-a-call-and-its-result@openai-responses"


@pytest.mark.parametrize(
    ("name", "recover", "found"),
    [
        (RUN, send_the_whole, None),
        (BETWEEN, send_the_whole, None),
        (RUN, send_the_new_alone, "history_faithful.forgotten_past"),
        (BETWEEN, send_the_new_alone, "valid_request.R1"),
        (RUN, send_the_same, "no_blind_resend.same_request"),
        (BETWEEN, send_the_same, "no_blind_resend.same_request"),
        (RUN, give_up, "no_blind_resend.same_content"),
    ],
)
def test_only_the_whole_conversation_recovers(
    name: str, recover: Recover, found: str | None
) -> None:
    done = run(named(name), partial(_agent, recover=recover))
    struck = [fault for event in done.history.events for fault in getattr(event, "faults", ())]
    assert {*struck} == {"http.previous_response_not_found"}
    codes = [finding.code for finding in done.verdict.findings]
    assert found in codes if found else not codes
