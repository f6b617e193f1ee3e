"""Presents a campaign as runs, for the files and the baseline that `fuzz` shares with `run`.

The scenarios of a campaign and their names are random. Only the codes of findings stay the same
from campaign to campaign. So each code is one run, and the campaign itself is one more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.core.values.verdict import FAIL_ON, Finding, Verdict
from harness.fuzz.findings import FOLDER, ShrunkFinding
from harness.results.result import Result

if TYPE_CHECKING:
    from harness.fuzz.campaign import Campaign

NOUN = "result"
_SCENARIO = "fuzz"


def fuzz_runs(campaign: Campaign, folder: Path, repeat: Callable[[Path], str]) -> Iterator[Result]:
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
            file=str(files[0]) if files else "", repeat=repeat(files[0]) if files else "",
        )  # fmt: skip


def _of_the_campaign(campaign: Campaign) -> Verdict:
    """Return the run of the campaign; its verdict is unknown if no example ended."""
    doubts = [f"{doubt} ({times}x)" for doubt, times in campaign.doubts.items()]
    doubts += [f"{one.code}: {one.failure}" for one in campaign.findings.unrepeated]
    doubts += [] if campaign.examples else ["no example ended"]
    return Verdict("unknown" if doubts else "pass", doubts=tuple(doubts))


def _of_a_code(campaign: Campaign, code: str, shrunk: list[ShrunkFinding] | None) -> Verdict:
    """Return the run of one code: its shrunk findings, else the first one seen."""
    seen = next((c.finding for c in campaign.causes.values() if c.finding.code == code), None)
    first = seen or Finding(code, "waits to be shrunk")
    found = [one.finding for one in shrunk or ()]
    fail_on = campaign.plan.fail_on or FAIL_ON
    return Verdict("fail", findings=tuple(found or [first]), fail_on=fail_on)
