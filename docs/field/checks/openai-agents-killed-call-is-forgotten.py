"""openai-agents with SQLiteSession: killed while a tool pays, does the model read of it?

1: no, 0: yes.
"""

import os
import sys
from pathlib import Path

from bare_server import call, restarted, say

try:
    from agents import (
        Agent,
        OpenAIResponsesModel,
        Runner,
        SQLiteSession,
        function_tool,
        set_tracing_disabled,
    )
    from openai import AsyncOpenAI
except ImportError as missing:
    print(f"not installed: {missing} (pip install openai-agents)")
    sys.exit(2)

set_tracing_disabled(True)


@function_tool
def pay(to: str) -> str:
    """Pay a person."""
    os._exit(9)  # the process is killed after the payment, before its result is stored


def ask(url, folder, words):
    client = AsyncOpenAI(api_key="dummy", base_url=f"{url}/v1")
    bot = Agent("bot", model=OpenAIResponsesModel("gpt-5", client), tools=[pay])
    Runner.run_sync(bot, words, session=SQLiteSession("one", Path(folder, "sessions.db")))


if len(sys.argv) > 1:
    ask(*sys.argv[1:])
    sys.exit(0)
answers = [call("pay", {"to": "Ada"}), say("Done.")]
bodies = restarted(__file__, answers, "Pay Ada.", "Did you pay her?")
sent = bodies[-1]["input"]
print(f"after the kill the model reads: {sent}")
sys.exit(0 if "function_call" in str(sent) else 1)
