"""google-adk on Claude: does a message of one blank stay in each later request? 1: yes, 0: no.

The API refuses a text of white space alone (400, "text content blocks must contain non-whitespace
text"), so one such message ends the session.
"""

import asyncio
import sys

from bare_server import BareServer, refuses_blanks

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
    kept = await runner.session_service.create_session(app_name=runner.app_name, user_id="ada")
    answered = []
    for words in (" ", "Are you there?", "Hello?"):
        message = types.Content(role="user", parts=[types.Part(text=words)])
        run = runner.run_async(user_id="ada", session_id=kept.id, new_message=message)
        try:
            answered += [words async for event in run if event.content]
        except Exception as raised:
            print(f"{words!r}: the user sees {type(raised).__name__}")
    return answered


with BareServer([refuses_blanks] * 3) as server:
    answered = asyncio.run(ask(server.url))
print(f"answered: {answered}; the last request: {server.bodies[-1]['messages']}")
sys.exit(0 if "Hello?" in answered else 1)
