"""Codex ends with success, and prints nothing, where the model said nothing."""

from bare_server import BareServer, say
from command_line import Program, ended

with BareServer([say("")]) as server, Program("codex", server) as program:
    said = program.ask("When was the light built?")
    version = program.version

seen = not said.text and said.status == 0
ended(seen, version, f"exit status {said.status}, standard output {said.text!r}")
