"""agno with SqliteDb: killed while a tool pays, does the model read of it in the next run?

1: no, 0: yes.
"""

import os
import sys
from pathlib import Path

from bare_server import call, restarted, say

try:
    from agno.agent import Agent
    from agno.db.sqlite import SqliteDb
    from agno.models.anthropic import Claude
except ImportError as missing:
    print(f"not installed: {missing} (pip install agno anthropic sqlalchemy)")
    sys.exit(2)


def pay(to: str) -> str:
    """Pay a person."""
    os._exit(9)  # the process is killed after the payment, before its result is stored


def ask(url, folder, words):
    model = Claude(id="claude-sonnet-5", api_key="dummy", client_params={"base_url": url})
    kept = SqliteDb(db_file=str(Path(folder, "agno.db")))
    settings = {"add_history_to_context": True, "session_id": "one", "telemetry": False}
    Agent(model=model, db=kept, tools=[pay], **settings).run(words)


if len(sys.argv) > 1:
    ask(*sys.argv[1:])
    sys.exit(0)
answers = [call("pay", {"to": "Ada"}), say("Done.")]
bodies = restarted(__file__, answers, "Pay Ada.", "Did you pay her?")
sent = bodies[-1]["messages"]
print(f"after the kill the model reads: {sent}")
sys.exit(0 if "Pay Ada." in str(sent) else 1)
