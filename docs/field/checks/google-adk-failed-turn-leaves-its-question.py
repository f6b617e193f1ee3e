"""google-adk: are questions of turns that failed sent again in a later turn? 1: yes, 0: no."""

import asyncio
import sys

from bare_server import BareServer, error, say

try:
    from anthropic import AsyncAnthropic
    from google.adk.agents import Agent
    from google.adk.models.anthropic_llm import AnthropicLlm
    from google.adk.runners import InMemoryRunner
    from google.genai import types
except ImportError as missing:
    print(f"not installed: {missing} (pip install google-adk anthropic)")
    sys.exit(2)


async def ask(url):
    client = AsyncAnthropic(api_key="dummy", base_url=url, max_retries=0)
    model = AnthropicLlm(model="claude-sonnet-5", client=client)
    runner = InMemoryRunner(Agent(name="bot", model=model))
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="ada")
    for words in ("Transfer 10 to Ada.", "Transfer 20 to Bob.", "What time is it?"):
        message = types.Content(role="user", parts=[types.Part(text=words)])
        try:
            async for event in runner.run_async(
                user_id="ada", session_id=session.id, new_message=message
            ):
                if event.error_code:
                    print(f"{words!r}: the user sees {event.error_code}")
        except Exception as raised:
            print(f"{words!r}: the user sees {type(raised).__name__}")


with BareServer([error(400), error(400), say("It is noon.")]) as server:
    asyncio.run(ask(server.url))
sent = server.bodies[-1]["messages"]
print(f"the third turn sends: {sent}")
sys.exit(1 if "Transfer 10" in str(sent) else 0)
