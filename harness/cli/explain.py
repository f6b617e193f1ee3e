"""`harness explain`: what a finding's code, a check or a fault means."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from harness.cli.options import every_verb
from harness.core.errors import InputError, nearest


@click.command("explain")
@click.argument("code")
@every_verb
def command(code: str, as_json: bool) -> int:
    """Explain CODE: a finding's code, a check, or a fault by its name or id."""
    from harness.cli import terminal
    from harness.report.json_lines import line

    text = explanation(code)
    terminal.out(line({"name": code, "text": text}) if as_json else text)
    return 0


def explanation(code: str) -> str:
    """The text for a code. Raises InputError, with the nearest right name, for an unknown one."""
    from harness.checks.judge import explain, names

    faults = dict(_faults())
    if code in faults:
        return faults[code]
    try:
        return explain(code)
    except InputError:
        hint = nearest(code, {*faults, *names()})
        raise InputError(f"no such code, check or fault; {hint}", code) from None


def _faults() -> Iterator[tuple[str, str]]:
    """Each fault's text under its kind, its bare name and its ids."""
    from harness.faults import every

    for kind, function, stage in every():
        name = kind.partition(".")[2]
        codes = function.__globals__.get("CODES", {}).get(name, ())
        settings = [
            str(p) for p in inspect.signature(function).parameters.values()
            if p.kind is p.KEYWORD_ONLY
        ]  # fmt: skip
        parts = [
            f"{kind}  (fault, bends the {stage})",
            inspect.getdoc(function) or "",
            f"Settings: {'; '.join(settings) or 'none'}",
        ]
        if codes:
            parts.append(f"In the fault table: {', '.join(codes)}")
        for key in (kind, name, *codes):
            yield key, "\n\n".join(parts)
