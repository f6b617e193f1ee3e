"""A damaged session loads, the user is told, and the next two messages get an ordinary answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.agent import build
from harness.core.history.events import Called
from harness.core.scenario.scenario import Expect, InboxItem, Scenario, ToolScript, Turn
from harness.core.values.brief import Brief
from harness.core.values.calls import OutboxRequest
from harness.runner import Run, run
from harness.targets import of_callable
from tests.stores import damaged

NEXT = Scenario(
    name="next-two",
    tools={"look": ToolScript(description="Look at an order")},
    inbox=(InboxItem(id="m1", text="Are you there?"), InboxItem(id="m2", text="And now?")),
    script=(Turn(say="I am here."), Turn(say="Still here.")),
    expect=Expect(outcome="completed", must=("outbound_once", "role_alternation")),
)


def _answered(store: str, lay: Callable[[Path], None], world: Any = None) -> Run:
    """The next two messages, after `lay` has put the old session into the agent's folder."""

    def agent(brief: Brief) -> None:
        lay(Path(brief.session_dir))
        build(brief).run()

    return run(NEXT, of_callable(agent, {"store": store}), world=world)


def _said(result: Run) -> list[tuple[str, str, str]]:
    requests = [e.request for e in result.history.events if isinstance(e, Called)]
    outbox = [r for r in requests if isinstance(r, OutboxRequest)]
    return [(r.kind, r.in_reply_to, r.text) for r in outbox]


def _check(result: Run, told: str) -> None:
    said = _said(result)
    assert [s for s in said if s[0] != "notice"] == [
        ("final", "m1", "I am here."),
        ("final", "m2", "Still here."),
    ]
    notices = [text for kind, _, text in said if kind == "notice"]
    assert len(notices) == bool(told), notices
    assert all(told in text for text in notices), notices
    assert [f"{f.code}: {f.message}" for f in result.verdict.findings] == []
    assert result.verdict.verdict == "pass"


@pytest.mark.parametrize("name", damaged.JSONL)
def test_damaged_json_lines_get_an_ordinary_answer(name: str) -> None:
    damage, told = damaged.JSONL[name]
    _check(_answered("jsonl", lambda f: damaged.jsonl(f / "session.jsonl", damage)), told)


@pytest.mark.parametrize("name", damaged.SQLITE)
def test_a_damaged_sqlite_file_gets_an_ordinary_answer(name: str) -> None:
    statements, told = damaged.SQLITE[name]
    _check(_answered("sqlite", lambda f: damaged.sqlite(f / "session.db", statements)), told)


def test_an_undamaged_session_is_not_spoken_of() -> None:
    _check(_answered("jsonl", lambda f: damaged.jsonl(f / "session.jsonl", list)), "")
    _check(_answered("sqlite", lambda f: damaged.sqlite(f / "session.db", ())), "")


def test_a_last_line_that_is_torn_anywhere_costs_no_more_than_itself(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    damaged.lived(damaged.JsonlStore(path))
    whole = path.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    rows = [row.message for row in damaged.JsonlStore(path).rows("main")]
    for end in range(start, len(whole)):
        path.write_bytes(whole[:end])
        store = damaged.JsonlStore(path)
        assert len(store.notes) == (end > start)
        store.append("main", damaged.user("next"))
        again = damaged.JsonlStore(path)
        assert [row.message for row in again.rows("main")] == [*rows, damaged.user("next")]
        assert again.notes == []
