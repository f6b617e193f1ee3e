"""LlamaIndex on OpenAI: is a call run whose answer ended at its length? 1: yes, 0: no."""

import asyncio
import sys

from bare_server import BareServer, call, say

try:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai import OpenAI
except ImportError as missing:
    print(f"not installed: {missing} (pip install llama-index-core llama-index-llms-openai)")
    sys.exit(2)

paid = []


def transfer(to: str, amount: int) -> str:
    """Transfer money."""
    paid.append(amount)
    return "transferred"


async def ask(url):
    model = OpenAI(model="gpt-4o", api_key="dummy", api_base=f"{url}/v1", max_retries=0)
    return await FunctionAgent(tools=[transfer], llm=model).run("Transfer 1500 to Ada.")


# The model meant 1500; its answer reached the limit of its length inside the number.
cut = call("transfer", '{"to": "Ada", "amount": 15', stop="length")
with BareServer([cut, say("Done.")]) as server:
    made = asyncio.run(ask(server.url))
print(f"finish reason: length, transferred: {paid}, answer: {str(made)!r}")
sys.exit(1 if paid else 0)
