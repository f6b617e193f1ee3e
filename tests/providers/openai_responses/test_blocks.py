"""Items and blocks: nothing is lost either way, and neighbours are grouped as they were said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import (
    Block,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.providers.openai_responses.blocks import items_of, read
from harness.providers.shared.codec import written_arguments_from, written_arguments_to
from tests.providers.anthropic.strategies import json_values, words
from tests.providers.openai_responses.strategies import other_parts, said, text_parts
from tests.providers.openai_responses.world import body, reader


def messages_of(items: list[Any]) -> tuple[Message, ...]:
    """The messages of a request of these items."""
    return tuple(reader("lenient").read(body(items)).messages)


CALL = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"a":1}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}


def spoken(role: str, text: str, **more: Any) -> dict[str, Any]:
    """A message item."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"role": role, "content": [{"type": kind, "text": text}], **more}


@given(said(min_size=1))
def test_what_the_assistant_says_is_read_as_it_was_written(blocks: tuple[Block, ...]) -> None:
    message = Message("assistant", blocks)
    assert messages_of(items_of([message])) == ((message,) if blocks else ())


user_blocks = st.lists(
    st.builds(Text, words, st.sampled_from([{}, {"type": "text"}, {"prompt_cache": 1}]))
    | other_parts,
    min_size=1,
    max_size=3,
).map(tuple)
outputs = words | st.lists(text_parts.map(lambda t: Text(t.text)) | other_parts, max_size=2).map(
    tuple
)
tool_results = st.builds(ToolResult, words, outputs, st.booleans())


@given(
    st.sampled_from(["user", "system", "developer", "made_up"]).flatmap(
        lambda role: st.builds(Message, st.just(role), user_blocks)
    )
    | st.lists(tool_results, min_size=1, max_size=3).map(lambda r: results(*r))
)
def test_what_others_say_is_read_as_it_was_written(message: Message) -> None:
    assert messages_of(items_of([message])) == (message,)


def test_items_of_one_response_are_one_message_and_results_join_the_text_after_them() -> None:
    items = [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        spoken("assistant", "let me look", id="msg_1", status="completed", type="message"),
        CALL,
        {**CALL, "call_id": "c2"},
        OUTPUT,
        {**OUTPUT, "call_id": "c2"},
        spoken("user", "and?"),
        spoken("user", "again"),
        spoken("developer", "be brief"),
        {"role": "assistant", "content": "yes"},
    ]
    assert messages_of(items) == (
        user("go"),
        assistant(
            Thinking(signature="rs_1"),
            "let me look",
            ToolUse("c1", "read", {"a": 1}),
            ToolUse("c2", "read", {"a": 1}),
        ),
        Message("user", (ToolResult("c1", "ok"), ToolResult("c2", "ok"), Text("and?"))),
        user("again"),
        Message("developer", (Text("be brief"),)),
        assistant("yes"),
    )


def test_an_id_a_usual_status_and_nulls_are_left_out() -> None:
    bare = [spoken("assistant", "a"), CALL, OUTPUT]
    dressed = [
        spoken("assistant", "a", id="msg_1", status="completed", phase=None, type="message"),
        {**CALL, "id": "fc_1", "status": "completed", "namespace": None, "caller": None},
        {**OUTPUT, "id": "fco_1", "status": "completed", "caller": None},
    ]
    dressed[0]["content"][0] |= {"annotations": [], "logprobs": []}
    assert messages_of(bare) == messages_of(dressed)


def test_two_messages_of_the_assistant_are_told_apart() -> None:
    one = {"role": "assistant", "content": [{"type": "output_text", "text": t} for t in "ab"]}
    two = [spoken("assistant", "a"), spoken("assistant", "b")]
    assert messages_of([one]) == (assistant("a", "b"),)
    assert messages_of(two) == (assistant("a", Text("b", {"message": {}})),)
    phased = spoken("assistant", "a", phase="commentary")
    assert messages_of([phased]) == (assistant(Text("a", {"message": {"phase": "commentary"}})),)


def test_a_refusal_is_text_that_says_so() -> None:
    item = {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}
    (message,) = messages_of([item])
    assert message == assistant(Text("no", {"type": "refusal"}))
    assert message.text == "no"


def test_a_result_that_failed_is_an_incomplete_one() -> None:
    (message,) = messages_of([{**OUTPUT, "status": "incomplete"}])
    assert message == results(ToolResult("c1", "ok", is_error=True))


WHOLE: list[Any] = [
    {"type": "message", "role": "user", "content": []},
    {"role": "user", "content": [{"type": "made_up"}]},
    {"role": "user", "content": [3]},
    {"role": "user"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text"}]},
    {"type": "reasoning", "summary": []},
    {"type": "reasoning", "summary": [], "encrypted_content": "rs_odd"},
    {"type": "function_call", "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": 3},
    {"type": "function_call_output", "output": "x"},
    {"type": "custom_tool_call", "call_id": "c1", "name": "n", "input": "x"},
    {"type": "compaction", "encrypted_content": "x"},
    {"type": "item_reference", "id": "x"},
    {"type": "new_thing"},
    {"no": "type"},
]


@pytest.mark.parametrize("item", WHOLE, ids=str)
def test_what_has_no_name_in_the_core_is_kept_whole(item: dict[str, Any]) -> None:
    (message,) = messages_of([item])
    (block,) = message.blocks
    assert isinstance(block, Opaque)
    assert block.value == item
    assert items_of([message]) == [item]


@pytest.mark.parametrize("item", [3, None, "text", [1]])
def test_what_is_no_item_is_kept_too(item: Any) -> None:
    (block,) = read(item).blocks
    assert block == Opaque("", {"value": item})


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=3))
def test_arguments_are_read_as_they_were_written(value: Any) -> None:
    assert written_arguments_from(written_arguments_to(value)) == value


@pytest.mark.parametrize(
    "text", ['{"a":', "NaN", '{"a": Infinity}', "1e999", "", "12", '"x"', "null", "[" * 100_000]
)
def test_arguments_that_are_no_object_stay_text(text: str) -> None:
    assert written_arguments_from(text) == text
    assert written_arguments_to(text) == text


def test_a_text_that_a_model_wrote_goes_out_to_the_letter() -> None:
    said = Message("assistant", (ToolUse("c1", "read", '{"path": "log \\ud83d"}'),))
    assert [item["arguments"] for item in items_of([said])] == ['{"path": "log \\ud83d"}']
