"""A run as text that stays the same as long as the agent does: what a snapshot test keeps.

The verdict and the findings come first, for they are what a reviewer reads; then the canonical
history, one event a line, without what differs between machines and versions. A team whose agent is
not perfect yet keeps this in its repository, and sees in a diff what a change of the agent changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.history.history import History, canonical
from harness.core.values.verdict import Verdict


def snapshot(name: str, verdict: Verdict, history: History) -> str:
    """The text of one run."""
    return "\n".join(
        [f"run {name}: {verdict.verdict}, {verdict.outcome}", *_lines(verdict, history)]
    )


def _lines(verdict: Verdict, history: History) -> Iterator[str]:
    for kind, found in (("finding", verdict.findings), ("known", verdict.known)):
        for finding in found:
            events = ", ".join(f"#{n}" for n in finding.events)
            yield f"{kind} {finding.code}: {finding.message}{f' ({events})' if events else ''}"
    for doubt in verdict.doubts:
        yield f"doubt {doubt}"
    yield from canonical(history).decode().splitlines()
