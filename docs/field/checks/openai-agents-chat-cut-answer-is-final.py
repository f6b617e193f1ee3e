"""openai-agents on Chat Completions: does a run say that its answer was cut? 1: no, 0: yes."""

import sys

from bare_server import BareServer, say

try:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
    from openai import AsyncOpenAI
except ImportError as missing:
    print(f"not installed: {missing} (pip install openai-agents)")
    sys.exit(2)

set_tracing_disabled(True)
seen = 0
for stop in ("length", "content_filter"):
    with BareServer([say("Take 2 tablets, but never", stop=stop)]) as server:
        client = AsyncOpenAI(api_key="dummy", base_url=f"{server.url}/v1")
        agent = Agent("doctor", model=OpenAIChatCompletionsModel("fake", client))
        try:
            made = Runner.run_sync(agent, "How many tablets?")
        except Exception as error:
            print(f"{stop}: an error is raised: {error!r}")
            continue
    told = stop in repr(made.raw_responses)
    print(f"{stop}: final output {made.final_output!r}, tells the finish reason: {told}")
    seen += not told
sys.exit(1 if seen else 0)
