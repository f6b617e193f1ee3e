"""The checks that a scenario insists on (`expect.must`), and why one of them was not asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import msgspec

from harness.core.history.history import History
from harness.core.scenario.scenario import Expect
from harness.core.values.loaded_plugins import unknown_name
from harness.core.values.verdict import NotApplicable


def unmet(
    history: History,
    wanted: Expect,
    lacks: Iterable[NotApplicable],
    known: Collection[str],
    chosen: Collection[str],
) -> Iterator[str]:
    """Yield a reason for each check that the scenario names and that was not asked.

    If the agent's profile says that it has no store, checks of the store cause no doubt. Nor does a
    check that is not asked under an overlay: its faults may keep the plan's own events away.
    """
    is_overlaid = bool(history.trace.settings.get("overlaid"))
    reasons = {
        n.check: f"is {n.reason}" if n.kind == "unasked" else n.reason
        for n in lacks
        if not (is_overlaid and n.kind == "unasked")
    }
    if _declares_no_store(history):
        reasons = {c: r for c, r in reasons.items() if r != _NO_STORE}
    for name in wanted.must:
        if name not in known:
            yield f"expect.must: there is no check {name!r}; {unknown_name(name, known)}"
        elif name in reasons and name in chosen:
            yield f"the scenario asks for {name}, which {reasons[name]}"


_NO_STORE = "needs the seam store"


def _declares_no_store(history: History) -> bool:
    try:
        profile = history.trace.profile
    except msgspec.ValidationError:
        return False
    return profile.declares("store") is False and not profile.declares("own_store")
