"""Claude Code asks for the same failing command for as long as the model does."""

from bare_server import BareServer
from command_line import Program, ended

ASKED = 40

with BareServer() as server, Program("claude", server) as program:
    server.answers = [program.shell("cat gone.txt")] * ASKED
    said = program.ask("What is in gone.txt?")
    version = program.version

ended(len(server.bodies) > ASKED, version, f"{len(server.bodies) - 1} equal failing calls ran")
