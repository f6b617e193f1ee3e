"""The data of each run of the page, by pure functions of its result and its history.

The page counts, groups and filters by the fields of `PageRun`. The details of a run of 1,000 turns
stay small for three reasons: an index into one of two lists replaces each digest, long texts are
cut, and a step is a short text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

import msgspec

from harness import providers
from harness.core.history.events import Answered, AnyEvent, Called, Effected, Noted, Stored, Valued
from harness.core.history.history import History
from harness.core.values.messages import Json
from harness.core.values.plans import waited_ms, words
from harness.core.values.verdict import Finding, Verdict
from harness.redaction.encoder import beginning
from harness.report.media.json_lines import finding_fields, not_applicable
from harness.verdicts.event_lines import event_lines
from harness.verdicts.result import Result
from harness.verdicts.tallies import CLASS_WEIGHTS, folded

_NAME = re.compile(r"(?P<rest>.*?)(@(?P<wire>[a-z-]+))?(?P<stream>\+stream)?", re.DOTALL)


class PageRun(msgspec.Struct, frozen=True, omit_defaults=True):
    """One run.

    `folder` is that of its scenario file. `details` is the position of its history in the page, or
    why it has none.
    """

    name: str
    scenario: str
    verdict: str
    outcome: str = ""
    folder: str = ""
    title: str = ""
    target: str = ""
    world: str = ""
    wire: str = ""
    stream: bool = False
    seed: int = 0
    findings: tuple[dict[str, Json], ...] = ()
    known: tuple[dict[str, Json], ...] = ()
    doubts: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    not_applicable: tuple[tuple[str, str], ...] = ()
    repeat: str = ""
    history: str = ""
    kept: str = ""
    seen: tuple[str, ...] = ()
    traceback: str = ""
    notes: tuple[str, ...] = ()


def page_run(run: Result) -> PageRun:
    """Return a run as the page shows it."""
    verdict, named = run.verdict, _NAME.fullmatch(run.name)
    return PageRun(
        **{name: getattr(run, name) for name in _OF_A_RESULT},
        verdict=verdict.verdict,
        outcome=verdict.outcome,
        folder=folder_of(run),
        wire=named["wire"] or providers.DEFAULT if named else "",
        stream=bool(named and named["stream"]),
        findings=tuple(_finding(finding, verdict) for finding in verdict.findings),
        known=tuple(_finding(finding, verdict) for finding in verdict.known),
        doubts=verdict.doubts,
        passed=verdict.passed,
        not_applicable=tuple((n["check"], n["reason"]) for n in not_applicable(verdict)),
    )


_OF_A_RESULT = (
    "name", "scenario", "title", "target", "world", "seed", "repeat", "history", "kept", "seen",
    "traceback", "notes",
)  # fmt: skip
"""The fields that a run has from its result unchanged."""


def folder_of(run: Result) -> str:
    """Return the folder of the scenario file, without parts that repeat the scenario's name."""
    folder = str(PurePosixPath(run.file).parent) if run.file else ""
    return "" if folder == "." else folder


def _finding(finding: Finding, verdict: Verdict) -> dict[str, Json]:
    cause, fails = " ".join(map(str, folded(finding))), finding.fails(verdict.fail_on)
    events, weight = list(finding.events), CLASS_WEIGHTS[finding.class_]
    fields = finding_fields(finding)
    return {**fields, "events": events, "cause": cause, "fails": fails, "weight": weight}


TEXT_MAX = 20_000
"""The most characters of one text; the history has the whole text."""

LANES = {
    "inbox": "inbox",
    "approval": "inbox",
    "outbox": "outbox",
    "tool": "tools",
    "store": "store",
}
"""The lane of each seam; requests for facts are in the model's lane."""


class RunDetails(msgspec.Struct, frozen=True):
    """The events with a line, and the lists of messages and values that they index."""

    events: tuple[dict[str, Json], ...]
    messages: tuple[Json, ...]
    values: tuple[Json, ...]


def run_details(history: History, text_max: int = TEXT_MAX) -> RunDetails:
    """Return the details of a run, with texts of at most `text_max` characters."""
    messages = _places(event.digest for event in history.events if isinstance(event, Noted))
    values = _places(event.digest for event in history.events if isinstance(event, Valued))
    lines = event_lines(history)
    return RunDetails(
        tuple(
            shortened(_event(event, lines[event.n], messages, values), text_max)
            for event in history.events
            if event.n in lines
        ),
        tuple(
            shortened(msgspec.to_builtins(history.messages[digest]), text_max)
            for digest in messages
        ),
        tuple(shortened(history.values[digest], text_max) for digest in values),
    )


def _places(digests: Iterable[str]) -> dict[str, int]:
    return {digest: place for place, digest in enumerate(dict.fromkeys(digests))}


DEPTH_MAX = 100
"""How deep a value may nest in a page. A model may nest one as deep as Python's stack goes."""


def shortened(value: Json, text_max: int, depth: int = 0) -> Json:
    """Return a JSON value with texts cut to `text_max`; the omitted characters are counted."""
    if depth > DEPTH_MAX:
        return "[nested deeper in the history]"
    match value:
        case str() if len(value) > text_max:
            rest = len(value) - text_max
            return f"{beginning(value, text_max)}… [{rest} more characters in the history]"
        case dict():
            return {key: shortened(part, text_max, depth + 1) for key, part in value.items()}
        case list() | tuple():
            return [shortened(part, text_max, depth + 1) for part in value]
    return value


def _event(
    event: AnyEvent, line: str, messages: dict[str, int], values: dict[str, int]
) -> dict[str, Json]:
    """Return the fields of an event, with its lane and its line of the timeline."""
    fields: dict[str, Json] = msgspec.to_builtins(event)
    fields |= {"lane": lane(event), "line": line}
    match event:
        case Called():
            fields["request"] = _request(fields["request"], messages, values)
        case Answered():
            fields["wait"] = waited_ms(event.steps)
            fields["steps"] = [words(step) for step in event.steps]
            if event.blocks:
                fields["blocks"] = messages.get(event.blocks, -1)
        case Stored():
            for row in (*fields.get("added", ()), *fields.get("changed", ())):
                row["message"] = messages.get(row.pop("digest", ""), -1)
    return fields


def _request(
    fields: dict[str, Json], messages: dict[str, int], values: dict[str, int]
) -> dict[str, Json]:
    for name in ("messages", "rows"):
        if name in fields:
            fields[name] = [messages.get(digest, -1) for digest in fields[name]]
    for name in ("system", "tools"):
        if fields.get(name):
            fields[name] = values.get(fields[name], -1)
    return fields


def lane(event: AnyEvent) -> str:
    """Return the lane in which the page draws an event; the agent's lane has starts and ends."""
    match event:
        case Called() | Answered():
            return LANES.get(event.seam, "model")
        case Stored():
            return "store"
        case Effected():
            return "tools"
        case Noted() | Valued():
            return ""
    return "agent"
