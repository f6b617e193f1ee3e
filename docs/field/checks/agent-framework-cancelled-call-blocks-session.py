"""agent-framework, history stored after each call of the model: does a request after a cancel hold
a call without its result? 1: yes, 0: no.
"""

import asyncio
import sys
import tempfile

from bare_server import BareServer, call, say

try:
    from agent_framework import Agent, AgentSession, FileHistoryProvider, tool
    from agent_framework.openai import OpenAIChatCompletionClient
    from openai import AsyncOpenAI
except ImportError as missing:
    print(f"not installed: {missing} (pip install agent-framework-core agent-framework-openai)")
    sys.exit(2)

begun = asyncio.Event()


@tool(approval_mode="never_require")
async def search(text: str) -> str:
    """Search the files."""
    begun.set()
    await asyncio.Event().wait()
    return "nothing"


async def ask(url, folder):
    model = AsyncOpenAI(api_key="dummy", base_url=f"{url}/v1")
    bot = Agent(
        client=OpenAIChatCompletionClient(model="gpt-5", async_client=model),
        tools=[search],
        context_providers=[FileHistoryProvider(folder)],
        require_per_service_call_history_persistence=True,
    )
    turn = asyncio.create_task(bot.run("Search.", session=AgentSession(session_id="one")))
    await begun.wait()
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
    for words in ("What time is it?", "Hello?"):
        await bot.run(words, session=AgentSession(session_id="one"))


answers = [call("search", {"text": "x"}), say("It is noon."), say("Hello.")]
with BareServer(answers) as server, tempfile.TemporaryDirectory() as home:
    asyncio.run(ask(server.url, home))
open_calls = 0
for body in server.bodies[1:]:
    sent = body["messages"]
    asked = {c["id"] for m in sent for c in m.get("tool_calls") or ()}
    told = {m["tool_call_id"] for m in sent if m["role"] == "tool"}
    open_calls += len(asked - told)
    print(f"sent: {[m['role'] for m in sent]}, calls without a result: {sorted(asked - told)}")
sys.exit(1 if open_calls else 0)
