"""What the official client sends in ordinary use is refused by no rule of today's API."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.scenario.scenario import Turn
from tests.providers.anthropic.bodies import MARK, png
from tests.providers.anthropic.world import called, in_process, run

TEXT = {"type": "text", "text": "hi"}
TOOL = {"name": "look", "description": "d", "input_schema": {"type": "object", "properties": {}}}

USUAL: dict[str, dict[str, Any]] = {
    "plain": {},
    "string system": {"system": "s"},
    "cached": {
        "system": [{**TEXT, **MARK}],
        "tools": [{**TOOL, **MARK}],
        "messages": [{"role": "user", "content": [{**TEXT, **MARK}]}],
    },
    "cached by the request": {"cache_control": {"type": "ephemeral"}},
    "image": {"messages": [{"role": "user", "content": [png(100), TEXT]}]},
    "image by address": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "image",
                        "source": {"type": "url", "url": "https://pictures.org/a.png"},
                    }
                ],
            }
        ]
    },
    "document": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "a"},
                        "citations": {"enabled": True},
                    }
                ],
            }
        ]
    },
    "adaptive thinking": {"thinking": {"type": "adaptive"}},
    "manual thinking of an older model": {
        "model": "claude-sonnet-4-5-20250929",
        "max_tokens": 2000,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    },
    "the provider's own tools": {
        "tools": [
            TOOL,
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
            {"type": "bash_20250124", "name": "bash"},
        ]
    },
    "a toolset without a name": {"tools": [{"type": "computer_toolset_20260801"}]},
    "forced tool": {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "look"}},
    "metadata": {"metadata": {"user_id": "u"}, "stop_sequences": ["END"]},
    "warm the cache": {"max_tokens": 0},
    "system message": {
        "messages": [{"role": "user", "content": "a"}, {"role": "system", "content": "s"}]
    },
}


@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")
@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("beta", [False, True])
def test_a_usual_request_is_answered(name: str, beta: bool) -> None:
    usual = {"model": "claude-opus-5-5", "max_tokens": 100, "messages": [
        {"role": "user", "content": "hi"}
    ]}  # fmt: skip
    transition = run(Turn(say="a"))
    with in_process(transition) as client:
        api = client.beta.messages if beta else client.messages
        assert api.create(**{**usual, **USUAL[name]}).content[0].text == "a"
    assert called(transition)[0].refused == ()


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_may_be_sent_back_as_the_client_holds_it(stream: bool) -> None:
    transition = run(
        Turn(think="Hm.", say="I look.", use="look", input={}), Turn(think="So.", say="Done.")
    )
    ask: dict[str, Any] = {"model": "claude-opus-5-5", "max_tokens": 100, "tools": [TOOL]}
    messages: list[Any] = [{"role": "user", "content": "go"}]
    with in_process(transition) as client:
        for _ in range(2):
            if stream:
                with client.messages.stream(messages=messages, **ask) as events:
                    message = events.get_final_message()
            else:
                message = client.messages.create(messages=messages, **ask)
            calls = [block for block in message.content if block.type == "tool_use"]
            answers = [
                {"type": "tool_result", "tool_use_id": call.id, "content": "ok"} for call in calls
            ]
            messages += [
                {"role": "assistant", "content": message.content},
                {"role": "user", "content": answers or "thanks"},
            ]
    assert [event.refused for event in called(transition)] == [(), ()]
