"""A cassette of an agent that moves to its second provider: both are played, each by its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import Brief, InboxItem, Scenario, run
from harness.core.scenario.scenario import CassetteScript
from tests.cassettes.recorded import cassette, interaction, said

HI = [{"role": "user", "content": "hi"}]
CHAT = "https://api.openai.com/v1/chat/completions"
RESPONSES = "https://api.openai.com/v1/responses"
ASKED = {"model": "claude-x", "max_tokens": 100, "messages": HI}


def chat_said(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c1", "object": "chat.completion", "model": "gpt", "choices": [choice]}


def response_said(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    output = [{**item, "content": [part]}]
    return {"id": "resp_1", "object": "response", "status": "completed", "output": output}


TAPE = cassette(
    interaction(ASKED, said("from the first")),
    interaction({"model": "gpt", "messages": HI}, chat_said("from the second"), uri=CHAT),
    interaction({"model": "gpt-2", "messages": HI}, chat_said("again"), uri=CHAT),
    interaction({"model": "gpt", "input": HI}, response_said("from the third"), uri=RESPONSES),
)


def played(tmp_path: Path, asks: list[str]) -> tuple[list[str], Any]:
    """What an agent reads that asks these APIs in order, and the run."""
    (tmp_path / "tape.yaml").write_bytes(TAPE)
    read: list[str] = []

    def agent(brief: Brief) -> None:
        first, second = brief.anthropic(max_retries=0), brief.openai(max_retries=0)
        ways = {
            "first": lambda: first.messages.create(**ASKED).content[0].text,
            "chat": lambda: (
                second.chat.completions.create(model="gpt", messages=HI).choices[0].message.content
            ),
            "again": lambda: (
                second.chat.completions.create(model="gpt-2", messages=HI)
                .choices[0]
                .message.content
            ),
            "responses": lambda: second.responses.create(model="gpt", input=HI).output_text,
        }
        for _ in brief.inbox():
            read.extend(ways[name]() for name in asks)
            brief.send(read[-1])

    scenario = Scenario(
        name="moves",
        wire="anthropic",
        inbox=(InboxItem(text="hi"),),
        script=CassetteScript(cassette=str(tmp_path / "tape.yaml")),
    )
    return read, run(scenario, agent)


def test_each_provider_answers_from_its_own_calls(tmp_path: Path) -> None:
    read, done = played(tmp_path, ["first", "responses", "chat", "again"])
    assert read == ["from the first", "from the third", "from the second", "again"]
    assert [f.message for f in done.verdict.findings if f.code.startswith("cassette.")] == []


@pytest.mark.parametrize(
    ("asks", "codes"),
    [
        (["first"], []),
        (["first", "chat"], ["unplayed"]),
        (["first", "chat", "again"], []),
        (["first", "chat", "chat"], ["miss", "unplayed"]),
    ],
)
def test_an_answer_is_played_once_and_an_api_that_is_not_asked_owes_none(
    tmp_path: Path, asks: list[str], codes: list[str]
) -> None:
    _, done = played(tmp_path, asks)
    found = {f.code.split(".")[1] for f in done.verdict.findings if f.code.startswith("cassette.")}
    assert sorted(found) == codes
