"""Which requests are equal to a recorded one although they are not the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cassettes.played import Played
from tests.cassettes.recorded import ASK, URI, interaction

TEXT = {"type": "text", "text": "ok"}


def test_yesterdays_system_prompt_is_todays() -> None:
    recorded = {**ASK, "system": "Today is 2026-11-21. Be kind."}
    played = Played(interaction(recorded), interaction({**recorded, "max_tokens": 5}))
    today = {**ASK, "system": "Today is 2026-11-22. Be kind."}
    assert played.ask(today)["content"][0]["text"] == "hello"
    assert "max_tokens differs: " in played.ask({**today, "max_tokens": 6})["error"]["message"]


def _marked(request: dict[str, Any]) -> dict[str, Any]:
    text = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    return {**request, "messages": [{"role": "user", "content": [text]}]}


@pytest.mark.parametrize(
    "change",
    [
        _marked,
        lambda request: {**request, "metadata": {"user_id": "somebody else"}},
        lambda request: dict(reversed(request.items())),
        lambda request: {**request, "stream": False},
    ],
)
def test_what_does_not_determine_the_answer_does_not_count(change: Any) -> None:
    recorded = {**ASK, "metadata": {"user_id": "me"}}
    played = Played(interaction(recorded))
    assert played.ask(change(recorded))["content"][0]["text"] == "hello"


@pytest.mark.parametrize(
    "uri", [f"{URI}?beta=true", "https://proxy.example.com/anthropic/v1/messages"]
)
def test_what_stands_around_the_endpoint_does_not_count(uri: str) -> None:
    assert Played(interaction(uri=uri)).ask()["content"][0]["text"] == "hello"


def test_a_live_key_matches_the_masked_one_of_the_recording() -> None:
    def request(key: str) -> dict[str, Any]:
        return {**ASK, "system": f"use {key}", "messages": [{"role": "user", "content": key}]}

    played = Played(interaction(request("[REDACTED]")))
    assert played.ask(request("sk-ant-" + "a" * 30))["content"][0]["text"] == "hello"


def _called(id: str, again: str = "") -> dict[str, Any]:
    use = {"type": "tool_use", "id": id, "name": "get", "input": {}}
    result = {"type": "tool_result", "tool_use_id": again or id, "content": "ok"}
    told = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return {**ASK, "messages": [*ASK["messages"], *told]}


def test_an_id_that_a_client_makes_anew_does_not_count() -> None:
    made = [f"call_{letter * 32}" for letter in "ab"]
    played = Played(interaction(_called(made[0])))
    assert played.ask(_called(made[1]))["content"][0]["text"] == "hello"


@pytest.mark.parametrize("id", ["toolu_b", f"call_{'b' * 31}", f"fn_{'b' * 32}"])
def test_any_other_id_does_count(id: str) -> None:
    played = Played(interaction(_called(f"call_{'a' * 32}")))
    assert f"id differs: sent '{id}'" in played.ask(_called(id))["error"]["message"]


def _answered(content: Any, **more: Any) -> dict[str, Any]:
    request = _called("toolu_a")
    request["messages"][-1]["content"][0] |= {"content": content, **more}
    return request


@pytest.mark.parametrize("forms", [("ok", [TEXT]), ([TEXT], "ok")])
def test_a_result_of_one_text_is_that_text(forms: tuple[Any, Any]) -> None:
    played = Played(interaction(_answered(forms[0])))
    assert played.ask(_answered(forms[1]))["content"][0]["text"] == "hello"


@pytest.mark.parametrize(
    "other",
    [
        _answered([{"type": "text", "text": "okay"}]),
        _answered([TEXT, TEXT]),
        _answered([TEXT], is_error=True),
    ],
)
def test_a_result_that_says_something_else_does_count(other: dict[str, Any]) -> None:
    played = Played(interaction(_answered("ok")))
    assert "messages[2].content[0]" in played.ask(other)["error"]["message"]
