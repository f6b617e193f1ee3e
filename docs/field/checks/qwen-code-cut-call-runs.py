"""Qwen Code runs a part of a call that was cut off at its length, if it was cut a second time."""

from bare_server import BareServer, call, say
from command_line import Program, ended

CUT = call("run_shell_command", '{"is_background": false, "command": "touch half', stop="length")

with BareServer([CUT, CUT, say("I made it.")]) as server, Program("qwen", server) as program:
    program.ask("Make the file half-of-all.")
    made = sorted(file.name for file in program.work.iterdir())
    version = program.version

ended("half" in made, version, f"after {len(server.bodies)} requests there is {made}")
