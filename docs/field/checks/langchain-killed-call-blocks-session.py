"""langchain with SqliteSaver: killed in a tool, does the next request hold a call without its
result? 1: yes, 0: no.

The tool takes a second, as payments do: the checkpoint of the answer is written meanwhile.
"""

import os
import sys
import time
from pathlib import Path

from bare_server import call, restarted, say

try:
    from langchain.agents import create_agent
    from langchain_anthropic import ChatAnthropic
    from langgraph.checkpoint.sqlite import SqliteSaver
except ImportError as missing:
    packages = "langchain langchain-anthropic langgraph-checkpoint-sqlite"
    print(f"not installed: {missing} (pip install {packages})")
    sys.exit(2)


def pay(to: str) -> str:
    """Pay a person."""
    time.sleep(1)
    os._exit(9)  # the process is killed after the payment, before its result is stored


def ask(url, folder, words):
    model = ChatAnthropic(model="claude-sonnet-5", api_key="dummy", base_url=url, max_retries=0)
    with SqliteSaver.from_conn_string(str(Path(folder, "checkpoints.db"))) as kept:
        bot = create_agent(model, [pay], checkpointer=kept)
        thread = {"configurable": {"thread_id": "one"}}
        bot.invoke({"messages": [{"role": "user", "content": words}]}, thread)


if len(sys.argv) > 1:
    ask(*sys.argv[1:])
    sys.exit(0)
answers = [call("pay", {"to": "Ada"}), say("Done."), say("Hello.")]
bodies = restarted(__file__, answers, "Pay Ada.", "Did you pay her?", "Hello?")
for body in bodies[1:]:
    print(f"sent: {body['messages']}")
contents = [m["content"] for m in bodies[-1]["messages"]]
blocks = [block for each in contents if isinstance(each, list) for block in each]
asked = {b["id"] for b in blocks if b["type"] == "tool_use"}
told = {b["tool_use_id"] for b in blocks if b["type"] == "tool_result"}
print(f"calls without a result: {sorted(asked - told)}")
sys.exit(1 if asked - told else 0)
