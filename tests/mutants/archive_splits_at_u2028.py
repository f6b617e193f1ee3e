"""Lines are taken apart where any reader of text would, also inside a string."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.sessions.jsonl_conversation import Chain
from harness.agent.sessions.session_archive import ArchivedTranscript, archive_of
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A line separator inside a text tears its line (statements 92 and 93)",
    scenario="unusual-text",
    killed_by="history_faithful.forgotten_reply",
)


class TextLinesChain(Chain):
    """Reads a file as text."""

    def replace(self, data: bytes) -> bool:
        """Take the entries of the lines of a text; U+2028 and U+0085 end one."""
        return super().replace("\n".join(data.decode().splitlines()).encode())


def agent(brief: Brief) -> None:
    """The reference agent with an archive that splits lines as text."""
    build(
        brief, transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=TextLinesChain)
    ).run()
