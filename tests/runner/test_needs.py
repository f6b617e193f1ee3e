"""What a scenario needs, what a run used, and what a profile declares."""

from __future__ import annotations

import json
import sys
from typing import Any

import httpx2
import pytest

from harness.agent import agent as reference
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    Turn,
)
from harness.core.values.profile import CAPABILITIES, Capabilities, Profile
from harness.runner import run
from harness.runner.needs import needs_of
from harness.targets.spec import resolve
from tests.runner import agents
from tests.scenarios.all_runs import named
from tests.stores import hermes_database

SEED = Session(
    messages=(
        SeedMessage(role="user", content="My cat is called Murr."),
        SeedMessage(role="assistant", content="A fine name."),
    )
)
HELLO = (InboxItem(id="m1", text="Hello."),)
HI = (Turn(say="Hi."),)
CANCEL = (*HELLO, InboxItem(id="c1", kind="cancel", when={"after": "model#1"}))


def made(**fields: Any) -> Scenario:
    return Scenario(**{"name": "needs", "inbox": HELLO, "script": HI, **fields})


@pytest.mark.parametrize(
    ("fields", "needs"),
    [
        ({}, ()),
        ({"session": SEED}, ("session",)),
        ({"session": Session(messages=(SeedMessage(role="user", content=" "),))}, ("session",)),
        ({"stream": True}, ("streaming",)),
        ({"inbox": CANCEL}, ("cancel",)),
        ({"faults": (FaultSpec(kind="gateway.cancelled"),)}, ("cancel",)),
        ({"faults": (FaultSpec(kind="persistence.disk_full"),)}, ("store",)),
        ({"faults": (FaultSpec(kind="http.status", on="outbox"),)}, ("outbox",)),
        ({"faults": (FaultSpec(kind="http.overloaded"),)}, ()),
        ({"script": (*HI, Turn(say="All.", purpose="compact"))}, ("compaction",)),
        ({"script": (*HI, Turn(say="All.", purpose="compact", optional=True))}, ()),
        ({"faults": (FaultSpec(kind="http.overloaded", on="compact"),)}, ("compaction",)),
        ({"needs": ("sub_agents", "own_store"), "stream": True},
         ("own_store", "streaming", "sub_agents")),
    ],
)  # fmt: skip
def test_needs_are_seen_from_the_content(fields: dict[str, Any], needs: tuple[str, ...]) -> None:
    assert needs_of(made(**fields)) == needs


def streams(brief: Any) -> None:
    """Show the seeded session, stream, look for cancels, ask for a summary."""
    client = brief.anthropic()
    lines = (brief.session_dir / "seed.jsonl").read_text().splitlines()
    old = [json.loads(line) for line in lines]
    said = "\n".join(block["text"] for message in old for block in message["blocks"])
    for inbound in brief.inbox():
        asked = [{"role": "user", "content": f"{said}\n{inbound.text}"}]
        with client.messages.stream(model="m", max_tokens=64, messages=asked) as stream:
            text = stream.get_final_text()
        if not brief.cancelled():
            brief.send(text, in_reply_to=inbound.id)
        summary = {"x-harness-purpose": "compact"}
        client.messages.create(model="m", max_tokens=9, messages=asked, extra_headers=summary)


def test_what_was_used_is_seen_in_the_history() -> None:
    turns = (*HI, Turn(say="All.", purpose="compact"))
    scenario = made(session=SEED, stream=True, inbox=CANCEL, script=turns)
    played = run(scenario, streams)
    assert played.connections.used >= {"session", "streaming", "cancel", "compaction"}
    assert played.connections.needs == ("session", "cancel", "compaction", "streaming")
    assert "store" not in played.connections.used
    bare = run(scenario, agents.greet)
    assert bare.connections.used == {"outbox"}
    assert bare.connections.needs == played.connections.needs


def test_the_stores_and_a_restart() -> None:
    kill = FaultSpec(kind="gateway.killed")
    played = run(made(faults=(kill,)), reference)
    assert {"store", "restarts", "outbox"} <= played.connections.used
    assert "own_store" not in played.connections.used


def notes(brief: Any) -> None:
    """Keep its own store."""
    database = hermes_database.create(brief.session_dir / "state.db")
    for inbound in brief.inbox():
        hermes_database.add(database, "user", inbound.text)
        agents.ask(brief.anthropic(), inbound.text)
        brief.send("Hi.", in_reply_to=inbound.id)


def test_a_store_of_its_own() -> None:
    played = run(made(), notes, store="hermes:state.db")
    assert "own_store" in played.connections.used
    assert "store" not in played.connections.used


@pytest.mark.parametrize("name", CAPABILITIES)
def test_what_the_profile_declares_absent_is_not_played(name: str) -> None:
    absent = Profile(capabilities=Capabilities(**{name: False}))
    played = run(made(needs=(name,)), agents.crash, profile=absent)
    assert played.verdict.verdict == "not_applicable"
    (lack,) = played.verdict.not_applicable
    assert lack.reason == f"needs {name}, which the profile declares absent"
    assert not played.history.events
    assert run(made(), agents.greet, profile=absent).verdict.verdict == "pass"


def test_what_the_profile_declares_present_is_owed() -> None:
    declared = Profile(capabilities=Capabilities(session=True))
    assert run(made(session=SEED), agents.greet, profile=declared).connections.needs == ()
    assert run(made(session=SEED), agents.greet).connections.needs == ("session",)


def test_an_agent_that_dies_is_excused_from_nothing() -> None:
    for dead in (agents.crash, agents.never_calls):
        assert run(made(session=SEED, stream=True), dead).connections.needs == ()


def test_a_wire_that_the_agent_does_not_speak() -> None:
    played = run(made(), agents.crash, profile=Profile(wires=("openai-chat",)))
    (lack,) = played.verdict.not_applicable
    assert lack.reason == "the profile says that the agent speaks openai-chat"


def test_a_crash_at_our_refusal_of_another_api_shows_the_wire_and_no_more() -> None:
    on_another = run(made(wire="openai-chat"), agents.greet)
    assert on_another.verdict.verdict == "fail"
    assert on_another.connections.speaks is False
    owed = run(made(wire="openai-chat"), agents.greet, profile=Profile(wires=("openai-chat",)))
    assert owed.connections.speaks is None


@pytest.mark.parametrize("path", ["/v2/nothing", "/v1/models", "/v1/chat/completions"])
def test_another_crash_explains_the_silence(path: str) -> None:
    def crashes(brief: Any) -> None:
        raise RuntimeError(f"loop-harness: no POST {path} here; this run serves the wire x")

    assert run(made(wire="openai-chat"), crashes).connections.speaks is None


@pytest.mark.parametrize(("path", "is_deaf"), [("/v1/messages", True), ("/v2/nothing", False)])
@pytest.mark.parametrize("isolate", [False, pytest.param(True, marks=pytest.mark.real)])
def test_it_is_the_path_that_was_asked_for_and_no_text(
    path: str, is_deaf: bool, isolate: bool
) -> None:
    def asks_elsewhere(brief: Any) -> None:
        with httpx2.Client(transport=brief.transport, base_url=brief.base_url) as client:
            client.post(path, json={})
        raise ValueError("not as expected")

    played = run(made(wire="openai-chat"), asks_elsewhere, isolate=isolate)
    assert played.connections.speaks is (False if is_deaf else None)


def test_what_others_say_too_shows_no_session() -> None:
    heard = made(session=SEED, inbox=(InboxItem(id="m1", text="My cat is called Murr."),))
    assert "session" not in run(heard, agents.greet).connections.used


def test_a_missing_package_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    for faults in ((), (FaultSpec(kind="gateway.killed"),)):
        played = run(made(wire="openai-chat", faults=faults), reference)
        (lack,) = played.verdict.not_applicable
        assert (lack.missing, lack.kind) == ("openai", "package")
        assert lack.reason.endswith("needs the package openai: pip install 'loop-harness[openai]'")


def test_what_a_fault_has_laid_into_the_store_is_no_past_of_another_run() -> None:
    """`foreign_role` lays rows; careful_sync joins them, because they are of one side."""
    scenario = named("one-record-nobody-can-read/of-another-program")
    played = run(scenario, resolve("examples.agents.careful_sync:agent"))
    first = played.history.trace.exchanges[0]
    assert any("Where is my order?" in node.message.text for node in first.added)
    assert played.connections.past == ()


def test_words_of_another_run_are_its_past() -> None:
    def prompted(brief: Any) -> None:
        for inbound in brief.inbox():
            agents.ask(brief.anthropic(), f"Who renews passports?\n{inbound.text}")
            brief.send("Hi.", in_reply_to=inbound.id)

    assert run(made(session=SEED), prompted).connections.past == ("Who renews passports?\nHello.",)


def test_parts_of_the_stored_session_side_by_side_are_no_past_of_another_run() -> None:
    """Some APIs keep no line's end between two parts of a text."""
    told = ("Who renews passports in the summer?", "The town hall does.")

    def joins(brief: Any) -> None:
        for inbound in brief.inbox():
            agents.ask(brief.anthropic(), f"{''.join(told)}\n{inbound.text}")
            brief.send("Hi.", in_reply_to=inbound.id)

    rows = tuple(SeedMessage(role="user", content=text) for text in told)
    scenario = made(session=Session(messages=rows))
    assert run(scenario, joins).connections.past == ()
    assert run(made(session=SEED), joins).connections.past
