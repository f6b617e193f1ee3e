"""Generated sessions: valid means valid, each mutation does its damage, and all can be stored."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given

from harness.agent.conversation.projection import NO_TEXT, project
from harness.agent.models.anthropic_blocks import write_message
from harness.core.scenario.scenario import Scenario, SeedMessage, Session
from harness.core.values.messages import Message, ToolResult, user
from harness.fuzz.session_grammar import MUTATIONS, DraftMessage, Mutation
from harness.providers import by_name, record
from harness.runner.session_seed import seed_messages
from harness.strategies import conversations, damaged_conversations

DIALECTS = record("anthropic").dialects.names

STORED = tuple[SeedMessage, ...]


def _messages(stored: STORED) -> list[Message]:
    return seed_messages(Scenario(name="generated", session=Session(messages=stored)))


def _refusals(messages: list[Message], dialect: str) -> list[str]:
    sent = [write_message(message) for message in messages]
    body = msgspec.json.encode({"model": "m", "max_tokens": 9, "messages": sent})
    return [v.rule for v in by_name("anthropic").reader(dialect, None).read(body).violations]


@given(conversations())
def test_a_valid_history_is_refused_by_no_dialect(stored: STORED) -> None:
    messages = [*_messages(stored), user("And now?")]
    assert {dialect: _refusals(messages, dialect) for dialect in DIALECTS} == {
        dialect: [] for dialect in DIALECTS
    }


@given(conversations())
def test_a_valid_history_is_sent_as_it_is(stored: STORED) -> None:
    messages = _messages(stored)
    assert project(messages) == [_without_blank_results(message) for message in messages]


def _without_blank_results(message: Message) -> Message:
    return Message(
        message.role,
        tuple(
            msgspec.structs.replace(b, content=NO_TEXT)
            if isinstance(b, ToolResult) and b.content == ""
            else b
            for b in message.blocks
        ),
    )


@given(damaged_conversations())
def test_a_damaged_history_is_sent_as_a_valid_one_of_the_same_words(stored: STORED) -> None:
    messages = [*_messages(stored), user("And now?")]
    sent = project(messages)
    assert [_refusals(sent, dialect) for dialect in DIALECTS] == [[]] * len(DIALECTS)
    assert project(sent) == sent
    assert _words(sent) == _words(messages)


def _words(messages: list[Message]) -> list[str]:
    """What the user said, in order."""
    texts = (m.text.split("\n") for m in messages if m.role == "user")
    return [line for lines in texts for line in lines if line.strip()]


@given(damaged_conversations())
def test_a_longer_history_begins_as_the_shorter_one_was_sent(stored: STORED) -> None:
    before = [*_messages(stored), user("And now?")]
    after = [*before, Message("assistant", user("Fine.").blocks), user("Good.")]
    assert project(after)[: len(project(before))] == project(before)


ROUND = [
    DraftMessage("user", ({"type": "text", "text": "a"},)),
    DraftMessage("assistant", ({"type": "tool_use", "id": "t1", "name": "ping", "input": {}},)),
    DraftMessage("user", ({"type": "tool_result", "id": "t1", "content": "found"},)),
    DraftMessage("assistant", ({"type": "text", "text": "b"},)),
]


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda m: m.__name__)
@pytest.mark.parametrize("place", [0, 1, 7])
def test_a_mutation_changes_a_copy_and_takes_any_history(mutate: Mutation, place: int) -> None:
    before = list(ROUND)
    assert mutate(before, place) != ROUND
    assert before == ROUND
    assert all(isinstance(draft, DraftMessage) for draft in mutate([], place))
