"""Claude Code runs a call that max_tokens cut before its first value, with no input."""

from bare_server import BareServer, say
from command_line import Program, ended
from tool_server import ToolServer, offered

# Streamed, a call that was cut before its first value has no piece of its input.
ANSWERS = [offered("delete", "", stop="max_tokens"), say("I deleted it.")]
tools = ToolServer({"delete": lambda given: f"deleted {given.get('folder', 'all')}"})

with BareServer(ANSWERS) as server, tools, Program("claude", server, tools=tools) as program:
    program.ask("Delete the folder tmp.")
    version = program.version

ended(tools.called, version, f"the tool ran with {tools.called}")
