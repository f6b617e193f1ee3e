"""Recorded calls of other hosts: played as they are, told apart from models of other makers."""

from __future__ import annotations

import json
from typing import Any

from harness.cassettes.cassette_player import CassettePlayer
from harness.cassettes.request_index import CassetteIndex
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.core.transition.transition import Transition
from harness.core.values.calls import Received
from harness.core.values.plans import Head, Plan, Send
from harness.providers import by_name
from harness.providers.shared.event_stream import (
    CONTENT_TYPE,
    as_sse,
    event_frame,
    exception_frame,
)
from harness.recordings.recognition import read
from harness.redaction.masking import mask_body
from tests.cassettes.played import encoded
from tests.cassettes.recorded import cassette, interaction
from tests.recordings.cassettes import ANTHROPIC_EVENTS
from tests.recordings.imports import exchanges_in

PATH = "/model/us.anthropic.claude-x-v1%3A0/invoke-with-response-stream"
HOME = "https://bedrock-runtime.us-east-1.amazonaws.com"
ASKED: dict[str, Any] = {
    "anthropic_version": "bedrock-2023-05-31",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
}
FRAMES = b"".join(event_frame(json.dumps(event).encode()) for event in ANTHROPIC_EVENTS)
FRAMED = {"content-type": [CONTENT_TYPE]}
CALL = interaction(ASKED, FRAMES, uri=HOME + PATH, headers=FRAMED)
NOVA = interaction({"messages": [{"role": "user"}]}, {}, uri=f"{HOME}/model/amazon.nova/invoke")


def _answers(
    *paths: str, held: tuple[dict[str, Any], ...] = (NOVA, CALL)
) -> tuple[History, list[tuple[Head, bytes]]]:
    script = CassettePlayer(CassetteIndex(exchanges_in(cassette(*held))))
    run = Transition(Scenario(name="hosted"), by_name("anthropic"), script, History())
    plans = [run.model(Received(path, {}, encoded(ASKED), 0)) for path in paths]
    return run.history, list(map(_sent, plans))


def _sent(plan: Plan) -> tuple[Head, bytes]:
    sent = [step for step in plan if isinstance(step, Send)]
    assert sent[0].head is not None
    return sent[0].head, b"".join(step.data for step in sent)


def test_frames_are_played_as_they_were_and_read_for_the_history() -> None:
    plain = PATH.replace("%3A", ":")
    history, ((head, body), (missed, why)) = _answers(plain, plain)
    assert (head.status, head.headers["content-type"], body) == (200, CONTENT_TYPE, FRAMES)
    answered = [event for event in history.events if hasattr(event, "stop")]
    assert [event.stop for event in answered] == ["tool_use", None]
    assert (missed.status, list(json.loads(why))) == (400, ["message"])


def test_another_model_of_the_address_is_another_request() -> None:
    _, ((head, why),) = _answers(PATH.replace("claude-x", "claude-y"))
    assert head.status == 400
    assert b"model differs: sent 'us.anthropic.claude-y-v1:0'" in why


def test_a_model_of_another_maker_is_no_call_of_this_api() -> None:
    assert [one.number for one in exchanges_in(cassette(NOVA, CALL))] == [2]
    recording = read(cassette(NOVA, CALL), "x.yaml")
    assert [refusal.place for refusal in recording.refusals] == ["interaction 1"]
    assert "another maker" in recording.refusals[0].reason
    (found,) = recording.transcripts
    assert (found.model, found.stream, found.answered) == ("us.anthropic.claude-x-v1:0", True, True)


def test_a_key_within_frames_is_masked_and_nothing_else_is_touched() -> None:
    assert mask_body(FRAMES, CONTENT_TYPE) == FRAMES
    key = "sk-ant-api03-" + "aB3dE5fG7h" * 4
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}}
        for part in (key[:20], key[20:])
    ]
    body = b"".join(event_frame(json.dumps(delta).encode()) for delta in deltas)
    masked = mask_body(body + exception_frame("throttlingException", "later"), CONTENT_TYPE)
    text = as_sse(masked).decode()
    assert "[REDACTED]" in text
    assert "dE5fG7h" not in text
    assert "throttlingException" in text
    assert "later" in text


def test_a_recorded_error_is_played_in_its_own_words() -> None:
    path = "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:rawPredict"
    error = {"type": "error", "error": {"type": "rate_limit_error", "message": "later"}}
    call = interaction(ASKED, error, uri=f"https://aiplatform.googleapis.com{path}", status=429)
    ((head, body),) = _answers(path, held=(call,))[1]
    assert (head.status, json.loads(body)) == (429, error)
