"""A session to begin with: messages of the scenario, of a file, of another agent's file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.core.scenario.scenario import (
    Expect,
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    Turn,
)
from harness.core.values.errors import InputError
from harness.core.values.messages import Message, ToolUse, assistant, user
from harness.core.values.profile import Capabilities, Profile
from harness.runner import run
from harness.runner.capability_ledger import settled
from harness.runner.needs import needs_of
from harness.runner.prepare import transition_for
from harness.runner.session_seed import laid, seed_messages, write_seed
from tests.stores.hermes_database import add, add_turn, create


def _file_scenario(folder: Path, format: Any, file: str) -> Scenario:
    return Scenario(name="t", folder=str(folder), session=Session(format=format, file=file))


def _log(*lines: dict[str, Any]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def _said(role: str, text: str, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": text, "id": text}
    return {"type": role, "sessionId": "s", "message": message, **more}


def _texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


def test_a_claude_code_session_begins_with_its_last_compaction(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(
        _log(
            _said("user", "task", isSidechain=True),
            _said("user", "go"),
            _said("assistant", "ok"),
            _said("user", "what was", isCompactSummary=True),
            _said("assistant", "on"),
        )
    )
    found = seed_messages(_file_scenario(tmp_path, "claude_code", "s.jsonl"))
    assert _texts(found) == ["what was", "on"]


def test_a_hermes_session_is_the_active_rows_of_the_last_one(tmp_path: Path) -> None:
    db = create(tmp_path / "state.db")
    add_turn(db)
    db.execute("INSERT INTO sessions (id, source, started_at) VALUES ('s2', 'telegram', 2.0)")
    add(db, "user", "old", session_id="s2", active=0)
    add(db, "user", "what was", session_id="s2")
    db.close()
    found = seed_messages(_file_scenario(tmp_path, "hermes", "state.db"))
    assert _texts(found) == ["what was"]


@pytest.mark.parametrize("format", ["jsonl", "claude_code", "hermes"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, format: str) -> None:
    scenario = _file_scenario(tmp_path, format, "x")
    with pytest.raises(InputError, match="cannot be read"):
        seed_messages(scenario)
    (tmp_path / "x").write_text("{}\n{")
    with pytest.raises(InputError, match="x"):
        seed_messages(scenario)


def _scenario(session: Session, folder: Path | str = "") -> Scenario:
    return Scenario(name="x", session=session, folder=str(folder))


def test_messages_of_a_scenario_are_text_or_blocks() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
    session = Session(
        messages=(
            SeedMessage(role="user", content="hello"),
            SeedMessage(role="assistant", content=(use,)),
            SeedMessage(role="user", content=""),
        )
    )
    hello, called, empty = seed_messages(_scenario(session))
    assert hello == user("hello")
    assert called == assistant(ToolUse("t1", "f", {"a": 1}))
    assert empty == Message("user")


def test_a_session_file_is_read_from_the_scenario_s_folder(tmp_path: Path) -> None:
    messages = [user("one"), assistant("two")]
    lines = b"".join(msgspec.json.encode(m) + b"\n" for m in messages)
    (tmp_path / "session.jsonl").write_bytes(lines)
    session = Session(format="jsonl", file="session.jsonl")
    assert seed_messages(_scenario(session, tmp_path)) == messages


@pytest.mark.parametrize(
    ("content", "says"), [(None, "cannot be read"), (b'{"role": 1}\n', "no message")]
)
def test_a_bad_session_file_is_an_error_with_its_place(
    tmp_path: Path, content: bytes | None, says: str
) -> None:
    if content is not None:
        (tmp_path / "s.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        seed_messages(_scenario(Session(format="jsonl", file="s.jsonl"), tmp_path))
    assert "s.jsonl" in str(caught.value)


def test_the_seed_is_laid_as_lines(tmp_path: Path) -> None:
    write_seed(tmp_path, [user("one")])
    assert msgspec.json.decode((tmp_path / "seed.jsonl").read_bytes()) == {
        "role": "user",
        "blocks": [{"type": "text", "text": "one"}],
    }
    (tmp_path / "none").mkdir()
    write_seed(tmp_path / "none", [])
    assert list((tmp_path / "none").iterdir()) == []


def test_an_agent_that_keeps_the_seed_in_a_store_of_no_known_form_is_asked_whether_it_heals() -> (
    None
):
    def agent(brief: Any) -> None:
        rows = [json.loads(line) for line in (brief.session_dir / "seed.jsonl").open()]
        past = [{"role": row["role"], "content": row["blocks"]} for row in rows]
        for inbound in brief.inbox():
            past.append({"role": "user", "content": inbound.text})
            answer = brief.anthropic().messages.create(model="any", max_tokens=9, messages=past)
            brief.send(answer.content[0].text, in_reply_to=inbound.id)

    scenario = Scenario(
        name="seeded",
        session=Session(
            messages=(
                SeedMessage(role="user", content="Hello."),
                SeedMessage(role="assistant", content="Hi."),
            )
        ),
        inbox=(InboxItem(id="m1", text="And now?"),),
        script=(Turn(say="Now we work."),),
        expect=Expect(must=("session_heals",)),
    )
    played = run(scenario, agent, profile=Profile(capabilities=Capabilities(session=True)))
    assert played.verdict.verdict == "pass", played.verdict


def _loads(keeps: bool) -> Any:
    def agent(brief: Any) -> None:
        rows = [json.loads(row) for row in (brief.session_dir / "seed.jsonl").open() if keeps]
        past = [{"role": row["role"], "content": row["blocks"]} for row in rows]
        for inbound in brief.inbox():
            past.append({"role": "user", "content": inbound.text})
            answer = brief.anthropic().messages.create(model="any", max_tokens=9, messages=past)
            brief.send(answer.content[0].text, in_reply_to=inbound.id)

    return agent


def _stored(asked: str) -> Scenario:
    return Scenario(
        name="stored",
        session=Session(
            messages=(
                SeedMessage(role="user", content=asked),
                SeedMessage(role="assistant", content="It is the seventh of May."),
            )
        ),
        inbox=(InboxItem(id="m1", text="And now?"),),
        script=(Turn(say="Now we work."),),
    )


def test_a_pass_says_nothing_of_a_session_that_no_request_of_the_run_shows() -> None:
    scenario = _stored("Which day is it today?")
    assert run(scenario, _loads(keeps=True)).verdict.verdict == "pass"
    verdict = run(scenario, _loads(keeps=False)).verdict
    assert (verdict.verdict, [n.reason for n in verdict.not_applicable]) == (
        "not_applicable",
        ["needs its session: no request of this run holds a word of what was stored"],
    )
    assert run(_stored(" "), _loads(keeps=False)).verdict.verdict == "pass", "it may be left out"


def test_a_stored_text_that_ends_with_a_line_end_is_no_text_of_another_run() -> None:
    scenario = _stored("Which day is it today?\n")
    asked = msgspec.structs.replace(
        _stored("Hello to you all."), inbox=(InboxItem(text="Which day is it today?"),)
    )
    played = [run(each, _loads(keeps=True)) for each in (asked, scenario)]
    assert [each.verdict.verdict for each in settled(played)] == ["pass", "pass"]


_OWN = Capabilities(store=False)
_SAID = tuple(SeedMessage(role=r, content=c) for r, c in (("user", "Hi."), ("assistant", "Hello.")))


def _at_rest(kind: str, has: Capabilities = _OWN, **settings: Any) -> Scenario:
    spec = FaultSpec(kind=f"persistence.{kind}", settings=settings)
    return Scenario(
        name="t", wire="anthropic", inbox=(InboxItem(text="Go on."),), faults=(spec,),
        session=Session(messages=_SAID), profile=Profile(capabilities=has),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "settings", "texts"),
    [
        ("row_duplicated", {}, ["Hi.", "Hello.", "Hello."]),
        ("rows_out_of_order", {}, ["Hello.", "Hi."]),
        ("row_missing", {}, ["Hi."]),
        ("assistant_first", {}, ["It is on its way.", "Hi.", "Hello."]),
        ("large_session", {"rows": 1, "size_bytes": 2}, ["xx", "Hi.", "Hello."]),
        ("half_stream", {}, ["Hi.", "Hello.", "Where is my order?", "Let me lo"]),
    ],
)
def test_the_seed_of_an_agent_with_its_own_sessions_holds_the_fault(
    kind: str, settings: dict[str, Any], texts: list[str]
) -> None:
    scenario = _at_rest(kind, **settings)
    assert [message.text for message in seed_messages(scenario)] == texts
    assert needs_of(scenario) == ("session",)
    assert transition_for(scenario).faults == ()


@pytest.mark.parametrize(
    "scenario",
    [
        _at_rest("row_missing", Capabilities()),  # it may ask for the harness's store
        _at_rest("row_missing", Capabilities(store=False, session=False)),
        _at_rest("torn_tail"),
        _at_rest("locked"),
    ],
)
def test_any_other_run_needs_the_harness_s_store(scenario: Scenario) -> None:
    assert laid(scenario) == ()
    assert "store" in needs_of(scenario)
    assert [message.text for message in seed_messages(scenario)] == ["Hi.", "Hello."]
    assert len(transition_for(scenario).faults) == 1
