"""strands on Claude: does a message of one blank stay in each later request? 1: yes, 0: no.

The API refuses a text of white space alone (400, "text content blocks must contain non-whitespace
text"), so one such message ends the session.
"""

import sys
import tempfile

from bare_server import BareServer, refuses_blanks

try:
    from strands import Agent
    from strands.models.anthropic import AnthropicModel
    from strands.session.file_session_manager import FileSessionManager
except ImportError as missing:
    print(f"not installed: {missing} (pip install 'strands-agents[anthropic]')")
    sys.exit(2)


answered = []
with BareServer([refuses_blanks] * 3) as server, tempfile.TemporaryDirectory() as home:
    settings = {"api_key": "dummy", "base_url": server.url, "max_retries": 0}
    for words in (" ", "Are you there?", "Hello?"):
        model = AnthropicModel(client_args=settings, model_id="claude-sonnet-5", max_tokens=100)
        kept = FileSessionManager("one", storage_dir=home)
        try:
            Agent(model, session_manager=kept, callback_handler=None)(words)
            answered.append(words)
        except Exception as raised:
            print(f"{words!r}: the user sees {type(raised).__name__}")
print(f"answered: {answered}; the last request: {server.bodies[-1]['messages']}")
sys.exit(0 if "Hello?" in answered else 1)
