"""LlamaIndex: are questions of turns that failed sent again in a later turn? 1: yes, 0: no."""

import asyncio
import sys

from bare_server import BareServer, error, say

try:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.memory import Memory
    from llama_index.llms.openai import OpenAI
except ImportError as missing:
    print(f"not installed: {missing} (pip install llama-index-core llama-index-llms-openai)")
    sys.exit(2)


async def ask(url):
    memory = Memory.from_defaults("one")
    model = OpenAI(model="gpt-4o", api_key="dummy", api_base=f"{url}/v1", max_retries=0)
    for words in ("Transfer 10 to Ada.", "Transfer 20 to Bob.", "What time is it?"):
        try:
            await FunctionAgent(llm=model, tools=[time_now]).run(words, memory=memory)
        except Exception as raised:
            print(f"{words!r}: the user sees {type(raised).__name__}")


def time_now() -> str:
    """Tell the time."""
    return "noon"


with BareServer([error(400), error(400), say("It is noon.")]) as server:
    asyncio.run(ask(server.url))
sent = server.bodies[-1]["messages"]
print(f"the third turn sends: {sent}")
sys.exit(1 if "Transfer 10" in str(sent) else 0)
