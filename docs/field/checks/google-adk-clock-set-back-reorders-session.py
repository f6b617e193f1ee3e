"""google-adk with its session in SQLite: the clock is set back a minute. Is the order another one?

1: yes, 0: no.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from bare_server import BareServer, say

try:
    from anthropic import AsyncAnthropic
    from google.adk.agents import Agent
    from google.adk.models.anthropic_llm import AnthropicLlm
    from google.adk.platform.time import set_time_provider
    from google.adk.runners import Runner
    from google.adk.sessions.sqlite_session_service import SqliteSessionService
    from google.genai import types
except ImportError as missing:
    print(f"not installed: {missing} (pip install google-adk anthropic)")
    sys.exit(2)

QUESTIONS = ("Transfer 10 to Ada.", "Is it done?", "Thank you.")


async def ask(url, file):
    client = AsyncAnthropic(api_key="dummy", base_url=url, max_retries=0)
    bot = Agent(name="bot", model=AnthropicLlm(model="claude-sonnet-5", client=client))
    service = SqliteSessionService(file)
    runner = Runner(app_name="bank", agent=bot, session_service=service)
    session = await service.create_session(app_name="bank", user_id="ada")
    for words in QUESTIONS:
        message = types.Content(role="user", parts=[types.Part(text=words)])
        async for _ in runner.run_async(user_id="ada", session_id=session.id, new_message=message):
            pass
        # NTP, or a machine that goes on from a snapshot, sets the clock right after the first turn.
        set_time_provider(lambda: time.time() - 60)


with tempfile.TemporaryDirectory() as folder, BareServer([say("Yes.")] * 3) as server:
    asyncio.run(ask(server.url, str(Path(folder) / "sessions.db")))
sent = server.bodies[-1]["messages"]
asked = [block["text"] for m in sent if m["role"] == "user" for block in m["content"]]
print(f"the questions of the third request, in their order: {asked}")
sys.exit(0 if asked == [*QUESTIONS] else 1)
