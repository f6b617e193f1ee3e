"""A diff on one screen: new and gone findings, the first calls that differ, the numbers.

With `-v` each run that differs follows, with its call on both sides and its numbers.
As JSON Lines it is one object for each run of both sides, then one for all runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from harness.core.values.messages import Json
from harness.core.values.verdict import Finding, Verdict
from harness.redaction.encoder import json_line
from harness.report.command_summary import cause_title
from harness.report.media.json_lines import VERSION, finding_fields
from harness.report.run_report import Paint, Style, cut, finding_note, one_line, plain
from harness.verdicts.event_lines import counted
from harness.verdicts.run_diff import Diff, Figures, OneSide, RunDiff, by_words, total
from harness.verdicts.tallies import CauseTally

NEW_MAX, GONE_MAX, CALLS_MAX, BESIDE_MAX, LEFT_MAX = 4, 3, 4, 2, 2
"""The rows of each part of the screen, including the row that counts the omitted ones: the whole
stays within 24 lines."""

UNITS = {"virtual_s": " s", "real_s": " s"}


def screen(diff: Diff, width: int, paint: Paint = plain) -> Iterator[str]:
    """The summary, in at most 24 lines."""
    yield from heading(diff, width)
    yield from _findings(diff, "new", width, paint)
    yield from _findings(diff, "gone", width, paint)
    yield from _calls(diff, width, paint)
    yield from _beside(diff, width, paint)
    yield from figure_lines(total(r.a.figures for r in diff.runs),
                            total(r.b.figures for r in diff.runs))  # fmt: skip
    yield from _left(diff, width)
    yield counts(diff, paint)


def heading(diff: Diff, width: int) -> Iterator[str]:
    """Yield the names of the two sides."""
    for letter, words in zip("AB", diff.sides, strict=True):
        yield cut(f"{letter}  {words}", width)


def counts(diff: Diff, paint: Paint = plain) -> str:
    """Return the last line: how many runs differ, of how many."""
    left = f"; {len(diff.left)} not compared" if diff.left else ""
    said = paint("fail" if diff.has_new else "pass", _how_many(len(diff.unlike), len(diff.runs)))
    return f"{counted(len(diff.runs), 'run')} compared: {said}{left}"


def _how_many(unlike: int, runs: int) -> str:
    if not unlike:
        return "none differs"
    if unlike == runs:
        return "it differs" if runs == 1 else "all differ"
    return f"{unlike} {'differs' if unlike == 1 else 'differ'}"


def tally(diff: Diff, part: str) -> CauseTally:
    """Return new or gone findings by code and cause, without those that follow from others."""
    found = CauseTally()
    for run in diff.runs:
        shown = run.new if part == "new" else run.gone
        failing = shown if part == "gone" else run.failing
        fails: Sequence[Finding] = [finding for finding in shown if finding in failing]
        found.add(run.name, Verdict("fail" if fails else "pass", findings=shown))
    return found


def _findings(diff: Diff, part: str, width: int, paint: Paint) -> Iterator[str]:
    groups = tally(diff, part).groups()
    if not groups:
        return
    most = NEW_MAX if part == "new" else GONE_MAX
    style: Style = "fail" if part == "new" else "pass"
    yield paint("strong", f"{part} in B")
    rows = [(f"{group.runs:>6}  {cause_title(group)}", group.example) for group in groups]
    yield from _rows(rows, most, width, paint, style)


def _rows(
    rows: Sequence[tuple[str, str]], most: int, width: int, paint: Paint, style: Style = "faint"
) -> Iterator[str]:
    """Yield lines of a text and an example; rows beyond `most` are counted."""
    shown = rows if len(rows) <= most else rows[: most - 1]
    column = min(max(len(text) for text, _ in shown), max(width - 30, 30))
    for text, example in shown:
        said = text if len(text) <= column else cut(text, column)
        blanks = " " * (column - len(said) + 2)
        yield f"{paint(style, said)}{blanks}{cut(example, width - column - 2)}"
    if len(rows) > most:
        yield paint("faint", f"        and {len(rows) - len(shown)} more: -v")


def _calls(diff: Diff, width: int, paint: Paint) -> Iterator[str]:
    groups = by_words((run.change.what, run) for run in diff.runs if run.change)
    if groups:
        yield paint("strong", "the first call that differs, A → B")
        rows = [(f"{len(runs):>6}  {what}", _example(runs)) for what, runs in groups]
        yield from _rows(rows, CALLS_MAX, width, paint, "unknown")


def _example(runs: Sequence[RunDiff]) -> str:
    run = min(runs, key=lambda run: len(run.name))
    return f"{run.name} {run.a.call or run.b.call}".strip()


def _beside(diff: Diff, width: int, paint: Paint) -> Iterator[str]:
    groups = by_words((what, run) for run in diff.runs for what in run.beside)
    if groups:
        yield paint("strong", "sent with requests, A → B")
        rows = [(f"{len(runs):>6}  {what}", runs[0].name) for what, runs in groups]
        yield from _rows(rows, BESIDE_MAX, width, paint)


def figure_lines(a: Figures, b: Figures, indent: str = "") -> Iterator[str]:
    """Yield the numbers of both sides, in two lines."""
    said = [words for name in Figures.__struct_fields__
            if (words := _figure(name, getattr(a, name), getattr(b, name)))]  # fmt: skip
    yield f"{indent}{', '.join(said[:3])}" if said else f"{indent}no call"
    if said[3:]:
        yield f"{indent}{', '.join(said[3:])}"


def _figure(name: str, a: float, b: float) -> str:
    if not a and not b:
        return ""
    unit = UNITS.get(name, "")
    digits = ",.1f" if unit else ",d"
    label = name.removesuffix("_s").replace("_", " ") + (" time" if unit else "")
    if format(a, digits) == format(b, digits):
        return f"{label} {a:{digits}}{unit}"
    return f"{label} {a:{digits}} → {b:{digits}}{unit}"


def _left(diff: Diff, width: int) -> Iterator[str]:
    """Yield why runs cannot be compared, the most frequent reason first."""
    reasons = by_words((left.reason, left.name) for left in diff.left)
    shown = reasons if len(reasons) <= LEFT_MAX else reasons[: LEFT_MAX - 1]
    for reason, names in shown:
        yield cut(f"not compared: {counted(len(names), 'run')} (as {names[0]}): {reason}", width)
    if others := reasons[len(shown) :]:
        runs = sum(len(names) for _, names in others)
        yield f"not compared: {counted(runs, 'run')} for other reasons: -v"


def details(diff: Diff, width: int, paint: Paint = plain) -> Iterator[str]:
    """Yield each run that differs, and each that cannot be compared."""
    for run in diff.unlike:
        yield ""
        yield paint("strong", run.name)
        yield from run_lines(run, width, paint)
    for left in diff.left:
        yield cut(f"not compared: {left.name}: {left.reason}", width)


def run_lines(run: RunDiff, width: int, paint: Paint = plain) -> Iterator[str]:
    """Yield the differences of one run."""
    verdicts, *notes = run.notes
    yield f"  {verdicts}"
    yield from _found("new ", run.new, run.failing, width, paint)
    yield from _found("gone", run.gone, (), width, paint)
    for note in notes:
        line = cut(f"  {note}", width)
        yield paint("faint", line) if note.startswith("  ") else line
    yield from figure_lines(run.a.figures, run.b.figures, "  ")
    yield paint("faint", f"  A {run.a.result.history}")
    yield paint("faint", f"  B {run.b.result.history}")


def _found(
    word: str, found: Iterable[Finding], failing: Sequence[Finding], width: int, paint: Paint
) -> Iterator[str]:
    for finding in found:
        follows = f", follows from {finding.follows}" if finding.follows else ""
        note = finding_note(finding, word == "gone" or finding in failing)
        style: Style = "fail" if finding in failing else "faint"
        yield f"  {word} {paint(style, finding.code)}{note}{follows}"
        yield cut(f"       {one_line(finding)}", width)


def json_lines(diff: Diff) -> Iterator[str]:
    """Yield all lines."""
    yield from map(run_line, diff.runs)
    yield last_line(diff)


def run_line(run: RunDiff) -> str:
    """Return the object of a run of both sides."""
    return json_line(
        {
            "version": VERSION,
            "name": run.name,
            "scenario": run.b.result.scenario,
            "differs": run.differs,
            "new": [_finding(found, found in run.failing) for found in run.new],
            "gone": [_finding(found, False) for found in run.gone],
            "first_call": _first_call(run),
            "requests": list(run.beside),
            "a": _side(run.a),
            "b": _side(run.b),
        }
    )


def last_line(diff: Diff) -> str:
    """Return the object of all runs."""
    return json_line(
        {
            "version": VERSION,
            "a": diff.a,
            "b": diff.b,
            "compared": len(diff.runs),
            "differ": len(diff.unlike),
            "new": sum(len(run.failing) for run in diff.runs),
            "figures_a": msgspec.to_builtins(total(run.a.figures for run in diff.runs)),
            "figures_b": msgspec.to_builtins(total(run.b.figures for run in diff.runs)),
            "not_compared": [msgspec.to_builtins(left) for left in diff.left],
        }
    )


def _finding(found: Finding, fails: bool) -> dict[str, Json]:
    fields = {**finding_fields(found), "fails": fails}
    return {name: value for name, value in fields.items() if name != "check"}


def _first_call(run: RunDiff) -> dict[str, Json]:
    """Return the first call that differs; empty if no call differs."""
    if run.change is None:
        return {}
    return {
        "what": run.change.what,
        "by_world": run.change.by_world,
        "a": _call(run.a),
        "b": _call(run.b),
    }


def _call(side: OneSide) -> dict[str, Json]:
    return {"call": side.call, "event": side.event, "line": side.line}


def _side(side: OneSide) -> dict[str, Json]:
    return {
        "target": side.result.target,
        "verdict": side.verdict.verdict,
        "outcome": side.verdict.outcome,
        "history": side.result.history,
        "figures": msgspec.to_builtins(side.figures),
    }
