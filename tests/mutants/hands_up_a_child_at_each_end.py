"""A child in the background is handed up at each event that ends its answer."""

from __future__ import annotations

from typing import Any

from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="background",
    statement="The end event of a child comes twice, and so does its result (openclaw #125797)",
    scenario="child-that-ends-twice+stream",
    killed_by="child_result.doubled",
)

TASK = {
    "name": "task",
    "description": "Start a helper in the background.",
    "input_schema": {"type": "object", "properties": {"prompt": {}, "background": {}}},
}
MODEL = {"model": "claude-sonnet-5", "max_tokens": 500}


def _notes(brief: Brief, prompt: str, number: int, once: bool) -> list[str]:
    """What a child hands up: its text, `once` or at each event that ends an answer."""
    asked = [{"role": "user", "content": prompt}]
    client, text, notes = brief.child(f"child{number}").anthropic(), "", []
    with client.messages.create(messages=asked, stream=True, **MODEL) as stream:
        for event in stream:
            if event.type == "content_block_delta":
                text += event.delta.text
            elif event.type == "message_stop":
                notes.append(f"[child {number} has ended] {text}")
    return notes[:1] if once else notes


def _serve(brief: Brief, once: bool) -> None:
    client, history, notes = brief.anthropic(), list[Any](), list[str]()
    for message in brief.inbox():
        history.append({"role": "user", "content": "\n\n".join([*notes, message.text])})
        notes = []
        while True:
            reply = client.messages.create(messages=history, tools=[TASK], **MODEL)
            said = [block.model_dump(exclude_none=True) for block in reply.content]
            history.append({"role": "assistant", "content": said})
            results = []
            for call in (block for block in reply.content if block.type == "tool_use"):
                notes += _notes(brief, call.input["prompt"], len(history), once)
                begun = {"type": "tool_result", "tool_use_id": call.id, "content": "It has begun."}
                results.append(begun)
            if not results:
                break
            history.append({"role": "user", "content": results})
        brief.send(reply.content[-1].text, in_reply_to=message.id)


def look_alike(brief: Brief) -> None:
    """A parent that takes the first end of a child alone."""
    _serve(brief, once=True)


def agent(brief: Brief) -> None:
    """A parent that takes each."""
    _serve(brief, once=False)
