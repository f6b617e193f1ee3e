"""Gemini CLI tells an answer that MAX_TOKENS cut as a whole one, and says nothing."""

import json

from bare_server import BareServer, say
from command_line import Program, ended

with BareServer() as server, Program("gemini", server) as program:
    server.answers = [say("The light was built in", stop="MAX_TOKENS")]
    said = program.ask("When was the light built?")
    version = program.version

told = json.loads(said.text)
words = (said.text + said.errors).lower()
warned = any(word in words for word in ("truncat", "max_tokens", "token limit", "cut off"))
seen = said.status == 0 and "error" not in told and not warned
ended(seen, version, f"exit status {said.status}, response {told.get('response')!r}, no warning")
