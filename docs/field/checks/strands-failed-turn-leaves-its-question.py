"""strands: are questions of turns that failed sent again in a later turn? 1: yes, 0: no."""

import sys
import tempfile

from bare_server import BareServer, error, say

try:
    from strands import Agent
    from strands.models.anthropic import AnthropicModel
    from strands.session.file_session_manager import FileSessionManager
except ImportError as missing:
    print(f"not installed: {missing} (pip install 'strands-agents[anthropic]')")
    sys.exit(2)

with (
    BareServer([error(400), error(400), say("It is noon.")]) as server,
    tempfile.TemporaryDirectory() as home,
):
    settings = {"api_key": "dummy", "base_url": server.url, "max_retries": 0}
    for words in ("Transfer 10 to Ada.", "Transfer 20 to Bob.", "What time is it?"):
        model = AnthropicModel(client_args=settings, model_id="claude-sonnet-5", max_tokens=100)
        kept = FileSessionManager("one", storage_dir=home)
        try:
            Agent(model, session_manager=kept, callback_handler=None)(words)
        except Exception as raised:
            print(f"{words!r}: the user sees {type(raised).__name__}")
sent = server.bodies[-1]["messages"]
print(f"the third turn sends: {sent}")
sys.exit(1 if "Transfer 10" in str(sent) else 0)
