"""Runs as Markdown for a pull request: the causes, what was not applicable, each failing run.

All text of strangers stands in code spans or code blocks, where Markdown and HTML are text, and
nobody is mentioned. The summary is bounded, and says what was left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.core.values.visible_text import visible, visible_line
from harness.report.cause_tally import CauseGroup, CauseTally
from harness.report.command_summary import counts
from harness.report.event_lines import counted
from harness.report.run_report import MARKS, block
from harness.report.run_summary import RunSummary, lacks

COMMENT_MAX = 65_536
"""How many characters a comment on GitHub may have."""

STEP_MAX_BYTES = 1024 * 1024
"""How many bytes the summary of a step on GitHub may have."""

CAUSES_MAX = 50
WIDTH = 100
_ROOM = 200
"""The characters that are kept free for the line that says what was left out."""


def markdown(runs: Sequence[RunSummary], most: int = COMMENT_MAX, noun: str = "run") -> str:
    """The summary in at most so many bytes, which are at least as many as its characters."""
    return bounded(list(_parts(runs, noun)), most)


def bounded(parts: Sequence[str], most: int) -> str:
    """The parts, from the first one on, in at most so many bytes; the end says what is left out."""
    left, said = most - _ROOM, list[str]()
    for number, part in enumerate(parts):
        left -= len(part.encode("utf-8", "backslashreplace"))
        if left < 0:
            cut = counted(len(parts) - number, "part")
            said.append(
                f"\n**Cut:** {cut} of {len(parts)} left out, for the summary is too long.\n"
            )
            break
        said.append(part)
    return "".join(said)


def _parts(runs: Sequence[RunSummary], noun: str) -> Iterator[str]:
    groups, by_name = CauseTally.of(runs).groups(), {run.name: run for run in runs}
    failing = [run for run in runs if run.word in ("fail", "unknown")]
    yield f"## {MARKS['fail' if failing else 'pass']} harness: {counts(runs, noun=noun)}\n\n"
    named = dict.fromkeys(run.target for run in runs if run.target)
    targets = ", ".join(map(code, named))
    yield f"Target {targets}\n\n" if targets else ""
    for group in groups[:CAUSES_MAX]:
        yield _cause(group, by_name[group.example], noun)
    if len(groups) > CAUSES_MAX:
        yield f"- and {counted(len(groups) - CAUSES_MAX, 'more cause')}\n"
    yield "\n" if groups else ""
    yield from _not_applicable(runs, noun)
    yield from map(_run, failing)


def _cause(group: CauseGroup, run: RunSummary, noun: str) -> str:
    note = group.title.removeprefix(group.finding.code).strip()
    said = f"- **{counted(group.runs, noun)}** {code(group.finding.code)} {note}".rstrip()
    repeat = f"\n  <br>{code(run.repeat)}" if run.repeat else ""
    return f"{said}: {code(group.cause)}{repeat}\n"


def _not_applicable(runs: Sequence[RunSummary], noun: str) -> Iterator[str]:
    found = lacks(runs)
    if found:
        yield "Not applicable:\n\n"
        yield from (f"- {counted(lack.runs, noun)}: {code(lack.reason)}\n" for lack in found)
        yield "\n"


def _run(run: RunSummary) -> str:
    """A run that can be unfolded."""
    return folded(MARKS[run.word], run.name, block(run, WIDTH))


def folded(mark: str, name: str, text: str) -> str:
    """A text to unfold, under a mark and a name, which is HTML there and escaped as HTML."""
    head = f"{mark} {_html(visible_line(name))}"
    return f"<details><summary>{head}</summary>\n\n{fenced(text)}\n\n</details>\n\n"


def code(text: str) -> str:
    """Text as a code span: its fence is longer than any run of backticks within."""
    text = visible_line(text) or " "
    fence = "`" * (_longest(text) + 1)
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def fenced(text: str) -> str:
    """Text as a code block."""
    text = visible(text)
    fence = "`" * max(_longest(text) + 1, 3)
    return f"{fence}text\n{text}\n{fence}"


def _longest(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _html(text: str) -> str:
    """Text as entities wherever HTML or Markdown would read more than text."""
    return re.sub(r"[^\w /+-]", lambda found: f"&#{ord(found[0])};", text)
