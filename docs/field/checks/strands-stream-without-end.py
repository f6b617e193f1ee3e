"""strands-agents: is half an answer, whose stream ended too early, a whole one? 1: yes, 0: no."""

import sys

from bare_server import BareServer, say

try:
    from strands import Agent
    from strands.models.anthropic import AnthropicModel
except ImportError as missing:
    print(f"not installed: {missing} (pip install 'strands-agents[anthropic]')")
    sys.exit(2)

# Neither `message_delta`, which has the stop reason, nor `message_stop` comes.
with BareServer([say("Take 2 tablets, but never", cut=True)]) as server:
    args = {"api_key": "dummy", "base_url": server.url, "max_retries": 0}
    model = AnthropicModel(client_args=args, model_id="fake", max_tokens=100)
    try:
        made = Agent(model, callback_handler=None)("How many tablets?")
    except Exception as error:
        print(f"an error is raised: {error!r}")
        sys.exit(0)
print(f"stop reason: {made.stop_reason}, answer: {str(made).strip()!r}")
sys.exit(1 if made.stop_reason == "end_turn" else 0)
