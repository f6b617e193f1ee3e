"""LlamaIndex with its memory in SQLite: the clock is set back a minute. Is a new message the last?

1: no, 0: yes.
"""

import asyncio
import sys
import tempfile
import time

from bare_server import BareServer, say

try:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.memory import Memory
    from llama_index.llms.openai import OpenAI
except ImportError as missing:
    print(f"not installed: {missing} (pip install llama-index-core llama-index-llms-openai)")
    sys.exit(2)

MINUTE_NS = 60 * 10**9
QUESTIONS = ("Transfer 10 to Ada.", "Is it done?", "Thank you.")


async def ask(url, folder):
    memory = Memory.from_defaults("one", async_database_uri=f"sqlite+aiosqlite:///{folder}/m.db")
    model = OpenAI(model="gpt-4o", api_key="dummy", api_base=f"{url}/v1", max_retries=0)
    real = time.time_ns
    for words in QUESTIONS:
        await FunctionAgent(llm=model, tools=[]).run(words, memory=memory)
        # NTP, or a machine that goes on from a snapshot, sets the clock right after the first turn.
        time.time_ns = lambda: real() - MINUTE_NS


with tempfile.TemporaryDirectory() as folder, BareServer([say("Yes.")] * 3) as server:
    asyncio.run(ask(server.url, folder))
last = [body["messages"][-1]["content"] for body in server.bodies]
print(f"the last message of each request: {last}")
sys.exit(0 if last == [*QUESTIONS] else 1)
