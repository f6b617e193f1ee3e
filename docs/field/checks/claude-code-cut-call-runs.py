"""Claude Code runs a call whose answer ended at max_tokens before its first value, with no input."""

from bare_server import BareServer, say
from command_line import Program, ended
from tool_server import ToolServer, offered

# Streamed, a call that was cut before its first value has no piece of its input.
with BareServer([offered("delete", "", stop="max_tokens"), say("I deleted it.")]) as server:
    with ToolServer({"delete": lambda given: f"deleted {given.get('folder', 'all')}"}) as tools:
        with Program("claude", server, tools=tools) as program:
            said = program.ask("Delete the folder tmp.")
            version = program.version

ended(tools.called, version, f"the tool ran with {tools.called}", f"the answer: {said.text[:300]}")
