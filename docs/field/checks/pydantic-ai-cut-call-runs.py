"""pydantic-ai on Claude: is a call run whose answer ended at `max_tokens`? 1: yes, 0: no."""

import sys

from bare_server import BareServer, call, say

try:
    from pydantic_ai import Agent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
except ImportError as missing:
    print(f"not installed: {missing} (pip install 'pydantic-ai-slim[anthropic]')")
    sys.exit(2)

deleted = []


def delete(folder: str = "all folders") -> str:
    """Delete the files of a folder; without one, of all folders."""
    deleted.append(folder)
    return "deleted"


# Unstreamed, the API gives `{}` for an input that its limit of length cut before the first value.
with BareServer([call("delete", {}, stop="max_tokens"), say("Done.")]) as server:
    provider = AnthropicProvider(api_key="dummy", base_url=server.url)
    agent = Agent(AnthropicModel("fake", provider=provider), tools=[delete])
    made = agent.run_sync("Delete the folder tmp.")
print(f"stop reason: max_tokens, deleted: {deleted}, output: {made.output!r}")
sys.exit(1 if deleted else 0)
