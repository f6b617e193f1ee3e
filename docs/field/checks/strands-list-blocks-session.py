"""strands-agents on Claude: does a list as the input of a call go out in each later request of the
session? 1: yes, 0: no."""

import sys
import tempfile

from bare_server import BareServer, call, say

try:
    from strands import Agent, tool
    from strands.models.anthropic import AnthropicModel
    from strands.session.file_session_manager import FileSessionManager
except ImportError as missing:
    print(f"not installed: {missing} (pip install 'strands-agents[anthropic]')")
    sys.exit(2)


@tool
def pay(bill: str) -> str:
    """Pay a bill."""
    return "paid"


answers = [call("pay", '["17"]'), say("Hello."), say("Yes."), say("Yes.")]
with BareServer(answers) as server, tempfile.TemporaryDirectory() as folder:
    for words in ("Pay bill 17.", "Hello?", "Are you there?"):
        args = {"api_key": "dummy", "base_url": server.url, "max_retries": 0}
        model = AnthropicModel(client_args=args, model_id="fake", max_tokens=100)
        kept = FileSessionManager("one", storage_dir=folder)
        Agent(model, tools=[pay], session_manager=kept, callback_handler=None)(words)
contents = [m["content"] for body in server.bodies for m in body["messages"]]
blocks = [block for each in contents if isinstance(each, list) for block in each]
lists = [b["input"] for b in blocks if b["type"] == "tool_use" and isinstance(b["input"], list)]
print(f"requests: {len(server.bodies)}; inputs that are lists: {lists}")
sys.exit(1 if lists else 0)
