"""The journal of a campaign: JSON Lines, appended as results arrive.

The first line describes the campaign; each other line is a batch's result, a shrunk finding, or
tells of examples that were taken up. A resume needs only the journal: it cuts a torn last line and
repeats interrupted work.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from harness.core.scenario.scenario import DEFAULT_WIRE
from harness.core.values.errors import InputError
from harness.core.values.profile import Profile
from harness.core.values.verdict import FindingClass
from harness.files.appended_lines import AppendedLines, lines_in, without_torn_line
from harness.files.regular_file import whole
from harness.fuzz.batch import SIZE, BatchResult
from harness.fuzz.findings import ShrunkFinding
from harness.fuzz.replay import Replayed, TakenUp

FILE = "campaign.jsonl"
VERSION = 3


class CampaignPlan(msgspec.Struct, frozen=True, kw_only=True, tag="campaign"):
    """The settings of a campaign, which are enough to repeat it.

    `plugins` are the modules of the plug-ins that it uses. Findings of the class `fail_on` and
    worse are kept. `profile` is the agent's profile, `profile_name` its name as the user wrote it.
    `store` is the one that the command names. A batch has `size` examples. `compare`: examples
    without faults are played in their other writings too. `orders`: examples have orders of events.
    """

    target: str
    seed: int
    wire: str = DEFAULT_WIRE
    v: int = VERSION
    plugins: tuple[str, ...] | UnsetType = UNSET
    fail_on: FindingClass | UnsetType = UNSET
    profile: Profile | UnsetType = UNSET
    profile_name: str | UnsetType = UNSET
    store: str | UnsetType = UNSET
    keep: bool | UnsetType = UNSET
    compare: bool | UnsetType = UNSET
    orders: bool | UnsetType = UNSET
    size: int = SIZE


Told: TypeAlias = BatchResult | ShrunkFinding | TakenUp | Replayed
Line: TypeAlias = CampaignPlan | Told
_decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


class Journal(AppendedLines):
    """The journal in a folder, open for writing."""

    def __init__(self, folder: Path, whole_bytes: int = 0) -> None:
        super().__init__(folder / FILE, whole_bytes)


class CampaignRecord(msgspec.Struct, frozen=True):
    """The content of a journal; `whole_bytes` is its size without a torn last line."""

    plan: CampaignPlan
    lines: tuple[Told, ...]
    whole_bytes: int


def read(folder: Path) -> CampaignRecord:
    """Read the journal of a campaign. Raises InputError for a missing or foreign journal."""
    path = folder / FILE
    if not path.exists():
        raise InputError(f"no campaign here: there is no {FILE}", str(folder))
    return record_of(whole(path), path)


def record_of(data: bytes, path: Path) -> CampaignRecord:
    """Return the content of a journal. Raises InputError for a foreign one, naming its `path`."""
    data = without_torn_line(data)
    lines = list(lines_in(data, _decoder, path, "campaign"))
    if not lines or not isinstance(lines[0], CampaignPlan):
        raise InputError(
            "does not begin with a campaign: start a new one with another --out", str(path)
        )
    if lines[0].v != VERSION:
        what = f"a campaign of version {lines[0].v}; this loop-harness continues version {VERSION}"
        raise InputError(what, str(path))
    rest = tuple(line for line in lines[1:] if not isinstance(line, CampaignPlan))
    return CampaignRecord(lines[0], rest, len(data))
