"""google-adk with SQLite sessions: killed while a tool pays, does the model read of its call?

1: no, 0: yes.
"""

import asyncio
import os
import sys
from pathlib import Path

from bare_server import call, restarted, say

try:
    from anthropic import AsyncAnthropic
    from google.adk.agents import Agent
    from google.adk.models.anthropic_llm import AnthropicLlm
    from google.adk.runners import Runner
    from google.adk.sessions.sqlite_session_service import SqliteSessionService
    from google.genai import types
except ImportError as missing:
    print(f"not installed: {missing} (pip install google-adk anthropic)")
    sys.exit(2)


def pay(to: str) -> str:
    """Pay a person."""
    os._exit(9)  # the process is killed after the payment, before its result is stored


async def ask(url, folder, words):
    kept = SqliteSessionService(str(Path(folder, "sessions.db")))
    names = {"app_name": "app", "user_id": "ada", "session_id": "one"}
    await kept.get_session(**names) or await kept.create_session(**names)
    model = AnthropicLlm(
        model="claude-sonnet-5", client=AsyncAnthropic(api_key="dummy", base_url=url)
    )
    runner = Runner(
        agent=Agent(name="bot", model=model, tools=[pay]), app_name="app", session_service=kept
    )
    message = types.Content(role="user", parts=[types.Part(text=words)])
    async for _ in runner.run_async(user_id="ada", session_id="one", new_message=message):
        pass


if len(sys.argv) > 1:
    asyncio.run(ask(*sys.argv[1:]))
    sys.exit(0)
answers = [call("pay", {"to": "Ada"}), say("Done.")]
bodies = restarted(__file__, answers, "Pay Ada.", "Did you pay her?")
sent = bodies[-1]["messages"]
print(f"after the kill the model reads: {sent}")
sys.exit(0 if "pay" in str([m for m in sent if m["role"] == "assistant"]) else 1)
