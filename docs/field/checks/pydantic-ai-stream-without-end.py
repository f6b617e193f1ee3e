"""pydantic-ai: is half an answer, whose stream ended too early, the result? 1: yes, 0: no."""

import asyncio
import sys

from bare_server import BareServer, say

try:
    from pydantic_ai import Agent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
except ImportError as missing:
    print(f"not installed: {missing} (pip install 'pydantic-ai-slim[anthropic]')")
    sys.exit(2)


async def ask(url):
    provider = AnthropicProvider(api_key="dummy", base_url=url)
    async with Agent(AnthropicModel("fake", provider=provider)).run_stream("How many?") as stream:
        said = await stream.get_output()
    return said, stream.all_messages()[-1]


# Neither `message_delta`, which has the stop reason, nor `message_stop` comes.
with BareServer([say("Take 2 tablets, but never", cut=True)]) as server:
    try:
        said, last = asyncio.run(ask(server.url))
    except Exception as error:
        print(f"an error is raised: {error!r}")
        sys.exit(0)
print(f"output: {said!r}, finish reason: {last.finish_reason}, state: {last.state}")
sys.exit(1)
