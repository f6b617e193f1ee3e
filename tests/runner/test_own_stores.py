"""Agents with stores of their own: the harness reads them between calls, and the checks judge."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.core.history.events import Stored
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.runner import Run, run
from tests.stores import hermes_database

Keep = Callable[[str, str], None]


def _keeps_hermes(folder: Path) -> Keep:
    db = hermes_database.create(folder / "state.db")
    return lambda role, text: hermes_database.add(db, role, text)


def _keeps_log(folder: Path) -> Keep:
    log = folder / "projects" / "-work" / "s.jsonl"
    log.parent.mkdir(parents=True)

    def keep(role: str, text: str) -> None:
        said = {"role": role, "content": text, "id": f"m{text}"}
        with log.open("a") as file:
            file.write(json.dumps({"type": role, "uuid": f"u{text}", "message": said}) + "\n")

    return keep


def _agent(keeps: Callable[[Path], Keep], forgets: str = "") -> Callable[[Any], None]:
    """An agent that stores what is said, except what one of the sides says."""

    def agent(brief: Any) -> None:
        keep, history = keeps(Path(brief.session_dir)), []
        for message in brief.inbox():
            for role, text in (("user", message.text), ("assistant", "")):
                history.append({"role": role, "content": text or _ask(brief, history)})
                if role != forgets:
                    keep(role, history[-1]["content"])
            brief.send(history[-1]["content"], in_reply_to=message.id)

    return agent


def _ask(brief: Any, history: list[dict[str, str]]) -> str:
    reply = brief.anthropic().messages.create(model="m", max_tokens=99, messages=history)
    text: str = reply.content[0].text
    return text


TALK = Scenario(
    name="talk",
    inbox=(InboxItem(text="one"), InboxItem(text="two")),
    script=(Turn(say="1"), Turn(say="2")),
)
STORES = [(_keeps_hermes, "hermes:state.db"), (_keeps_log, "claude_code:projects")]


def _texts(done: Run) -> list[str]:
    looks = [event for event in done.history.events if isinstance(event, Stored)]
    return [done.history.messages[row.digest].text for look in looks for row in look.added]


@pytest.mark.parametrize(("keeps", "store"), STORES)
def test_what_an_agent_stores_is_seen_as_it_is_stored(
    keeps: Callable[[Path], Keep], store: str
) -> None:
    done = run(TALK, _agent(keeps), store=store)
    assert _texts(done) == ["one", "1", "two", "2"]
    assert done.verdict.findings == ()
    assert "reload_equivalence" in done.verdict.passed


@pytest.mark.parametrize(("keeps", "store"), STORES)
def test_an_agent_that_forgets_its_answers_is_found_out(
    keeps: Callable[[Path], Keep], store: str
) -> None:
    done = run(TALK, _agent(keeps, forgets="assistant"), store=store)
    assert _texts(done) == ["one", "two"]
    assert "role_alternation.store" in {finding.code for finding in done.verdict.findings}
