"""agent-framework with its history in files: killed while a tool pays, does the model read of it?

1: no, 0: yes.
"""

import asyncio
import os
import sys

from bare_server import call, restarted, say

try:
    from agent_framework import Agent, AgentSession, FileHistoryProvider, tool
    from agent_framework.openai import OpenAIChatCompletionClient
    from openai import AsyncOpenAI
except ImportError as missing:
    print(f"not installed: {missing} (pip install agent-framework-core agent-framework-openai)")
    sys.exit(2)


@tool(approval_mode="never_require")
def pay(to: str) -> str:
    """Pay a person."""
    os._exit(9)  # the process is killed after the payment, before its result is stored


async def ask(url, folder, words):
    model = AsyncOpenAI(api_key="dummy", base_url=f"{url}/v1")
    bot = Agent(
        client=OpenAIChatCompletionClient(model="gpt-5", async_client=model),
        tools=[pay],
        context_providers=[FileHistoryProvider(folder)],
    )
    await bot.run(words, session=AgentSession(session_id="one"))


if len(sys.argv) > 1:
    asyncio.run(ask(*sys.argv[1:]))
    sys.exit(0)
answers = [call("pay", {"to": "Ada"}), say("Done.")]
bodies = restarted(__file__, answers, "Pay Ada.", "Did you pay her?")
sent = bodies[-1]["messages"]
print(f"after the kill the model reads: {sent}")
sys.exit(0 if "Pay Ada." in str(sent) else 1)
