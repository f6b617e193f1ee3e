"""The end of a command's report: what is wrong in most runs, and what to do first; causes, classes,
and runs not applicable, unknown or incomplete.

It fits one screen for any number of runs. The last line counts the runs. The words of a code are a
row of `headlines.tsv`; `check.*` covers the rules of a check without one. A finding of a plug-in
has no row, so its message stands there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from harness.core.values.table_file import table
from harness.core.values.verdict import CLASSES, FindingClass, Verdict, VerdictWord
from harness.report.reach_lines import reach_lines
from harness.report.run_report import Paint, cut, finding_note, one_line, plain, wrapped
from harness.verdicts.baseline import BaselineChange
from harness.verdicts.event_lines import counted
from harness.verdicts.result import WORDS, Result, lacks, reach_of
from harness.verdicts.tallies import CauseGroup, CauseTally

REASONS_MAX = 5
"""The most reasons of one kind that are shown."""

_UNREACHED = {"run.unplayed_turn": "turns of the script", "run.silent_fault": "faults"}
"""The steps that a run may leave out, by the rule that is then not applied."""


def summary(
    runs: Sequence[Result], width: int, paint: Paint = plain, verbose: bool = False
) -> Iterator[str]:
    """Yield the headline, the runs by cause, by class, and by the reason why a check was not
    applied.

    Each section ends with a blank line.
    """
    tally = CauseTally.of(runs)
    reasons = (_classes(runs), _incidents(runs), not_applicable(runs), _unknown(runs))
    said = (text for part in (*reasons, _unreached(runs)) for text in part)
    lines = (line for text in said for line in wrapped(text, width, ""))
    first, causes = first_lines(tally, runs, width, paint), cause_lines(tally, width, paint)
    sections = (first, causes, lines, reach_lines(reach_of(runs), width, verbose))
    for section in map(tuple, sections):
        yield from (*section, "") if section else ()


class HeadlineRow(msgspec.Struct, frozen=True):
    """What goes wrong, in words about the agent, and what to change.

    `keys` are those of a profile that say so where the agent is meant to do this. They settle a
    finding about a policy; a code without any tells of what no policy asks for.
    """

    code: str
    words: str
    step: str
    keys: tuple[str, ...] = ()


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
    said = row.words if row else one_line(group.finding)
    yield f"{_share(group.runs, judged, noun)}{said}"
    explained = f"harness explain {group.finding.code}"
    yield f"first step: {row.step} ({explained})" if row else f"first step: {explained}"
    if row and row.keys:
        yield f"if your agent means to do so: {' or '.join(row.keys)} in its profile"


def _share(runs: int, judged: int, noun: str) -> str:
    if judged == 1:
        return ""
    return f"all {judged} {noun}s: " if runs == judged else f"{runs} of {judged} {noun}s: "


GROUPS_MAX = 20
"""The most causes in a summary, so that it fits a screen."""

EXAMPLE_COLUMN_MAX = 44
"""The widest column of codes that leaves room for an example beside it."""

ERRORS_MAX = 3
"""The most errors that are named for one place."""


def cause_lines(
    tally: CauseTally, width: int, paint: Paint = plain, noun: str = "run", most: int = GROUPS_MAX
) -> Iterator[str]:
    """Yield a heading and two or three lines a cause; nothing without one."""
    groups = tally.groups()
    if not groups:
        return
    shown = groups[:most]
    column = min(max(len(cause_title(group)) for group in shown), EXAMPLE_COLUMN_MAX)
    article = "an" if noun[0] in "aeiou" else "a"
    yield paint("strong", f"{noun}s  cause, and {article} {noun} that shows it")
    for group in shown:
        yield from _group(group, column, len(noun) + 1, width, paint)
    if left := groups[most:]:
        codes = ", ".join(dict.fromkeys(group.finding.code for group in left))
        yield paint("faint", f"and {len(left)} more: {cut(codes, width - 14)}")


def _group(group: CauseGroup, column: int, left: int, width: int, paint: Paint) -> Iterator[str]:
    title = cause_title(group)
    indent, blanks = " " * (left + 2), " " * max(column - len(title), 0)
    line = f"{group.runs:>{left}}  {paint('fail' if group.fails else 'faint', title)}"
    if len(indent) + max(column, len(title)) + 2 + len(group.example) <= width:
        yield f"{line}{blanks}  {group.example}"
    else:
        yield line
        yield f"{indent}{group.example}"
    yield paint("faint", cut(f"{indent}{cause_text(group)}", width))


def cause_title(group: CauseGroup) -> str:
    """Return the code with its class, and a note if it fails no run."""
    return f"{group.finding.code}{finding_note(group.finding, group.fails)}"


def cause_text(group: CauseGroup) -> str:
    """Return the finding in one line; crashes at one place with several errors name them all."""
    if len(group.errors) < 2:
        return one_line(group.finding)
    named = group.errors.most_common()
    said = [f"{error} in {number}" for error, number in named[:ERRORS_MAX]]
    if left := named[ERRORS_MAX:]:
        said.append(counted(len(left), "other error"))
    return f"the target crashed at {group.finding.place}: {', '.join(said)}"


GONE_MAX = 3
"""The most gone rows of a baseline that are named."""


def baseline_lines(change: BaselineChange | None) -> Iterator[str]:
    """Yield the differences between the runs and the baseline, in a few lines."""
    if change is None:
        return
    said = f"{change.accepted} accepted, {len(change.new)} new, {len(change.gone)} gone"
    left = "; --update-baseline writes it" if change.new or change.gone else ""
    yield f"baseline {change.file}: {said}{'; written' if change.written else left}"
    for row in change.gone[:GONE_MAX]:
        yield f"  gone: {row.code} in {row.run}"
    if len(change.gone) > GONE_MAX:
        yield f"  and {len(change.gone) - GONE_MAX} more are gone"


def first_lines(
    tally: CauseTally,
    runs: Sequence[Result],
    width: int,
    paint: Paint = plain,
    *,
    with_command: bool = True,
) -> Iterator[str]:
    """Yield the headline, the first step, and the command that plays a run of the heaviest
    cause."""
    for line in headline(tally, Counter(run.word for run in runs)):
        yield from (paint("strong", part) for part in wrapped(line, width, ""))
    examples = [group.example for group in tally.groups()[:1] if group.fails]
    repeat = next((run.repeat for run in runs if run.name in examples), "")
    if repeat and with_command:
        yield f"repeat:  {repeat}"


def _classes(runs: Sequence[Result]) -> Iterator[str]:
    """Yield the failed runs by the worst class among their causes."""
    worst = Counter(_worst_class(run.verdict) for run in runs if run.word == "fail")
    said = [f"{name} {worst[name]}" for name in CLASSES if worst[name]]
    said += [f"no class {worst['']}"] if worst[""] else []
    if said:
        yield f"failed runs by their worst cause: {', '.join(said)}"


def _worst_class(verdict: Verdict) -> FindingClass | Literal[""]:
    found = {finding.class_ for finding in verdict.failing if not finding.follows}
    return next((name for name in CLASSES if name in found), "")


def _incidents(runs: Sequence[Result]) -> Iterator[str]:
    seen = Counter(incident for run in runs for incident in run.seen)
    for most, _ in seen.most_common(1):
        number = counted(len(seen), "public incident")
        yield f"would repeat {number} (-v names them), most often {most}"


def not_applicable(runs: Sequence[Result]) -> Iterator[str]:
    """Yield the runs that lack a capability, then those that this world or target cannot play."""
    for lack in lacks(runs):
        yield f"{counted(lack.runs, 'run')} not applicable: {lack.reason}{lack.remedy}"
    yield from _by_reason(
        "not applicable",
        (
            (lack.group, lack.reason, run.name)
            for run in runs
            if run.word == "not_applicable"
            for lack in run.verdict.not_applicable
            if lack.check == "run" and not lack.missing
        ),
    )


def _unknown(runs: Sequence[Result]) -> Iterator[str]:
    unknown = (run for run in runs if run.word == "unknown")
    yield from _by_reason(
        "unknown", (((doubt,), doubt, run.name) for run in unknown for doubt in run.verdict.doubts)
    )


def _by_reason(word: str, found: Iterable[tuple[tuple[str, ...], str, str]]) -> Iterator[str]:
    """Yield reasons with their number of runs; reasons of one group count as one."""
    times, first = Counter[tuple[str, ...]](), dict[tuple[str, ...], tuple[str, str]]()
    for group, reason, name in found:
        times[group] += 1
        first.setdefault(group, (reason, name))
    for group, number in times.most_common(REASONS_MAX):
        reason, name = first[group]
        yield f"{counted(number, 'run')} {word}: {reason} (as in {name})"
    if len(times) > REASONS_MAX:
        yield f"{word} for {len(times) - REASONS_MAX} other reasons: -v names them"


def _unreached(runs: Sequence[Result]) -> Iterator[str]:
    """Yield the steps that the agent's policy left out of runs that count."""
    left = [
        {lack.check for lack in run.verdict.not_applicable} & {*_UNREACHED}
        for run in runs
        if run.word != "not_applicable"
    ]
    times = Counter(check for found in left for check in found)
    if times:
        runs_left = counted(sum(map(bool, left)), "run")
        parts = ", ".join(f"{what} in {times[c]}" for c, what in _UNREACHED.items() if times[c])
        yield f"{runs_left} ended before the last step, which is not a finding: {parts}"


def totals(runs: Sequence[Result], paint: Paint = plain, planned: int = 0) -> str:
    """Return the last line: counts by verdict, the target and the seed."""
    below = below_words(Counter(f.class_ for run in runs for f in run.verdict.below))
    return f"{counts(runs, paint, planned)}{below}; {_targets(runs)}; {_seeds(runs)}"


def counts(
    runs: Sequence[Result],
    paint: Paint = plain,
    planned: int = 0,
    noun: str = "run",
    causes: int = 0,
) -> str:
    """Return the number of runs, and the number of each verdict; of the failed ones also the number
    of their causes, if one cause fails several."""
    words = Counter(run.word for run in runs)
    by = f" by {counted(causes, 'cause')}" if 0 < causes < words["fail"] else ""
    said = {"fail": f"{WORDS['fail']}{by}"}
    parts = [paint(w, f"{words[w]} {said.get(w, verb)}") for w, verb in WORDS.items() if words[w]]
    if planned > len(runs):
        parts.append(f"{planned - len(runs)} not played")
    return f"{counted(max(planned, len(runs)), noun)}: {', '.join(parts) or 'nothing ran'}"


def short_totals(
    runs: Sequence[Result], paint: Paint = plain, planned: int = 0, causes: int = 0
) -> str:
    """Return the last line with the failing counts only, and without the seeds."""
    return f"{counts(runs, paint, planned, causes=causes)}; {_targets(runs)}"


def _targets(runs: Sequence[Result]) -> str:
    return f"target {', '.join(dict.fromkeys(run.target for run in runs))}"


def below_words(times: Mapping[FindingClass | Literal[""], int]) -> str:
    """Return the number of findings that fail no run, by class; "" without any."""
    said = [f"{times[c]} {'weaknesses' if c == 'weakness' else c}" for c in CLASSES if times.get(c)]
    return f"; not failing: {', '.join(said)}" if said else ""


def _seeds(runs: Sequence[Result]) -> str:
    seeds = sorted({run.seed for run in runs})
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
