"""What the real Anthropic SDK's client reads, fault by fault, streamed and not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness import InboxItem, Scenario, ToolError, run
from harness.core.scenario.scenario import FaultSpec, ToolScript, ToolTurn, Turn
from harness.core.values.errors import InputError
from harness.core.values.profile import Profile
from harness.faults import arm
from tests.faults.asking import TOOLS, Met, ask
from tests.faults.model.words import GIVEN, MADE, TEXT, WORDS


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "plain"])
@pytest.mark.parametrize("name", WORDS)
def test_the_client_reads(name: str, stream: bool) -> None:
    met = ask(f"model.{name}", stream=stream)
    assert met.fired == (f"model.{name}",)
    assert met.words == WORDS[name]


def both(name: str, settings: dict[str, Any] | None = None, **more: Any) -> list[Met]:
    """The fault met in a stream and in a plain answer."""
    met = [ask(f"model.{name}", settings, stream=stream, **more) for stream in (True, False)]
    assert [m.fired for m in met] == [(f"model.{name}",)] * 2
    return met


def ids(met: Met) -> list[str]:
    """The ids of the calls of a message."""
    return [block.id for block in met.message.content if block.type == "tool_use"]


def test_json_text_as_input_is_a_text_or_makes_the_sdk_trip() -> None:
    streamed, plain = both("json_text_as_input")
    assert plain.message.content[1].input == GIVEN
    assert isinstance(streamed.error, ValueError), "a piece of a JSON string is nothing to it"
    (short,) = [ask("model.json_text_as_input", turn=Turn(use="write", input={"path": "a"}))]
    assert short.words == 'tool_use: write("{\\"path\\":\\"a\\"}")'


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses"])
def test_json_text_as_input_is_quoted_once_more_where_arguments_are_text(wire: str) -> None:
    met = ask("model.json_text_as_input", wire=wire, stream=False)
    assert met.words.endswith(f"write({msgspec.json.encode(GIVEN).decode()})")


def test_nan_in_input_is_read_from_a_stream_and_null_elsewhere() -> None:
    streamed, plain = both("nan_in_input")
    assert streamed.words == f'tool_use: {TEXT}; write({GIVEN[:-1]},"ratio":NaN}})'
    assert plain.words == f'tool_use: {TEXT}; write({GIVEN[:-1]},"ratio":null}})'


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses"])
def test_empty_text_where_none_needed_is_the_arguments(wire: str) -> None:
    met = ask("model.empty_text_where_none_needed", wire=wire, stream=False)
    assert met.fired == ("model.empty_text_where_none_needed",)
    assert met.words.endswith("ping()")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("cut_in_key", '{"path":"/a/b","size":12345,"lines":["x","y"],"no'),
        ("cut_in_string", '{"path":"/a'),
        ("cut_in_number", '{"path":"/a/b","size":12'),
        ("cut_in_array", '{"path":"/a/b","size":12345,"lines":["x"'),
    ],
)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "plain"])
def test_arguments_that_are_text_end_where_they_were_cut(
    name: str, arguments: str, stream: bool
) -> None:
    met = ask(f"model.{name}", wire="openai-chat", stream=stream, helper=False)
    chunks = met.message if stream else []
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    streamed = "".join(call.function.arguments or "" for call in calls)
    said = streamed if stream else met.message.choices[0].message.tool_calls[0].function.arguments
    assert said == arguments


def test_a_call_of_a_tool_that_was_removed() -> None:
    history = (
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_0", "name": "gone", "input": {"a": 1}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_0"}]},
    )
    for met in both("removed_tool", messages=history):
        assert met.words == 'tool_use: gone({"a":1})'
    still = ask("model.removed_tool", messages=history, tools={**TOOLS, "gone": ToolScript()})
    assert still.fired == ()


ONE_CALL = (
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "toolu_0", "name": "ping", "input": {}}],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_0", "is_error": True, "content": "no"}
        ],
    },
)


def test_duplicate_ids() -> None:
    for met in both("duplicate_ids"):
        assert ids(met) == ["toolu_1", "toolu_1"]


def test_id_of_an_earlier_call() -> None:
    for met in both("id_of_an_earlier_call", messages=ONE_CALL):
        assert ids(met) == ["toolu_0"]


def test_empty_id_and_id_is_the_name() -> None:
    assert [ids(met) for met in both("empty_id")] == [[""], [""]]
    assert [ids(met) for met in both("id_is_the_name")] == [["write"], ["write"]]


def test_failed_call_again() -> None:
    for met in both("failed_call_again", messages=ONE_CALL):
        assert met.words == "tool_use: ping({})"
        assert ids(met) != ["toolu_0"]
    assert ask("model.failed_call_again").fired == ()


def test_identical_call_repeats_the_last_one() -> None:
    for met in both("identical_call", messages=ONE_CALL):
        assert met.words == "tool_use: ping({})"


@pytest.mark.parametrize("count", [2, 20, 100])
def test_parallel_calls_have_ids_of_their_own(count: int) -> None:
    for met in both("parallel_calls", {"count": count}):
        assert len(set(ids(met))) == count
        inputs = [str(b.input) for b in met.message.content if b.name == "write"]
        assert len(set(inputs)) == len(inputs) == -(-count // 2)


def test_identical_calls_in_one_reply_differ_only_by_their_id() -> None:
    for met in both("identical_calls_in_one_reply", {"count": 5}):
        assert len(set(ids(met))) == 5
        assert {str(block.input) for block in met.message.content} == {"{'path': 'path 0'}"}


def test_calls_after_final_needs_a_final() -> None:
    final = (
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Is that all?"},
    )
    for met in both("calls_after_final", messages=final):
        assert met.words == f"tool_use: 'One more thing.'; write({MADE})"
    assert ask("model.calls_after_final", messages=ONE_CALL).fired == ()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_spawns_itself(count: int) -> None:
    for met in both("spawns_itself", {"count": count}, tools={**TOOLS, "task": ToolScript()}):
        assert met.words == "tool_use: " + "; ".join(["task({})"] * count)
    assert ask("model.spawns_itself", {"tool": "delegate"}).fired == ()


def test_a_refusal_names_its_category() -> None:
    for name in ("refusal", "refusal_after_text", "refusal_after_call"):
        for met in both(name, {"category": "cyber"}):
            assert met.message.stop_details.category == "cyber"


def test_a_stop_sequence_is_named() -> None:
    for met in both("stop_sequence_in_tool_input", {"sequence": "</x>"}):
        assert met.message.stop_sequence == "</x>"


@pytest.mark.parametrize("name", ["identical_call", "empty_input", "parallel_calls", "cut_in_key"])
def test_where_no_tools_are_offered_no_call_is_made(name: str) -> None:
    met = ask(f"model.{name}", tools={}, turn=Turn(say="hello"))
    assert (met.fired, met.words) == ((), "end_turn: 'hello'")


@pytest.mark.parametrize("name", ["cut_in_key", "cut_in_string", "cut_in_number", "cut_in_array"])
def test_a_call_without_such_an_argument_cannot_be_cut_there(name: str) -> None:
    assert ask(f"model.{name}", turn=Turn(use="ping")).fired == ()


def _tells_in_words(brief: Any) -> None:
    """An agent that keeps no calls in its list: it tells the model in words what came of them."""
    client, (tool,) = brief.anthropic(max_retries=0), brief.tools
    offered = [{"name": tool.name, "input_schema": tool.input_schema}]
    for inbound in brief.inbox():
        words, reply = inbound.text, None
        while reply is None or reply.stop_reason == "tool_use":
            asked: list[Any] = [{"role": "user", "content": words}]
            reply = client.messages.create(model="m", max_tokens=64, messages=asked, tools=offered)
            for call in (block for block in reply.content if block.type == "tool_use"):
                try:
                    words += f"\nping said: {tool.call(call.input, id=call.id)}"
                except ToolError as error:
                    words += f"\nping did not work: {error}"
        brief.send(reply.content[-1].text, in_reply_to=inbound.id)


@pytest.mark.parametrize(("answer", "calls"), [("error", 2), ("ok", 1)])
def test_failed_call_again_where_results_are_words(answer: str, calls: int) -> None:
    turns = msgspec.convert([{answer: "the disk", "times": "forever"}], tuple[ToolTurn, ...])
    played = run(
        Scenario(
            name="words", inbox=(InboxItem(text="Go."),), policy="open",
            tools={"ping": ToolScript(script=turns)},
            script=(Turn(use="ping"), Turn(say="Done.", times="forever")),
            faults=(FaultSpec(kind="model.failed_call_again", when=2),),
            profile=Profile(results="text"),
        ),
        _tells_in_words,
    )  # fmt: skip
    assert len(played.history.trace.executions) == calls


@pytest.mark.parametrize("period", [1, 5])
def test_a_cycle_is_of_two_to_four_calls(period: int) -> None:
    with pytest.raises(InputError, match="setting 'period'"):
        arm(FaultSpec(kind="model.cycle_of_calls", settings={"period": period}))
