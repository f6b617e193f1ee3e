"""pydantic-ai, a Conversation carried whole: is each message after the 50th refused unasked?
1: yes, 0: no."""

import asyncio
import sys

from bare_server import BareServer, say

try:
    from pydantic_ai import Agent
    from pydantic_ai.exceptions import UsageLimitExceeded
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
except ImportError as missing:
    print(f"not installed: {missing} (pip install 'pydantic-ai-slim[anthropic]')")
    sys.exit(2)


async def talk(url):
    """Ask 53 questions, and return the errors by their number."""
    provider = AnthropicProvider(api_key="dummy", base_url=url)
    agent = Agent(AnthropicModel("claude-sonnet-5", provider=provider))
    refused = {}
    kept = (await agent.run("Question 1?")).conversation
    for number in range(2, 54):
        try:
            kept = (await agent.run(f"Question {number}?", conversation=kept)).conversation
        except UsageLimitExceeded as error:
            refused[number] = str(error)
    return refused


with BareServer([say("Yes.")] * 60) as server:
    refused = asyncio.run(talk(server.url))
print(f"requests: {len(server.bodies)}, refused: {refused}")
sys.exit(1 if refused else 0)
