"""The model over the Responses API: what it sends for a query, and for each kind of message."""

from __future__ import annotations

import json
from typing import Any

import openai
from hypothesis import given

from harness.agent.models.model_call import Query
from harness.agent.models.openai_responses_model import OpenAIResponsesModel, write_items
from harness.core.values.messages import (
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    assistant,
    results,
    user,
)
from tests.agent.openai_responses_stand import QUERY, failing
from tests.http_library import openai_http as http
from tests.providers.openai_responses.strategies import histories
from tests.providers.openai_responses.world import body, reader


@given(histories())
def test_what_it_sends_is_taken_by_the_strictest_dialect(messages: list[Message]) -> None:
    items = [item for message in messages for item in write_items(message)]
    reading = reader("openai-responses").read(body(items))
    assert reading.violations == ()
    assert list(reading.messages) == messages


def test_items_of_all_kinds() -> None:
    image = {"source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    message = Message(
        "user", (Text("a"), Opaque("image", {"type": "image", **image}), Opaque("odd", {}))
    )
    assert list(write_items(message)) == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "a"},
                {"type": "input_image", "image_url": "data:image/png;base64,eA=="},
            ],
        }
    ]
    said = assistant(Thinking("unsigned"), Opaque("reasoning", reasoning))
    assert list(write_items(said)) == [reasoning]
    parts = (Text("a"), Opaque("image", {}))
    answered = results(ToolResult("c1", parts), ToolResult("c2", "no", is_error=True))
    assert [item["output"] for item in write_items(answered)] == ["a\n[image]", "no"]
    assert [item.get("status") for item in write_items(answered)] == [None, "incomplete"]


def test_withdrawn_tools_stay_listed_and_a_time_out_is_one_try() -> None:
    sent: list[dict[str, Any]] = []

    def answer(request: http.Request) -> http.Response:
        sent.append(json.loads(request.content))
        raise http.ReadTimeout("late", request=request)

    client = openai.OpenAI(
        api_key="key",
        base_url="http://fake.invalid/v1",
        http_client=http.Client(transport=http.MockTransport(answer)),
    )
    query = Query((user("go"),), QUERY.tools, tools_withdrawn=True, timeout_s=3)
    kind, _ = failing(lambda: OpenAIResponsesModel(client, True).query(query))
    assert kind == "transient"
    (request,) = sent
    assert (request["tool_choice"], len(request["tools"])) == ("none", 1)
    assert (request["store"], "stream" in request) == (False, False)
