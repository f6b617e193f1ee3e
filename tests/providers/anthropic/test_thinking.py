"""Signed thinking: each change of it is found, on every path to the request."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.scenario.scenario import Turn
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Text,
    Thinking,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.values.messages import ToolResult as Result
from harness.core.values.plans import Reply
from harness.providers.anthropic.blocks import message_to
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.request import AnthropicReader
from tests.http_library import since_2
from tests.providers.anthropic.world import called, in_process, run

BOUND = "claude-sonnet-5-5"
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}


def body(messages: list[Message], **fields: Json) -> bytes:
    """A request for a model that binds thinking."""
    wire = [message_to(message) for message in messages]
    return msgspec.json.encode({"model": BOUND, "max_tokens": 9, "messages": wire, **fields})


def rounds(count: int, reader: AnthropicReader, **fields: Json) -> list[Message]:
    """A run of a given number of rounds of thinking and calls, by an agent that sends back what it
    got."""
    messages = [user("go")]
    for n in range(count):
        reading = reader.read(body(messages, **fields))
        assert reading.violations == ()
        thoughts = (Thinking(f"first {n}"), Text("so"), Thinking(f"second {n}"))
        reply = reading.complete(Reply((*thoughts, ToolUse(f"t{n}", "f", {})), "tool_use"))
        messages += [assistant(*reply.blocks), results(Result(f"t{n}", "ok"))]
    return messages


def rules(messages: list[Message], reader: AnthropicReader | None = None, **f: Json) -> list[str]:
    """The rules that a request breaks."""
    reader = reader or AnthropicReader(RECORD.dialects.default, None)
    return [violation.rule for violation in reader.read(body(messages, **f)).violations]


def fresh() -> AnthropicReader:
    """Its own reader."""
    return AnthropicReader(RECORD.dialects.default, None)


@given(st.integers(1, 4), st.booleans())
def test_what_was_answered_may_be_sent_back(count: int, same_reader: bool) -> None:
    reader = fresh()
    messages = rounds(count, reader, system="s")
    assert rules(messages, reader if same_reader else fresh(), system="s") == []


def with_block(messages: list[Message], n: int, m: int, block: Block | None) -> list[Message]:
    """The messages with another block in that place, or without it."""
    blocks = list(messages[n].blocks)
    blocks[m : m + 1] = [] if block is None else [block]
    return [*messages[:n], Message(messages[n].role, tuple(blocks)), *messages[n + 1 :]]


def thinking(message: Message, m: int) -> Thinking:
    """The thinking block in that place."""
    block = message.blocks[m]
    assert isinstance(block, Thinking)
    return block


def test_other_words_are_refused_by_the_turn_they_stand_in() -> None:
    messages = rounds(2, fresh())
    for n, rule in ((1, "V16"), (3, "V15")):
        other = msgspec.structs.replace(thinking(messages[n], 0), text="other")
        found = rules(with_block(messages, n, 0, other))
        assert found[0] == rule
        assert set(found) <= {rule, "V17"}


def test_the_order_of_thinking_in_a_turn_counts() -> None:
    messages = rounds(1, fresh())
    one, text, two, call = messages[1].blocks
    moved = [messages[0], assistant(two, text, one, call), messages[2]]
    assert set(rules(moved)) == {"V15"}
    assert "V15" in rules(with_block(messages, 1, 0, None))


@pytest.mark.parametrize("change", ["system", "tools", "message", "result", "thinking"])
def test_whatever_stands_before_is_bound(change: str) -> None:
    messages = rounds(2, fresh())
    fields: dict[str, Json] = {}
    match change:
        case "system":
            fields["system"] = "other"
        case "tools":
            fields["tools"] = [{"name": "f", "input_schema": {}}]
        case "message":
            messages[0] = user("come")
        case "result":
            messages[2] = results(Result("t0", "no"))
        case "thinking":
            messages = with_block(messages, 1, 2, None)
    found = rules(messages, **fields)
    assert set(found) == {"V17"}
    assert rules(messages, model="claude-sonnet-5", **fields) == []
    assert rules(messages, thinking=DROP, **fields) == []


def without(messages: list[Message], *gone: int) -> list[Message]:
    """The messages without the thinking of some of them."""
    return [
        Message(m.role, tuple(b for b in m.blocks if not (n in gone and isinstance(b, Thinking))))
        for n, m in enumerate(messages)
    ]


@pytest.mark.parametrize(("gone", "found"), [((1,), []), ((1, 3), []), ((5,), []), ((3,), ["V17"])])
def test_thinking_may_be_left_out_at_an_end_but_leaves_no_gap(
    gone: tuple[int, ...], found: list[str]
) -> None:
    messages = rounds(3, fresh())
    assert rules(messages) == []
    assert sorted(set(rules(without(messages, *gone)))) == found


def test_a_thought_that_is_put_back_moves_what_came_while_it_was_gone() -> None:
    reader = fresh()
    first, *others = rounds(1, reader)
    bare = without([first, *others], 1)
    reply = reader.read(body(bare)).complete(Reply((Thinking("third"), Text("so"))))
    assert rules([*bare, assistant(*reply.blocks), user("on")]) == []
    assert rules([first, *others, assistant(*reply.blocks), user("on")]) == ["V17"]


def test_splitting_and_joining_messages_changes_nothing() -> None:
    messages = rounds(2, fresh())
    apart = [Message(message.role, (block,)) for message in messages for block in message.blocks]
    assert rules(apart) == []


@given(st.data())
def test_a_reader_with_a_memory_judges_as_a_fresh_one(data: st.DataObject) -> None:
    messages = rounds(3, fresh(), system="s")
    reader = fresh()
    for _ in range(4):
        cut = data.draw(st.integers(0, 3)) * 2 + 1
        system = data.draw(st.sampled_from(["s", "t"]))
        asked = messages[:cut]
        if data.draw(st.booleans()) and cut > 1:
            m = data.draw(st.sampled_from([0, 2]))
            other = Thinking("other", thinking(asked[1], m).signature)
            asked = with_block(asked, 1, m, other)
        assert rules(asked, reader, system=system) == rules(asked, system=system)


@pytest.mark.parametrize("dialect", RECORD.dialects.names)
def test_signatures_of_others_are_not_judged(dialect: str) -> None:
    said = assistant(Thinking("Hm.", "c2lnbmVk"), ToolUse("t", "f", {}))
    messages = [user("go"), said, results(Result("t", "ok"))]
    assert rules(messages, AnthropicReader(dialect, None)) == []


@since_2
@pytest.mark.parametrize("stream", [False, True])
def test_a_dropped_block_is_reported_in_the_answer(stream: bool) -> None:
    transition = run(Turn(think="Hm.", say="a"), Turn(say="b"))
    ask: dict[str, Any] = {"model": BOUND, "max_tokens": 9}
    with in_process(transition) as client:
        first = client.beta.messages.create(messages=[{"role": "user", "content": "x"}], **ask)
        messages = [
            {"role": "user", "content": "y"},
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": "z"},
        ]
        ask = {**ask, "thinking": DROP, "messages": messages}
        if stream:
            with client.beta.messages.stream(**ask) as events:
                second = events.get_final_message()
        else:
            second = client.beta.messages.create(**ask)
    (dropped,) = second.input_transformations
    assert (dropped.type, dropped.path) == ("thinking_dropped", "messages.1.content.0")
    assert dropped.reason == "prefix_binding_mismatch"
    assert called(transition)[-1].refused == ()
