"""What the real SDKs' clients meet, fault by fault."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.history.events import Answered, Noted
from harness.core.scenario.scenario import Turn
from harness.core.values.messages import Text, ToolUse
from tests.faults.asking import ask
from tests.http_library import http

WHOLE = {wire: ask("", wire=wire).words for wire in ("anthropic", "openai-chat")} | {
    "openai-responses": ask("", wire="openai-responses").words
}
WIRES = tuple(WHOLE)
TEXT = "'Hello, wörld 😀'"

NEUTRAL = {
    "carriage_return_line_ends": WIRES,
    "crlf_line_ends": WIRES,
    "crlf_split": WIRES,
    "no_space_after_colon": WIRES,
    "no_last_blank_line": ("anthropic", "openai-chat"),
    "character_split": WIRES,
    "comment_flood": WIRES,
    "ping_flood": ("anthropic",),
    "tiny_deltas": WIRES,
    "interleaved_blocks": ("anthropic", "openai-responses"),
    "message_start_twice": ("anthropic",),
    "block_stop_twice": ("anthropic",),
    "message_delta_twice": ("anthropic",),
    "end_twice": WIRES,
    "delta_of_another_kind": ("anthropic",),
    "unknown_delta": ("anthropic",),
    "unknown_event": ("anthropic", "openai-responses"),
    "usage_decreasing": ("anthropic",),
    "no_message_stop": ("anthropic", "openai-chat"),
    "error_event_after_the_end": ("openai-chat", "openai-responses"),
    "usage_huge": ("anthropic", "openai-responses"),
    "usage_without_choices": ("openai-chat",),
    "early_finish_reason": ("openai-chat",),
    "all_in_the_last_chunk": ("openai-chat",),
    "role_in_each_chunk": ("openai-chat",),
    "call_id_late": ("openai-chat",),
    "sequence_gap": ("openai-responses",),
    "sequence_repeated": ("openai-responses",),
}
"""After these the SDK says what it would have said without, for better or worse."""


@pytest.mark.parametrize(
    ("name", "wire"), [(name, wire) for name, wires in NEUTRAL.items() for wire in wires]
)
def test_the_client_reads_the_same(name: str, wire: str) -> None:
    met = ask(f"sse.{name}", wire=wire)
    assert met.fired == (f"sse.{name}",)
    assert met.words == WHOLE[wire]


LOST = "RuntimeError: Didn't receive a `response.completed` event."

MET = {
    ("no_message_delta", "anthropic"): WHOLE["anthropic"].replace("tool_use:", "None:", 1),
    ("no_finish_reason", "openai-chat"): WHOLE["openai-chat"].replace("tool_calls:", "None:", 1),
    ("no_message_stop", "openai-responses"): LOST,
    ("end_inside_tool_input", "anthropic"): (
        f'None: {TEXT}; write({{"path":"/a/b","size":12345,"lines":[]}})'
    ),
    ("end_inside_tool_input", "openai-chat"): (
        f'None: {TEXT}; toolu_1: write({{"path":"/a/b","size":12345,"lines":["x)'
    ),
    ("end_inside_tool_input", "openai-responses"): LOST,
    ("end_before_tool", "anthropic"): f"None: {TEXT}",
    ("end_before_tool", "openai-chat"): f"None: {TEXT}",
    ("end_before_tool", "openai-responses"): LOST,
    ("error_event", "openai-chat"): "openai.APIError(service_unavailable_error): "
    "Our servers are currently overloaded. Please try again later.",
    ("error_event", "openai-responses"): LOST,
    ("error_event_not_json", "anthropic"): "anthropic.APIStatusError(200): upstream connect error",
    ("nested_error_event", "openai-responses"): "openai.APIError(server_error): Overloaded",
    ("response_failed", "openai-responses"): LOST,
    ("response_incomplete", "openai-responses"): LOST,
    ("no_last_blank_line", "openai-responses"): LOST,
    ("block_start_twice", "anthropic"): f"tool_use: {TEXT}; ''; write({{}})",
    ("index_gap", "anthropic"): "IndexError: list index out of range",
    ("delta_before_its_block", "anthropic"): "IndexError: list index out of range",
    ("unknown_block", "anthropic"): WHOLE["anthropic"] + "; hologram",
    ("surrogate_pair_split", "anthropic"): WHOLE["anthropic"].replace(
        TEXT, "'Hello, wörld \\ud83d\\ude00'"
    ),
    ("no_event_names", "anthropic"): "AssertionError",
    ("no_event_names", "openai-responses"): WHOLE["openai-responses"],
    ("json_to_a_stream_request", "anthropic"): "AssertionError",
    ("json_to_a_stream_request", "openai-chat"): "AssertionError",
    ("json_to_a_stream_request", "openai-responses"): LOST,
    ("call_without_id", "openai-chat"): WHOLE["openai-chat"].replace("toolu_1:", "None:"),
    ("call_id_in_each_fragment", "openai-chat"): WHOLE["openai-chat"].replace(
        "toolu_1:", f"{'toolu_1' * 13}:"
    ),
}


@pytest.mark.parametrize(("name", "wire"), MET)
def test_the_client_meets(name: str, wire: str) -> None:
    met = ask(f"sse.{name}", wire=wire)
    assert met.fired == (f"sse.{name}",)
    assert met.words == MET[name, wire]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("name", "error"),
    [("invalid_json", "json.JSONDecodeError: "), ("invalid_utf8", "UnicodeDecodeError: ")],
)
def test_data_that_cannot_be_read_is_a_bare_error(name: str, error: str, wire: str) -> None:
    met = ask(f"sse.{name}", wire=wire)
    assert met.fired == (f"sse.{name}",)
    assert met.words.startswith(error)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("error_event", {"after": 0}),
        ("error_event", {"after": 3}),
        ("error_event", {"after": 6}),
        ("error_event_after_the_end", {}),
    ],
)
def test_an_error_event_is_a_status_error_of_status_200(
    name: str, settings: dict[str, Any]
) -> None:
    met = ask(f"sse.{name}", {**settings, "type": "api_error", "message": "no"})
    assert met.fired == (f"sse.{name}",)
    assert type(met.error).__name__ == "APIStatusError"
    assert getattr(met.error, "status_code", None) == 200
    assert getattr(met.error, "body", None) == {
        "type": "error",
        "error": {"type": "api_error", "message": "no"},
    }


@pytest.mark.parametrize("wire", WIRES)
def test_stream_to_a_plain_request_is_a_text(wire: str) -> None:
    met = ask("sse.stream_to_a_plain_request", wire=wire, stream=False)
    assert met.fired == ("sse.stream_to_a_plain_request",)
    assert isinstance(met.message, str)


def test_calls_all_at_index_0_are_glued_together() -> None:
    blocks = tuple({"type": "tool_use", "id": f"c{n}", "name": "f", "input": {}} for n in (1, 2))
    turn = Turn(blocks=blocks)
    met = ask("sse.calls_all_at_index_0", wire="openai-chat", turn=turn)
    assert met.words == "tool_calls: None; c1c2: ff({}{})"


def test_calls_by_turns_are_read_as_if_they_came_one_after_the_other() -> None:
    given = ({"path": "a" * 40}, {"path": "b" * 60})
    blocks = tuple(
        {"type": "tool_use", "id": f"c{n}", "name": "f", "input": path}
        for n, path in enumerate(given)
    )
    met = ask("sse.calls_by_turns", wire="openai-chat", turn=Turn(blocks=blocks))
    assert met.fired == ("sse.calls_by_turns",)
    assert met.words == ask("", wire="openai-chat", turn=Turn(blocks=blocks)).words


def test_calls_in_one_chunk_are_read_as_if_they_came_one_after_the_other() -> None:
    calls = [{"type": "tool_use", "id": f"c{n}", "name": "f", "input": {"a": n}} for n in (1, 2)]
    met = ask("sse.calls_in_one_chunk", wire="openai-chat", turn=Turn(blocks=tuple(calls)))
    assert met.fired == ("sse.calls_in_one_chunk",)
    assert met.words == 'tool_calls: None; c1: f({"a":1}); c2: f({"a":2})'


def test_arguments_left_empty_are_an_empty_text() -> None:
    calls = [{"type": "tool_use", "id": f"c{n}", "name": "f", "input": {}} for n in (1, 2)]
    met = ask("sse.arguments_left_empty", wire="openai-chat", turn=Turn(blocks=tuple(calls)))
    assert met.words == "tool_calls: None; c1: f(); c2: f()"


def test_usage_only_at_the_start_makes_the_sdk_trip() -> None:
    met = ask("sse.usage_only_at_the_start")
    assert isinstance(met.error, AttributeError)


@pytest.mark.parametrize(("name", "tokens"), [("usage_decreasing", 0), ("usage_huge", 2**53 + 1)])
def test_the_last_usage_counts(name: str, tokens: int) -> None:
    assert ask(f"sse.{name}").message.usage.output_tokens == tokens


def test_usage_huge_in_a_response() -> None:
    met = ask("sse.usage_huge", {"tokens": 10**12}, wire="openai-responses")
    assert met.message.usage.output_tokens == 10**12


def test_late_message_start_loses_a_text_without_an_error() -> None:
    met = ask("sse.late_message_start", turn=Turn(say="hello"))
    assert met.fired == ("sse.late_message_start",)
    if http.__name__ == "httpx":
        assert met.words.startswith("RuntimeError: Unexpected event order")
    else:
        assert met.words == "end_turn: nothing"


def test_the_history_tells_what_a_bent_answer_says_not_what_the_script_did() -> None:
    history = ask("sse.block_start_twice").history
    (answered,) = [e for e in history.events if isinstance(e, Answered)]
    said = next(
        e.value for e in history.events if isinstance(e, Noted) and e.digest == answered.blocks
    )
    assert answered.complete
    assert [type(block) for block in said.blocks] == [Text, Text, ToolUse]


def test_a_turn_that_was_not_heard_whole_is_said_again() -> None:
    for name in ("no_message_stop", "index_gap", "no_event_names", "invalid_json"):
        history = ask(f"sse.{name}").history
        (answered,) = [e for e in history.events if type(e).__name__ == "Answered"]
        assert getattr(answered, "script_turn", 0) is None, name
        assert getattr(answered, "complete", True) is False, name


@pytest.mark.parametrize(
    ("name", "said_all"),
    [
        ("index_gap", True),
        ("delta_before_its_block", True),
        ("no_message_stop", True),
        ("invalid_json", False),
    ],
)
def test_an_answer_whose_terminal_event_leaves_says_all(name: str, said_all: bool) -> None:
    (answered,) = [e for e in ask(f"sse.{name}").history.events if isinstance(e, Answered)]
    assert (answered.complete, answered.said_all) == (False, said_all)


@pytest.mark.parametrize("name", ["carriage_return_line_ends", "crlf_split", "character_split"])
def test_a_socket_carries_the_same(name: str) -> None:
    met = ask(f"sse.{name}", transport="loopback")
    assert (met.fired, met.words) == ((f"sse.{name}",), WHOLE["anthropic"])
