"""The archive of a session: wrong agents whose file does not say what the session held."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.sessions.jsonl_conversation import (
    Chain,
    join_entries,
    new_entry,
    read_entries,
    visible_entries,
)
from harness.agent.sessions.session_archive import ArchivedTranscript, Watermark, archive_of
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Block, Message, Text, ToolResult, ToolUse
from harness.stores.session_store import SessionRow
from tests.mutants import mutant


class RootlessChain(Chain):
    """Forgets the last name when entries are replaced."""

    def replace(self, data: bytes) -> bool:
        """Take the entries of a file, and begin its own chain behind them."""
        replaced = super().replace(data)
        self._cut = len(self.entries) if replaced else 0
        return replaced

    def last_uuid(self) -> str:
        """Nothing, right after a replacement."""
        return "" if len(self.entries) == getattr(self, "_cut", 0) else super().last_uuid()


@mutant(
    breaks="transcript",
    statement="The parent chain breaks after a load (AutoGPT #12413, statement 86)",
    scenario="replay-spiral",
    killed_by="history_faithful.forgotten_reply",
)
def archive_chain_begins_anew(brief: Brief) -> None:
    """What is added to a transcript that was loaded has no parent, so the past is cut off.

    The reference agent with an archive whose chain breaks at every load.
    """
    build(
        brief, transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=RootlessChain)
    ).run()


class OnceChain(Chain):
    """Is done with compactions after the first one."""

    def summarise(self, summary: Message, keep: int) -> None:
        """Take a summary, unless there is one."""
        if not any(e.is_summary for e in self.entries):
            super().summarise(summary, keep)


@mutant(
    breaks="transcript",
    statement="A second compaction is ignored (AutoGPT #12413, first version, statement 82)",
    scenario="second-compaction",
    killed_by="append_only_prefix.messages",
)
def archive_compacts_once(brief: Brief) -> None:
    """A session that was compacted once ignores every later compaction.

    The reference agent with an archive that takes in one compaction only.
    """
    build(
        brief, transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=OnceChain)
    ).run()


class CountingTranscript(ArchivedTranscript):
    """Knows rows by their place."""

    def missing(self, data: bytes, mark: Watermark) -> list[SessionRow] | None:
        """The rows behind as many as there are entries; summaries and boundaries count too."""
        return self._store.rows(self._session)[len(read_entries(data)) :] if data else None


@mutant(
    breaks="transcript",
    statement="Rows that are not counted alike shift a watermark (AutoGPT, statement 96)",
    scenario="second-compaction",
    killed_by="inbound_exactly_once.lost",
)
def archive_counts_its_watermark(brief: Brief) -> None:
    """How far a transcript has come is a number of entries, taken for a number of rows.

    The reference agent with a positional watermark.
    """
    build(brief, transcript=partial(CountingTranscript, archive_of(brief))).run()


_FLAG = "isCompactSummary"


class FirstSummaryChain(Chain):
    """Begins with the first summary that it finds."""

    def rows(self) -> list[SessionRow]:
        """The conversation from the first summary on, as if later ones were words of the user."""
        first = next((n for n, e in enumerate(self.entries) if e.is_summary), 0)
        head, rest = self.entries[: first + 1], self.entries[first + 1 :]
        fields = ({k: v for k, v in e.value.items() if k != _FLAG} for e in rest)
        found = (
            (e, e.message)
            for e in visible_entries([*head, *(new_entry(value) for value in fields)])
        )
        return [SessionRow(e.value.get("rowId") or "", m) for e, m in found if m is not None]


@mutant(
    breaks="transcript",
    statement="Of two summaries in the file the first one is used (AutoGPT #12413, statement 72)",
    scenario="second-compaction",
    killed_by="append_only_prefix.messages",
)
def archive_first_summary_wins(brief: Brief) -> None:
    """Of two summaries in a file the first one is used, with all that the second stands for.

    The reference agent with an archive that is told from the first summary on.
    """
    build(
        brief,
        transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=FirstSummaryChain),
    ).run()


class FlaglessChain(Chain):
    """Saves the fields that it knows, and the flag is not one of them."""

    def export(self) -> bytes:
        """The entries without the flag."""
        fields = ({k: v for k, v in e.value.items() if k != _FLAG} for e in self.entries)
        return join_entries([new_entry(value) for value in fields])


@mutant(
    breaks="transcript",
    statement="The flag of a summary is lost at export (AutoGPT #12413, statement 77)",
    scenario="second-compaction",
    killed_by="append_only_prefix.messages",
)
def archive_loses_summary_flag(brief: Brief) -> None:
    """The flag of a summary is lost when a transcript is saved, and the whole past is told again.

    The reference agent with an archive that loses the flag.
    """
    build(
        brief, transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=FlaglessChain)
    ).run()


class TextLinesChain(Chain):
    """Reads a file as text."""

    def replace(self, data: bytes) -> bool:
        """Take the entries of the lines of a text; U+2028 and U+0085 end one."""
        return super().replace("\n".join(data.decode().splitlines()).encode())


@mutant(
    breaks="transcript",
    statement="A line separator inside a text tears its line (statements 92 and 93)",
    scenario="unusual-text",
    killed_by="history_faithful.forgotten_reply",
)
def archive_splits_at_u2028(brief: Brief) -> None:
    """Lines are taken apart where any reader of text would, also inside a string.

    The reference agent with an archive that splits lines as text.
    """
    build(
        brief, transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=TextLinesChain)
    ).run()


class EagerChain(Chain):
    """Lets go of what it has, then looks at what it is given."""

    def replace(self, data: bytes) -> bool:
        """Empty the list, and fill it if the file says anything."""
        self.entries = []
        return super().replace(data)


@mutant(
    breaks="transcript",
    statement="A replacement by nothing leaves an empty list (AutoGPT #12413, statement 74)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.forgotten",
)
def archive_swaps_before_building(brief: Brief) -> None:
    """The list is emptied before it is known whether there is anything to fill it with.

    The reference agent with an archive that empties its list first.
    """
    build(
        brief, transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=EagerChain)
    ).run()


def _flat(block: Block) -> Block:
    match block:
        case ToolUse(name=name):
            return Text(f"[tool_use: {name}]")
        case ToolResult():
            return Text(block.text)
    return block


class FlatChain(Chain):
    """Holds texts only."""

    def append(self, message: Message, row: str = "") -> None:
        """Add what can be read of a message."""
        super().append(Message(message.role, tuple(map(_flat, message.blocks))), row)


@mutant(
    breaks="transcript",
    statement="A call becomes the text `[tool_use: name]` (AutoGPT #12413, first version)",
    scenario="unusual-text/in-tools",
    killed_by="append_only_prefix.messages",
)
def archive_writes_placeholders(brief: Brief) -> None:
    """Calls and results are saved as texts that stand for them, and the model reads them as such.

    The reference agent with an archive of texts.
    """
    archived = partial(ArchivedTranscript, archive_of(brief), new_chain=FlatChain)
    build(brief, transcript=archived).run()


class WholeTranscript(RowTranscript):
    """Knows no summary once the turn is over."""

    def open(self, inbound: Inbound) -> bool:
        """Take the message in, and load all there is."""
        admitted = super().open(inbound)
        self._rows = self._store.rows(self._session)
        return admitted


@mutant(
    breaks="transcript",
    statement="Archived rows are loaded again after a compaction (seed 160)",
    scenario="compacted-before",
    killed_by="append_only_prefix.messages",
)
def reloads_archived_rows(brief: Brief) -> None:
    """The next turn loads every row, those that a summary covers as well.

    The reference agent that forgets its summaries.
    """
    build(brief, transcript=WholeTranscript).run()
