"""A query to the model over the Responses API, and a provider that answers it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import openai
import pytest

from harness.agent.models.failures import FailureKind, ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.models.openai_responses_model import OpenAIResponsesModel
from harness.clock import RealClock
from harness.core.scenario.scenario import Turn
from harness.core.values.messages import Text, Thinking, ToolSpec, ToolUse, user
from harness.core.values.plans import Reply
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief
from tests.http_library import openai_http as http
from tests.providers.openai_responses.agents import transition

QUERY = Query((user("go"),), (ToolSpec("look", "Looks"),))
STREAMS = pytest.mark.parametrize("stream", [False, True])
SAID = Reply((Thinking("why", "gAAAAA1"), Text("I look."), ToolUse("c1", "look", {"a": 1})))
WHOLE = Reply(SAID.blocks, "tool_use")


def asked(stream: bool, *turns: Turn, **fields: Any) -> tuple[ModelAnswer, list[str]]:
    """The answer to the query from a scripted provider, and what was shown."""
    run = transition(*turns, stream=stream, **fields)
    client = InProcessBrief(Dispatcher(run, RealClock()), PurePath()).openai(max_retries=0)
    shown: list[str] = []
    answer = OpenAIResponsesModel(client, stream).query(QUERY, shown.append)
    assert [e.refused for e in run.history.events if hasattr(e, "refused")] == [()]
    return answer, shown


def answered(
    data: bytes, kind: str, status: int = 200, query: Query = QUERY
) -> Callable[[], ModelAnswer]:
    """Asking a provider that answers with these bytes."""

    def answer(request: http.Request) -> http.Response:
        return http.Response(status, headers={"content-type": kind}, content=data)

    client = openai.OpenAI(
        api_key="key",
        base_url="http://fake.invalid/v1",
        max_retries=0,
        http_client=http.Client(transport=http.MockTransport(answer)),
    )
    stream = "event-stream" in kind
    return lambda: OpenAIResponsesModel(client, stream).query(query)


def failing(ask: Callable[[], ModelAnswer]) -> tuple[FailureKind, str]:
    """The kind and text of the failure that comes."""
    with pytest.raises(ModelFailure) as caught:
        ask()
    return caught.value.kind, caught.value.text
