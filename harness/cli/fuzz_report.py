"""The output of `harness fuzz`: its progress, what it finds, and the campaign as results.

The scenarios of a campaign and their names are random. Only the codes of findings stay the same
from campaign to campaign. So each code is one result, and the campaign itself is one more.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from harness.cli import terminal
from harness.cli.options import plugin_flags
from harness.cli.reports import reporting, wanted_reports
from harness.comparison.writings import WRITING
from harness.core.values.verdict import FAIL_ON, Finding, Verdict, worst
from harness.fuzz.batch import BatchResult
from harness.fuzz.example import scenario_file
from harness.fuzz.findings import FOLDER, ShrunkFinding
from harness.fuzz.replay import STATES, Replayed
from harness.redaction.encoder import json_line
from harness.report.command_summary import baseline_lines, cause_lines
from harness.report.media.json_lines import baseline_line
from harness.report.reach_lines import reach_lines
from harness.report.run_report import one_line
from harness.verdicts.command_events import CommandFinished, CommandStarted, Event
from harness.verdicts.event_lines import counted, two_figures
from harness.verdicts.result import Result
from harness.verdicts.tallies import CauseTally

if TYPE_CHECKING:
    from harness.fuzz import batch
    from harness.fuzz.campaign import Campaign
    from harness.fuzz.campaign_journal import CampaignPlan
    from harness.fuzz.example import RawFinding
    from harness.fuzz.held_examples import CauseCount
    from harness.sweep.sweep_folder import SweepPlan

NOUN = "result"


def command_of_found(file: Path, plan: CampaignPlan | SweepPlan, *more: str) -> str:
    """Return the command that plays a scenario which a campaign or a sweep has written."""
    words = ["harness", "run", str(file), "--target", plan.target]
    words += ["--profile", plan.profile_name] if plan.profile_name else []
    words += ["--store", plan.store] if plan.store else []
    return shlex.join([*words, *more, *plugin_flags()])


_SCENARIO = "fuzz"


class FuzzReport:
    """The progress and report of a campaign of `most` examples, or until `end_s` (monotonic)."""

    def __init__(
        self, campaign: Campaign, folder: Path, most: int | None, end_s: float | None, as_json: bool
    ) -> None:
        self._campaign, self._folder, self._as_json = campaign, folder, as_json
        self._most, self._end_s = most, end_s
        self._began_s = time.monotonic()
        self._before = campaign.examples
        self._printed: set[str] = set()
        self._line = terminal.progress_line(self._words, always=True)
        self._step: Callable[[], object] = str

    def __enter__(self) -> Self:
        plan = self._campaign.plan
        terminal.note(f"seed {plan.seed}, target {plan.target}, into {self._folder}")
        if self._before:
            terminal.note(f"continuing after {self._before} examples")
            for reduced in self._campaign.findings.kept.values():
                self._finding(reduced)
        self._step = self._line.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._line.__exit__(*error)

    def _words(self) -> str:
        """Return the state, and about how long the campaign goes on."""
        now_s, played = time.monotonic(), self._campaign.examples - self._before
        left_s = (self._end_s or 0.0) - now_s
        if self._most:
            left = self._most - self._campaign.examples
            left_s = (now_s - self._began_s) * left / played if played else 0.0
        return f"{self._state()}{f', about {left_s / 60:.0f} min left' if left_s > 0 else ''}"

    def result(self, result: batch.Result) -> None:
        """Show a result."""
        if isinstance(result, Replayed):
            self._replayed(result)
        if (new := self._campaign.new_of(result)) is not None:
            self._finding(new)
        elif isinstance(result, ShrunkFinding) and result.failure:
            text = f"{result.code} of example {result.example}: {result.failure}"
            terminal.note(f"no file: {text}")
        elif isinstance(result, BatchResult):
            for found in result.found:
                terminal.note(f"seen {found.code}: {self._run_file(found.example).parent}")
        self._step()

    def _replayed(self, result: Replayed) -> None:
        """Tell an example that was taken up and does not simply fail as before."""
        why = f": {result.reason}" if result.reason else ""
        if result.state != "fails":
            terminal.note(f"{result.name}: {STATES[result.state]}{why}")
        if result.shown is not None and result.shown.failure:
            terminal.note(f"no file: {result.shown.code} of {result.name}: {result.shown.failure}")

    def _run_file(self, example: int) -> Path:
        return scenario_file(self._folder, example)

    def _repeat(self, file: Path, code: str) -> str:
        """Return the command that plays a file of the campaign."""
        more = ["--compare"] if code == WRITING else []
        return command_of_found(file, self._campaign.plan, *more)

    def _finding(self, reduced: ShrunkFinding) -> None:
        if reduced.name in self._printed:  # a result of an earlier example arrived later
            return
        self._printed.add(reduced.name)
        file = self._folder / FOLDER / f"{reduced.name}.yaml"
        repeat = self._repeat(file, reduced.code)
        if self._as_json:
            _out(json_line(self._row(reduced, file, repeat)))
            return
        size = f"{counted(reduced.turns, 'turn')}, {counted(reduced.faults, 'fault')}"
        _out(f"{terminal.paint()('fail', 'found')} {reduced.code}  ({size})")
        _out(f"    {one_line(reduced.finding)}")
        _out(f"    {repeat}")

    def _row(self, reduced: ShrunkFinding, file: Path, repeat: str) -> dict[str, Any]:
        return {
            "code": reduced.code,
            "message": reduced.finding.message,
            "file": str(file),
            "example": reduced.example,
            "turns": reduced.turns,
            "faults": reduced.faults,
            "repeat": repeat,
        }

    def _state(self) -> str:
        campaign, spent_s = self._campaign, time.monotonic() - self._began_s
        runs = campaign.examples + campaign.candidates - self._before
        waiting = len(campaign.findings.waiting)
        return (
            f"{campaign.examples:,} examples and {campaign.candidates:,} runs to shrink, "
            f"{two_figures(runs / max(spent_s, 0.001))} runs/s, "
            f"{len(campaign.findings.kept)} found, "
            f"{f'{waiting} to shrink, ' if waiting else ''}"
            f"{campaign.corpus.faults} faults, {campaign.corpus.coverage:,} covered"
        )

    def ending(self, why: str = "the time is over", *, interrupted: bool = False) -> int:
        """Tell what was found and return the exit status. `why` says why findings still wait."""
        started = CommandStarted(verb="fuzz", noun=NOUN)

        def last(event: Event) -> Iterator[str]:
            if not isinstance(event, CommandFinished):
                return
            if self._as_json:
                yield json_line(event.totals)
                yield from [baseline_line(event.baseline)] if event.baseline else ()
            else:
                yield from self._last_lines(why)
                yield from baseline_lines(event.baseline)

        with reporting(started, last, interrupted=interrupted) as tell:
            for run in fuzz_runs(self._campaign, self._folder, self._repeat):
                tell(run)
            tell.totals = self._last_row(worst(*tell.words))
        return tell.status

    def _last_lines(self, why: str) -> Iterator[str]:
        campaign = self._campaign
        yield from self._summary()
        yield self._state()
        for left in self._unshrunk():
            yield f"not shrunk, {why}: {left.code}"
            yield f"    {self._repeat(self._run_file(left.example), left.code)}"
        if campaign.taken.results:
            yield _taken_line(campaign)
        if not campaign.has_played:
            yield "no example ended: allow more minutes, or see whether the target hangs"
        for lack, examples in campaign.held.not_applicable():
            yield f"not applicable: {counted(examples, 'example')} with a finding: {lack.reason}"
            yield "    connect it or declare it: docs/profiles.md#capabilities"
        yield from reach_lines(campaign.reach, terminal.width())
        for doubt, times in campaign.doubts.items():
            yield f"in doubt ({times}x): {doubt}"
        yield f"seed {campaign.plan.seed}; to continue: {self._resume()}"

    def _unshrunk(self) -> list[RawFinding]:
        """Return the first waiting finding of each code that has no shrunk finding."""
        shrunk = {reduced.code for reduced in self._campaign.findings.kept.values()}
        first: dict[str, RawFinding] = {}
        for found in self._campaign.findings.waiting:
            if found.code not in shrunk:
                first.setdefault(found.code, found)
        return [first[code] for code in sorted(first)]

    def _unshrunk_row(self, found: RawFinding) -> dict[str, Any]:
        file = self._run_file(found.example)
        return {
            "code": found.code,
            "message": found.finding.message,
            "example": found.example,
            "file": str(file),
            "repeat": self._repeat(file, found.code),
        }

    def _summary(self) -> Iterator[str]:
        """Return the causes: how many examples show each, and the file of a shrunk one."""
        tally = CauseTally()
        files = {r.code: f"{FOLDER}/{r.name}.yaml" for r in self._campaign.findings.kept.values()}
        for count in self._campaign.causes.values():
            file = self._run_file(count.example)
            where = str(file.relative_to(self._folder)) if file.exists() else ""
            example = where or f"example {count.example}"
            tally.put(count.finding, files.get(count.finding.code, example), count.runs)
        lines = list(cause_lines(tally, terminal.width(), terminal.paint(), "example"))
        yield from (*lines, "") if lines else ()

    def _last_row(self, word: str) -> dict[str, Any]:
        campaign = self._campaign
        return {
            "seed": campaign.plan.seed,
            "target": campaign.plan.target,
            "verdict": word,
            "examples": campaign.examples,
            "candidates": campaign.candidates,
            "model_calls": campaign.model_calls,
            "findings": len(campaign.findings.kept),
            "causes": [_cause_row(count) for count in campaign.causes.values()],
            "waiting": sorted({found.code for found in campaign.findings.waiting}),
            "unshrunk": [self._unshrunk_row(found) for found in self._unshrunk()],
            "unrepeated": [f"{r.code}: {r.failure}" for r in campaign.findings.unrepeated],
            "not_applicable": [
                {"capability": lack.missing, "examples": examples, "reason": lack.reason}
                for lack, examples in campaign.held.not_applicable()
            ],
            "never_asked": sorted(campaign.reach.never_asked),
            "reach": campaign.reach.as_json(),
            "taken_up": campaign.taken.counts(),
            "doubts": list(campaign.doubts),
            "corpus": len(campaign.corpus),
            "faults": campaign.corpus.faults,
            "pairs": campaign.corpus.pairs,
            "coverage": campaign.corpus.coverage,
            "resume": self._resume(),
        }

    def _resume(self) -> str:
        return shlex.join(["harness", "fuzz", "--resume", str(self._folder), *plugin_flags()])


def _out(text: str) -> None:
    """Print a line of the report, unless standard output is a document of the command."""
    if not wanted_reports().takes_standard_output:
        terminal.out(text)


def _taken_line(campaign: Campaign) -> str:
    """Return what the examples came to that were taken up."""
    counts = campaign.taken.counts()
    told = [f"{number} {STATES[state]}" for state, number in counts.items() if number]
    return f"{counted(len(campaign.taken.examples), 'example')} taken up: {', '.join(told)}"


def _cause_row(count: CauseCount) -> dict[str, Any]:
    finding = count.finding
    return {
        "code": finding.code,
        "class": finding.class_ or None,
        "examples": count.runs,
        "first": count.example,
        "message": finding.message,
    }


def fuzz_runs(
    campaign: Campaign, folder: Path, repeat: Callable[[Path, str], str]
) -> Iterator[Result]:
    """Return the campaign as a run, then each code; `repeat` gives the command of a file.

    The run of a code names its first shrunk scenario, if there is one.
    """
    plan, shrunk = campaign.plan, dict[str, list[ShrunkFinding]]()
    for one in campaign.findings.kept.values():
        shrunk.setdefault(one.code, []).append(one)
    blank = Result(
        name=f"{_SCENARIO}/campaign", scenario=_SCENARIO, title=f"seed {plan.seed}",
        target=plan.target, world="", seed=plan.seed, verdict=_of_the_campaign(campaign),
    )  # fmt: skip
    yield blank
    waiting = {found.code for found in campaign.findings.waiting}
    for code in sorted({*shrunk, *waiting}):
        files = [folder / FOLDER / f"{one.name}.yaml" for one in shrunk.get(code, ())]
        yield msgspec.structs.replace(
            blank, name=f"{_SCENARIO}/{code}", verdict=_of_a_code(campaign, code, shrunk.get(code)),
            file=str(files[0]) if files else "", repeat=repeat(files[0], code) if files else "",
        )  # fmt: skip


def _of_the_campaign(campaign: Campaign) -> Verdict:
    """Return the run of the campaign; its verdict is unknown if no example ended."""
    doubts = [f"{doubt} ({times}x)" for doubt, times in campaign.doubts.items()]
    doubts += [f"{one.code}: {one.failure}" for one in campaign.findings.unrepeated]
    doubts += [] if campaign.has_played else ["no example ended"]
    return Verdict("unknown" if doubts else "pass", doubts=tuple(doubts))


def _of_a_code(campaign: Campaign, code: str, shrunk: list[ShrunkFinding] | None) -> Verdict:
    """Return the run of one code: its shrunk findings, else the first one seen."""
    seen = next((c.finding for c in campaign.causes.values() if c.finding.code == code), None)
    first = seen or Finding(code, "waits to be shrunk")
    found = [one.finding for one in shrunk or ()]
    fail_on = campaign.plan.fail_on or FAIL_ON
    return Verdict("fail", findings=tuple(found or [first]), fail_on=fail_on)
