"""Runs as Markdown for a pull request: the causes, the runs not applicable, each failing run.

All outside text is in code spans or code blocks, so it is not markup and mentions no GitHub user.
The summary has a size limit, and counts the omitted parts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from harness.checks.judge import checks
from harness.core.values.visible_text import visible, visible_line
from harness.redaction.encoder import Encoded, encoded, shown
from harness.report.command_summary import cause_text, cause_title, counts, headline
from harness.report.run_report import MARKS, block
from harness.verdicts.command_events import CommandStarted
from harness.verdicts.event_lines import counted
from harness.verdicts.result import Result, lacks, reach_of
from harness.verdicts.tallies import CauseGroup, CauseTally

COMMENT_MAX = 65_536
"""The most characters of a comment on GitHub."""

STEP_MAX_BYTES = 1024 * 1024
"""The most bytes of the summary of a step on GitHub."""

CAUSES_MAX = 50
WIDTH = 100
NO_COMMAND = CommandStarted(verb="")
_ROOM = 200
"""The characters reserved for the line that counts the omitted parts."""


def markdown(results: Sequence[Result], command: CommandStarted) -> Iterator[str]:
    """A summary for a pull request: the causes, then each failing run, folded."""
    yield Encoded(document(results, command=command).rstrip("\n"))


def document(
    runs: Sequence[Result], most: int = COMMENT_MAX, command: CommandStarted = NO_COMMAND
) -> str:
    """Return the summary in at most `most` bytes, and so in at most as many characters."""
    return bounded(_parts(runs, command), most)


def bounded(parts: Iterable[str], most: int) -> str:
    """Return the first parts, in at most `most` bytes; the last line counts the omitted parts."""
    parts = list(map(shown, parts))
    left, said = most - _ROOM, list[str]()
    for number, part in enumerate(parts):
        left -= len(encoded(part))
        if left < 0:
            cut = counted(len(parts) - number, "part")
            said.append(
                f"\n**Cut:** {cut} of {len(parts)} left out, because the summary is too long.\n"
            )
            break
        said.append(part)
    return "".join(said)


def _parts(runs: Sequence[Result], command: CommandStarted) -> Iterator[str]:
    noun = command.noun
    tally, by_name = CauseTally.of(runs), {run.name: run for run in runs}
    groups = tally.groups()
    failing = [run for run in runs if run.word in ("fail", "unknown")]
    yield f"## {MARKS['fail' if failing else 'pass']} harness: "
    yield f"{command.title or counts(runs, noun=noun)}\n\n"
    yield fenced("\n".join(command.notes)) + "\n\n" if command.notes else ""
    named = dict.fromkeys(run.target for run in runs if run.target)
    targets = ", ".join(map(code, named))
    yield f"Target {targets}\n\n" if targets else ""
    words = Counter(run.word for run in runs)
    yield from (f"{code(line)}\n\n" for line in headline(tally, words, noun))
    for group in groups[:CAUSES_MAX]:
        yield _cause(group, by_name[group.example], noun)
    if len(groups) > CAUSES_MAX:
        yield f"- and {counted(len(groups) - CAUSES_MAX, 'more cause')}\n"
    yield "\n" if groups else ""
    yield from _not_applicable(runs, noun)
    never = reach_of(runs).never_asked
    if never and len(never) < len(checks()):
        yield f"Never asked: {counted(len(never), 'check')}: {', '.join(map(code, never))}\n\n"
    yield from (_run(run) for run in runs if run in failing or run.notes)


def _cause(group: CauseGroup, run: Result, noun: str) -> str:
    note = cause_title(group).removeprefix(group.finding.code).strip()
    said = f"- **{counted(group.runs, noun)}** {code(group.finding.code)} {note}".rstrip()
    repeat = f"\n  <br>{code(run.repeat)}" if run.repeat else ""
    return f"{said}: {code(cause_text(group))}{repeat}\n"


def _not_applicable(runs: Sequence[Result], noun: str) -> Iterator[str]:
    found = lacks(runs)
    if found:
        yield "Not applicable:\n\n"
        yield from (f"- {counted(lack.runs, noun)}: {code(lack.reason)}\n" for lack in found)
        yield "\n"


def _run(run: Result) -> str:
    """Return a run as a foldable section."""
    return folded(MARKS[run.word], run.name, block(run, WIDTH))


def folded(mark: str, name: str, text: str) -> str:
    """Return a foldable section: a mark, a name (escaped, because it is in HTML) and a text."""
    head = f"{mark} {_html(visible_line(name))}"
    return f"<details><summary>{head}</summary>\n\n{fenced(text)}\n\n</details>\n\n"


def code(text: str) -> str:
    """Return text as a code span, with a fence longer than any run of backticks in the text."""
    text = visible_line(text) or " "
    fence = "`" * (_longest(text) + 1)
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def fenced(text: str) -> str:
    """Return text as a code block."""
    text = visible(text)
    fence = "`" * max(_longest(text) + 1, 3)
    return f"{fence}text\n{text}\n{fence}"


def _longest(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _html(text: str) -> str:
    """Return text with entities for each character that is markup in HTML or Markdown."""
    return re.sub(r"[^\w /+-]", lambda found: f"&#{ord(found[0])};", text)
