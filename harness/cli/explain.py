"""`harness explain`: what a finding's code, a check, a fault or an incident means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from harness.cli.options import every_verb, plugins
from harness.core.values.errors import InputError
from harness.core.values.loaded_plugins import unknown_name
from harness.files.bundle import MARK

if TYPE_CHECKING:
    from harness.catalogue import Incident
    from harness.faults import Fault


@click.command("explain")
@click.argument("code")
@plugins
@every_verb
def command(code: str, as_json: bool) -> int:
    """Explain CODE: a finding's code, a check, a fault by its name or id, or incidents:N.

    A name after @ is of what comes along: the story of a scenario (@loops/circles), or a page.
    """
    from harness.cli import terminal
    from harness.report.json_lines import line

    text = explanation(code)
    terminal.out(line({"name": code, "text": text}) if as_json else text)
    return 0


def explanation(code: str) -> str:
    """The text for a code. Raises InputError, with the nearest right name, for an unknown one."""
    from harness.catalogue import incident
    from harness.checks.judge import explain, names
    from harness.cli.bundle_text import bundle_text

    if code.startswith(MARK):
        return bundle_text(code)
    if row := incident(code):
        return _incident(code, row)
    faults = dict(_faults())
    if code in faults:
        return faults[code]
    try:
        return explain(code)
    except InputError:
        hint = unknown_name(code, {*faults, *names()})
        raise InputError(f"no such code, check or fault; {hint}", code) from None


def _incident(code: str, row: Incident) -> str:
    return "\n\n".join(
        [
            f"{code}  {row.where}",
            f"Seen: {row.symptom}.",
            f"Why, as reported: {row.cause}. On the wire: {row.trigger}.",
            f"Breaks: {', '.join(row.invariants)}.",
        ]
    )


def _faults() -> Iterator[tuple[str, str]]:
    """Yield each fault's text under its kind, its bare name and its rows (one row, many texts)."""
    from harness.faults import faults

    texts: dict[str, list[str]] = {}
    for fault in faults().values():
        for key in (fault.kind, fault.kind.partition(".")[2], *fault.codes):
            texts.setdefault(key, []).append(_fault(fault))
    for key, found in texts.items():
        yield key, "\n\n".join(found)


def _fault(fault: Fault) -> str:
    from harness.catalogue import ROWS

    settings = [f"{name}={default!r}" for name, default in fault.defaults.items()]
    parts = [
        f"{fault.kind}  (fault, bends the {fault.stage})",
        fault.text,
        f"Strikes on: {', '.join(fault.seams)}. Settings: {', '.join(settings) or 'none'}.",
    ]
    if fault.wires:
        parts.append(f"Only on the wire: {', '.join(fault.wires)}.")
    for code in fault.codes:
        row = ROWS[code]
        seen = f" Seen: {row.seen}." if row.seen else ""
        parts.append(f"{code}: {row.fault}. A correct agent: {row.right}.{seen}")
    return "\n\n".join(parts)
