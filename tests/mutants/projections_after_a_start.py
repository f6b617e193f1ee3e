"""Mutants of the reference agent that show a resumed session otherwise after each start."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from harness.agent import build
from harness.agent.conversation.projection import project
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Message, ToolResult
from tests.mutants import mutant
from tests.mutants.projections import is_text


def _starts(brief: Brief) -> int:
    """How often the agent was started in this session before."""
    starts = Path(brief.session_dir) / "starts"
    number = starts.stat().st_size if starts.exists() else 0
    starts.write_bytes(bytes(number + 1))
    return number


def _turned(rows: Sequence[Message]) -> list[Message]:
    """The messages of a request, with parallel results from last to first."""
    return [
        Message(message.role, tuple(reversed(message.blocks))) if message.tool_results else message
        for message in project(rows)
    ]


def _right_recovers_in_another_order(brief: Brief) -> None:
    """One whose starts all put the last result first."""
    build(brief, projection=_turned).run()


@mutant(
    breaks="projection",
    statement="A recovery depends on the order of durable writes (langgraph#8039)",
    scenario="recovered-twice",
    killed_by="resume_prefix.differs",
    look_alike=_right_recovers_in_another_order,
)
def recovers_in_another_order(brief: Brief) -> None:
    """A start puts the results of parallel calls in the order in which it happens to find them.

    The reference agent whose starts disagree: a count of them stands for a race of writes.
    """
    build(brief, projection=_turned if _starts(brief) % 2 else project).run()


def _words_of_old_turns(rows: Sequence[Message]) -> list[Message]:
    """The messages of a request, without the calls and results of earlier turns."""
    said = [n for n, row in enumerate(rows) if row.role == "user" and is_text(row)]
    newest = said[-1] if said else 0
    return project([r for n, r in enumerate(rows) if n >= newest or is_text(r)])


def _right_shows_words_of_old_turns(brief: Brief) -> None:
    """One that never shows the calls of earlier turns."""
    build(brief, projection=_words_of_old_turns).run()


@mutant(
    breaks="projection",
    statement="A start restores the words of turns and none of their calls (traceroot #1959)",
    scenario="recovered-twice",
    killed_by="resume_prefix.forgotten",
    look_alike=_right_shows_words_of_old_turns,
)
def starts_with_words_alone(brief: Brief) -> None:
    """After a start the turns before come back without what their tools found.

    The reference agent that restores a chat as a page shows it.
    """
    build(brief, projection=_words_of_old_turns if _starts(brief) else project).run()


def _first_result_alone(rows: Sequence[Message]) -> list[Message]:
    """The messages of a request, with each parallel result but the first told as missing."""
    told = list[Message]()
    for message in project(rows):
        first, *more = message.tool_results or (None,)
        lost = [
            ToolResult(each.id, "Missing from the saved history.", is_error=True)
            for each in more
            if each
        ]
        others = [block for block in message.blocks if not isinstance(block, ToolResult)]
        kept = [first, *lost] if first else []
        told.append(Message(message.role, (*kept, *others)))
    return told


@mutant(
    breaks="projection",
    statement="A start tells stored results as missing (QwenLM/qwen-code#9573)",
    scenario="recovered-twice",
    killed_by="resume_prefix.differs",
    look_alike=_right_recovers_in_another_order,
)
def starts_with_lost_results(brief: Brief) -> None:
    """After a start the second of two parallel results is told as an error.

    The reference agent that finds one result for each message of its history.
    """
    build(brief, projection=_first_result_alone if _starts(brief) else project).run()


def _next_rows_alone(rows: Sequence[Message]) -> list[Message]:
    """The messages of a request, for which only the row behind a call is searched for results."""
    behind = {r.id for before, row in pairwise(rows) if before.tool_uses for r in row.tool_results}

    def repaired(block: Block) -> Block:
        is_far = isinstance(block, ToolResult) and block.id not in behind
        return ToolResult(block.id, "The call was interrupted.", True) if is_far else block

    return project([Message(row.role, tuple(map(repaired, row.blocks))) for row in rows])


@mutant(
    breaks="projection",
    statement="A repair looks for a result in the next row alone (Estudely/riftor#115)",
    scenario="fewer-results-than-calls/results-behind-a-message",
    killed_by="history_faithful.kept_result",
)
def repairs_what_is_whole(brief: Brief) -> None:
    """A message of the user stands between a call and its results, so the repair makes results up.

    The reference agent with such a repair.
    """
    build(brief, projection=_next_rows_alone).run()
