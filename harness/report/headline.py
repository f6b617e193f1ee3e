"""The first lines of a report: what is wrong in most runs, in plain words, and what to do.

The words of a code are a row of `headlines.tsv`; `check.*` covers the rules of a check without one.
A finding of a plug-in has no row, so its message stands there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from harness.core.values.table_file import table
from harness.core.values.verdict import VerdictWord
from harness.verdicts.cause_tally import CauseTally


class HeadlineRow(msgspec.Struct, frozen=True):
    """What goes wrong, in words about the agent, and what to change."""

    code: str
    words: str
    step: str


HEADLINES: Mapping[str, HeadlineRow] = table("harness.report", "headlines.tsv", HeadlineRow)


def headline_of(code: str) -> HeadlineRow | None:
    """Return the row of a code, or of its check; None for a plug-in's."""
    return HEADLINES.get(code) or HEADLINES.get(f"{code.rpartition('.')[0]}.*")


def headline(
    tally: CauseTally, words: Mapping[VerdictWord, int], noun: str = "run"
) -> Iterator[str]:
    """Yield what most runs show of the heaviest cause, and the first step; nothing if none fails.

    `words` counts the runs of each verdict.
    """
    group = next((group for group in tally.groups() if group.fails), None)
    if group is None:
        return
    row = headline_of(group.finding.code)
    judged = sum(number for word, number in words.items() if word != "not_applicable")
    said = row.words if row else " ".join(group.finding.message.split())
    yield f"{_share(group.runs, judged, noun)}{said}"
    explained = f"harness explain {group.finding.code}"
    yield f"first step: {row.step} ({explained})" if row else f"first step: {explained}"


def _share(runs: int, judged: int, noun: str) -> str:
    if judged == 1:
        return ""
    return f"all {judged} {noun}s: " if runs == judged else f"{runs} of {judged} {noun}s: "
