"""The screen of `harness doctor`: a table of observations, then the crashes; or JSON Lines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import msgspec

from harness.cli.probe_world import told
from harness.core.values.messages import Json
from harness.doctor import Examination, Observation, Probe
from harness.redaction.encoder import Encoded, json_line
from harness.report.run_report import Paint, Style, plain
from harness.verdicts.command_events import CommandFinished, Event

_HEADS = {
    "connections": "connections",
    "behaviour": "behaviour (always judged, never excused)",
}
_STYLES: dict[str, Style] = {"seen": "pass", "not seen": "fail", "not reached": "not_applicable"}
_FRAMES_MAX = 3


class DoctorReport:
    """Says at the end what was `found`, and what the probes changed `outside` of their copy."""

    def __init__(self, target: str, as_json: bool, width: int, paint: Paint) -> None:
        self._target, self._as_json, self._width, self._paint = target, as_json, width, paint
        self.found: Examination | None = None
        self.outside: Sequence[str] = ()

    def __call__(self, event: Event) -> Iterator[str]:
        """Yield the lines, with the paths of the user's folder; none of a broken examination."""
        if not isinstance(event, CommandFinished) or self.found is None:
            return
        if self._as_json:
            rows = [*map(msgspec.to_builtins, self.found.observations), event.totals]
            yield from (Encoded(told(json_line(each))) for each in rows)
        else:
            lines = report(self._target, self.found, self.outside, self._width, self._paint)
            yield from map(told, lines)


def row(target: str, found: Examination, outside: Sequence[str]) -> dict[str, Json]:
    """Return the examination for a machine, beside its observations and probes."""
    return {
        "target": target,
        "wire": found.wire,
        "probes": len(found.probes),
        "outside": outside,
        "broken": broken_lines(found.probes),
        "profile": msgspec.to_builtins(found.profile) if found.wire else None,
    }


def report(
    target: str, found: Examination, outside: Sequence[str], width: int, paint: Paint = plain
) -> Iterator[str]:
    """Yield the lines of the report; `outside` is what the probes changed beyond their copy."""
    on = f" on {found.wire}" if found.wire else ""
    yield f"{paint('strong', target)}: {len(found.probes)} probes{on}"
    column = max(len(one.item) for one in found.observations) + 2
    for part, head in _HEADS.items():
        rows = [one for one in found.observations if one.part == part]
        if rows:
            yield ""
            yield paint("strong", head)
        for one in rows:
            yield from _row(one, column, width, paint)
    if outside:
        yield ""
        yield paint("fail", "outside of the copy in which the agent was played")
    for line in outside:
        yield from (f"  {part}" for part in _wrapped(line, width - 2))
    yield from _ways_on(found.observations, width, paint)
    yield from _broken(_unsaid(found), width, paint)


def _ways_on(observations: Sequence[Observation], width: int, paint: Paint) -> Iterator[str]:
    """Yield the sections of the docs for each connection that was not seen."""
    items: dict[str, list[str]] = {}
    for one in observations:
        if one.see:
            items.setdefault(one.see, []).append(one.item)
    if items:
        yield ""
        yield paint("strong", "how to connect, or to declare, the parts that were not seen")
    column = max(map(len, items), default=0) + 2
    for see, names in items.items():
        first, *rest = _wrapped(", ".join(names), width - 2 - column)
        yield f"  {see:<{column}}{first}"
        yield from (f"{' ' * (2 + column)}{line}" for line in rest)


def _unsaid(found: Examination) -> list[Probe]:
    """Return the probes whose crash is in no row; an agent of one wire may refuse the others."""
    return [p for p in found.probes if not found.wire or p.requests]


def _row(one: Observation, column: int, width: int, paint: Paint) -> Iterator[str]:
    state = paint(_STYLES[one.state], f"{one.state:<13}")
    indent = " " * (2 + column + 13)
    lines = _wrapped(one.what, width - len(indent))
    lines += [f"finds {finding}" for finding in one.findings]
    yield f"  {one.item:<{column}}{state}{lines[0]}"
    yield from (f"{indent}{line}" for line in lines[1:])


def _wrapped(text: str, width: int) -> list[str]:
    room = max(width, 30)
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]


def _broken(probes: Sequence[Probe], width: int, paint: Paint) -> Iterator[str]:
    """Yield each crash, hang or limit once, with its probes and its stack frames."""
    where: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for probe in probes:
        if probe.broken:
            key = (probe.broken.code, probe.broken.message, probe.frames)
            where.setdefault(key, []).append(probe.scenario.run_name)
    for (code, message, frames), names in where.items():
        yield ""
        yield f"{paint('fail', code)} in {', '.join(names)}"
        yield from (f"  {line}" for line in _wrapped(message, width - 2))
        for frame in frames[-_FRAMES_MAX:]:
            yield from (f"  {line}" for line in frame.splitlines())


def broken_lines(probes: Sequence[Probe]) -> list[Json]:
    """Return the probes in which the target crashed, hung or exceeded a limit."""
    return [
        {
            "probe": probe.scenario.run_name,
            "code": probe.broken.code,
            "message": probe.broken.message,
            "frames": probe.frames,
        }
        for probe in probes
        if probe.broken
    ]
