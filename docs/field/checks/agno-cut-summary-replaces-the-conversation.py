"""agno with compaction: does a summary that was cut off replace the conversation? 1: yes, 0: no."""

import sys
import tempfile
from pathlib import Path

from bare_server import BareServer, error, say

try:
    from agno.agent import Agent
    from agno.db.sqlite import SqliteDb
    from agno.models.anthropic import Claude
except ImportError as missing:
    print(f"not installed: {missing} (pip install agno anthropic sqlalchemy)")
    sys.exit(2)

FULL = error(400, "prompt is too long: 208380 tokens > 200000 maximum")
CUT = say("## Goal\nThe user wants a table for", stop="max_tokens")

with (
    BareServer([say("Noted."), say("Yes."), FULL, CUT]) as server,
    tempfile.TemporaryDirectory() as at,
):
    agent = Agent(
        model=Claude(id="claude-sonnet-5", api_key="dummy", client_params={"base_url": server.url}),
        db=SqliteDb(db_file=str(Path(at, "agno.db"))),
        compaction=True,
        add_history_to_context=True,
        session_id="one",
        telemetry=False,
    )
    story = "I must not eat nuts. " + "We are four, and would like to see the ships of Oslo. " * 40
    for words in (story, "Are you there?", "Book me a table."):
        agent.run(words)
sent = str(server.bodies[-1]["messages"])
print(f"after the summary was cut the model reads: {sent}")
sys.exit(1 if "a table for" in sent and "nuts" not in sent else 0)
