"""LlamaIndex with its memory in SQLite: killed while a tool pays, does the model read of it?

1: no, 0: yes.
"""

import asyncio
import os
import sys

from bare_server import call, restarted, say

try:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.memory import Memory
    from llama_index.llms.openai import OpenAI
except ImportError as missing:
    print(f"not installed: {missing} (pip install llama-index-core llama-index-llms-openai)")
    sys.exit(2)


async def pay(to: str) -> str:
    """Pay a person."""
    os._exit(9)  # the process is killed after the payment, before its result is stored


async def ask(url, folder, words):
    memory = Memory.from_defaults("one", async_database_uri=f"sqlite+aiosqlite:///{folder}/m.db")
    model = OpenAI(model="gpt-4o", api_key="dummy", api_base=f"{url}/v1", max_retries=0)
    await FunctionAgent(llm=model, tools=[pay]).run(words, memory=memory)


if len(sys.argv) > 1:
    asyncio.run(ask(*sys.argv[1:]))
    sys.exit(0)
answers = [call("pay", {"to": "Ada"}), say("Done.")]
bodies = restarted(__file__, answers, "Pay Ada.", "Did you pay her?")
sent = bodies[-1]["messages"]
print(f"after the kill the model reads: {sent}")
sys.exit(0 if "call_" in str(sent) or "tool_calls" in str(sent) else 1)
