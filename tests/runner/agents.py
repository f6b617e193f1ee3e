"""Small agents that end in every way there is."""

from __future__ import annotations

import sys
from typing import Any

from harness.core.values.messages import Json


def greet(brief: Any) -> None:
    """Answer each message with what the model says."""
    client = brief.anthropic()
    for message in brief.inbox():
        said = ask(client, message.text)
        brief.send(said.content[0].text)


async def greet_async(brief: Any) -> None:
    """The same with the asynchronous client, and a pause of a minute."""
    import asyncio

    client = brief.async_anthropic()
    for message in brief.inbox():
        await asyncio.sleep(60)
        request: list[Json] = [{"role": "user", "content": message.text}]
        said = await client.messages.create(model="m", max_tokens=64, messages=request)
        brief.send(said.content[0].text)


def ask(client: Any, text: str) -> Any:
    """One request."""
    request = [{"role": "user", "content": text}]
    return client.messages.create(model="m", max_tokens=64, messages=request)


def crash(brief: Any) -> None:
    """Call the model, then raise."""
    ask(brief.anthropic(), "hello")
    raise ValueError("the disk is on fire")


def leave(brief: Any) -> None:
    """End the process with a status."""
    sys.exit(3)


def never_calls(brief: Any) -> None:
    """Answer out of its own head."""
    for message in brief.inbox():
        brief.send(f"You said {message.text}")


def calls_elsewhere(brief: Any) -> None:
    """Use its own client on another address."""
    import anthropic

    client = anthropic.Anthropic(api_key="sk-dummy", base_url="http://127.0.0.1:9", max_retries=0)
    for message in brief.inbox():
        try:
            ask(client, message.text)
        except anthropic.APIConnectionError:
            brief.send("The model cannot be reached.", kind="error", status="failed")


def spins(brief: Any) -> None:
    """Compute without end."""
    while True:
        pass


def never_stops(brief: Any) -> None:
    """Call the model without end and ignore its answers."""
    client = brief.anthropic(max_retries=0)
    while True:
        try:
            ask(client, "again")
        except Exception:
            continue


def waits_a_day(brief: Any) -> None:
    """Sleep longer than the limit on virtual time."""
    import time

    time.sleep(10**6)
