"""The model over Chat Completions: whole answers, and every way in which none comes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, get_args

import openai
import pytest

from harness.agent.assembly import standard_model
from harness.agent.failures import ModelFailure
from harness.agent.guards.empty_input import UNPARSED
from harness.agent.model import Answer, AnthropicModel, Query
from harness.agent.openai_chat_model import OpenAIChatModel, write_rows
from harness.core.errors import InputError
from harness.core.messages import (
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
    assistant,
    user,
)
from harness.core.scenario import WireName
from tests.http_library import http

ASK = Query((user("hi"),), (ToolSpec("read", "Reads."),))


class Stand:
    """A provider that gives one answer, and keeps what it was asked."""

    def __init__(self, answer: Any, stream: bool = False, status: int = 200) -> None:
        self.answer, self.status = answer, status
        self.asked: list[dict[str, Any]] = []
        self.headers: list[Any] = []
        client = openai.OpenAI(
            api_key="key",
            base_url="http://provider.test/v1",
            max_retries=0,
            http_client=http.Client(transport=http.MockTransport(self._serve)),
        )
        self.model = OpenAIChatModel(client, stream, "gpt-x", 100)

    def _serve(self, request: http.Request) -> http.Response:
        self.asked.append(json.loads(request.read()))
        self.headers.append(request.headers)
        if isinstance(self.answer, Exception):
            raise self.answer
        if isinstance(self.answer, dict):
            return http.Response(self.status, json=self.answer)
        kind = "text/event-stream" if self.asked[0].get("stream") else "text/html"
        return http.Response(self.status, content=self.answer, headers={"content-type": kind})

    def query(self, query: Query = ASK) -> tuple[Answer, str]:
        """The answer to a query, and what was shown of it."""
        shown: list[str] = []
        answer = self.model.query(query, shown.append)
        return answer, "".join(shown)


def completion(reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    """An answer at once."""
    said = {"role": "assistant", "content": None, **message}
    choice = {"index": 0, "message": said, "finish_reason": reason}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return {"id": "x", "object": "chat.completion", "model": "gpt-x", "choices": [choice]} | {
        "usage": usage,
        "created": 1,
    }


def chunks(*deltas: dict[str, Any], reason: str | None = "stop", done: bool = True) -> bytes:
    """An answer in pieces; with a reason, its last ones are the usage and the end."""
    pieces = [_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    if reason:
        pieces.append(_chunk([{"index": 0, "delta": {}, "finish_reason": reason}]))
        pieces.append(_chunk([], usage={"total_tokens": 5}))
    lines = [f"data: {json.dumps(piece)}\n\n" for piece in pieces]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def _chunk(choices: list[Any], **more: Any) -> dict[str, Any]:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "gpt-x"}
    return {**head, "choices": choices, **more}


def call(index: int | None, id_: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    """A delta with a fragment of a call."""
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": index, "id": id_, "type": "function", "function": function}]}


def whole_call(id_: str, arguments: Any) -> dict[str, Any]:
    """A call of an answer at once."""
    return {"id": id_, "type": "function", "function": {"name": "read", "arguments": arguments}}


def test_a_whole_answer_is_one_however_it_comes() -> None:
    plain = completion("tool_calls", content="so", tool_calls=[whole_call("a", '{"p": 1}')])
    pieces = [{"role": "assistant", "content": ""}, {"content": "s"}, {"content": "o"}]
    streamed = chunks(
        *pieces, call(0, "a", "read", ""), call(0, None, None, '{"p":'), call(0, None, None, " 1}"),
        reason="tool_calls",
    )  # fmt: skip
    expected = Answer(assistant("so", ToolUse("a", "read", {"p": 1})), "tool_use", 5)
    assert Stand(plain).query() == (expected, "so")
    assert Stand(streamed, stream=True).query() == (expected, "so")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("function_call", "tool_use"),
        ("made_up", "made_up"),
    ],
)
def test_why_it_stopped_is_said_in_the_loops_words(reason: str, stop: str) -> None:
    assert Stand(completion(reason, content="x")).query()[0].stop == stop
    assert Stand(chunks({"content": "x"}, reason=reason), stream=True).query()[0].stop == stop


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        ("{}", {}),
        ('{"p": "/tm', {UNPARSED: '{"p": "/tm'}),
        ("[1]", {UNPARSED: "[1]"}),
        ("null", {UNPARSED: "null"}),
        ('{"a":1}{"b":2}', {UNPARSED: '{"a":1}{"b":2}'}),
    ],
)
def test_arguments_are_read_strictly(text: str, value: dict[str, Any]) -> None:
    expected = assistant(ToolUse("a", "read", value))
    plain = completion("tool_calls", tool_calls=[whole_call("a", text)])
    streamed = chunks(call(0, "a", "read", text), reason="tool_calls")
    assert Stand(plain).query()[0].message == expected
    assert Stand(streamed, stream=True).query()[0].message == expected


def test_arguments_that_are_the_object_itself_are_taken() -> None:
    given = completion("tool_calls", tool_calls=[whole_call("a", {"p": 1})])
    assert Stand(given).query()[0].message == assistant(ToolUse("a", "read", {"p": 1}))


def test_calls_that_are_all_at_index_0_are_told_apart_by_their_ids() -> None:
    streamed = chunks(call(0, "a", "read", "{}"), call(0, "b", "read", "{}"), reason="tool_calls")
    said = Stand(streamed, stream=True).query()[0].message
    assert [use.id for use in said.tool_uses] == ["a", "b"]


def test_calls_may_be_mixed_and_begin_at_any_index() -> None:
    pieces = [call(1, "b", "read", ""), call(4, "c", "list", "{}"), call(1, None, None, "{}")]
    said = Stand(chunks(*pieces, reason="tool_calls"), stream=True).query()[0].message
    assert said == assistant(ToolUse("b", "read", {}), ToolUse("c", "list", {}))


def test_pieces_of_several_calls_may_come_in_one_chunk() -> None:
    first = {
        "tool_calls": [
            *call(0, "a", "read", "")["tool_calls"],
            *call(1, "b", "read", "{")["tool_calls"],
        ]
    }
    second = {
        "tool_calls": [
            *call(1, None, None, "}")["tool_calls"],
            *call(0, None, None, "{}")["tool_calls"],
        ]
    }
    said = Stand(chunks(first, second, reason="tool_calls"), stream=True).query()[0].message
    assert said == assistant(ToolUse("a", "read", {}), ToolUse("b", "read", {}))


def test_a_refusal_is_text_and_no_answer() -> None:
    for stand in (
        Stand(completion("stop", refusal="I will not.")),
        Stand(chunks({"refusal": "I will"}, {"refusal": " not."}), stream=True),
    ):
        assert stand.query()[0] == Answer(assistant("I will not."), "refusal", 5)


def test_a_half_of_a_character_is_replaced() -> None:
    streamed = chunks({"content": "x\ud83d"}, {"content": "\ude00y\ud83d"})
    assert Stand(streamed, stream=True).query()[0].message == assistant("x\U0001f600y\ufffd")


def test_arguments_with_half_a_character_are_kept_and_not_run() -> None:
    given = call(0, "a", "read", '{"path": "\\ud55c \\ud83d"}')
    (use,) = Stand(chunks(given, reason="tool_calls"), stream=True).query()[0].message.tool_uses
    assert use.input == {"__unparsedToolInput": '{"path": "\\ud55c \\ud83d"}'}


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("deltas", [(), ({"content": "x"},), (call(0, "a", "read", '{"p":'),)])
def test_a_stream_that_does_not_say_why_it_ends_is_broken(
    deltas: tuple[dict[str, Any], ...], done: bool
) -> None:
    stand = Stand(chunks(*deltas, reason=None, done=done), stream=True)
    assert _failure(stand).kind == "broken_stream"


def _failure(stand: Stand) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        stand.query()
    return caught.value


class Torn(http.SyncByteStream):  # type: ignore[misc]
    """A body whose connection fails after the first piece."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __iter__(self) -> Iterator[bytes]:
        yield chunks({"content": "x"}, reason=None, done=False)
        raise self._error


@pytest.mark.parametrize("error", [http.ReadError("reset"), http.ReadTimeout("silence")])
def test_a_connection_that_fails_in_an_answer_breaks_it(error: Exception) -> None:
    failure = _failure(Stand(Torn(error), stream=True))
    assert failure.kind == "broken_stream"


@pytest.mark.parametrize("stream", [False, True])
def test_a_connection_that_fails_before_it_may_work_the_next_time(stream: bool) -> None:
    failure = _failure(Stand(http.ConnectError("refused"), stream))
    assert failure.kind == "transient"


OVER = "This model's maximum context length is 10 tokens. However, you sent 12."


def error(message: str = "no", **more: Any) -> dict[str, Any]:
    """An envelope."""
    return {"error": {"message": message, "type": "server_error", "param": None, **more}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error(OVER, code="context_length_exceeded"), "overflow"),
        (413, error(), "overflow"),
        (400, error(), "permanent"),
        (401, error(), "permanent"),
        (429, error(), "transient"),
        (500, error(), "transient"),
        (503, b"<html>busy</html>", "transient"),
        (200, b"<html>hello</html>", "broken_stream"),
        (200, error(), "broken_stream"),
        (200, error(OVER), "overflow"),
        (200, completion(None, content="x"), "broken_stream"),
        (200, {"choices": []}, "broken_stream"),
    ],
)
def test_a_failure_has_its_kind(status: int, body: Any, kind: str) -> None:
    assert _failure(Stand(body, status=status)).kind == kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (error(), "broken_stream"),
        (error(type="invalid_request_error"), "permanent"),
        (error(OVER), "overflow"),
    ],
)
def test_an_error_inside_a_stream_has_its_kind(body: dict[str, Any], kind: str) -> None:
    begun = chunks({"content": "x"}, reason=None, done=False)
    stand = Stand(begun + f"data: {json.dumps(body)}\n\n".encode(), stream=True)
    assert _failure(stand).kind == kind


@pytest.mark.parametrize("bytes_", [b"data: {nonsense\n\n", b"data: \xff\xfe\n\n"])
def test_odd_bytes_break_a_stream(bytes_: bytes) -> None:
    assert _failure(Stand(bytes_, stream=True)).kind == "broken_stream"


def test_an_overflow_that_is_dressed_as_an_answer_is_no_answer() -> None:
    dressed = completion("stop", content="Prompt is too long") | {"usage": {"total_tokens": 0}}
    assert _failure(Stand(dressed)).kind == "overflow"
    synthetic = completion("stop", content="API Error") | {"model": "<synthetic>"}
    assert _failure(Stand(synthetic)).kind == "permanent"


def test_what_is_sent_says_what_the_query_says() -> None:
    stand = Stand(completion("stop", content="x"))
    withdrawn = Query(ASK.messages, ASK.tools, True, "compact", "Be brief.")
    stand.query(withdrawn)
    function = {"name": "read", "description": "Reads."}
    empty = {"type": "object", "properties": {}}
    assert stand.asked[0] == {
        "model": "gpt-x",
        "max_completion_tokens": 100,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
        ],
        "tools": [{"type": "function", "function": {**function, "parameters": empty}}],
        "tool_choice": "none",
    }
    assert stand.headers[0]["x-harness-purpose"] == "compact"


def test_without_tools_none_are_named() -> None:
    stand = Stand(completion("stop", content="x"))
    stand.query(Query(ASK.messages, (), True))
    assert not stand.asked[0].keys() & {"tools", "tool_choice"}


def test_a_query_with_a_time_limit_is_not_streamed() -> None:
    stand = Stand(completion("stop", content="x"), stream=True)
    stand.query(Query(ASK.messages, timeout_s=5))
    assert "stream" not in stand.asked[0]


ROWS: list[tuple[Message, list[dict[str, Any]]]] = [
    (user("a"), [{"role": "user", "content": "a"}]),
    (
        Message("user", (Text("a"), Text("b"))),
        [{"role": "user", "content": [{"type": "text", "text": t} for t in "ab"]}],
    ),
    (
        Message("user", (ToolResult("c", "1"), ToolResult("d", (Text("2"), Text("3"))), Text("x"))),
        [
            {"role": "tool", "tool_call_id": "c", "content": "1"},
            {"role": "tool", "tool_call_id": "d", "content": "2\n3"},
            {"role": "user", "content": "x"},
        ],
    ),
    (
        Message("user", (ToolResult("c", "usage: read", is_error=True),)),
        [{"role": "tool", "tool_call_id": "c", "content": "Error: usage: read"}],
    ),
    (
        Message("user", (ToolResult("c", (Opaque("image", {"type": "image"}),)),)),
        [{"role": "tool", "tool_call_id": "c", "content": "[image]"}],
    ),
    (assistant("a", "b"), [{"role": "assistant", "content": "a\nb"}]),
    (assistant(Thinking("hm"), "a"), [{"role": "assistant", "content": "a"}]),
    (assistant(), [{"role": "assistant", "content": ""}]),
    (
        assistant(ToolUse("c", "read", {"p": "é"})),
        [{"role": "assistant", "content": None, "tool_calls": [whole_call("c", '{"p": "é"}')]}],
    ),
]


@pytest.mark.parametrize(("message", "rows"), ROWS)
def test_a_message_is_the_rows_that_the_wire_has_for_it(
    message: Message, rows: list[dict[str, Any]]
) -> None:
    assert list(write_rows(message)) == rows


class Brief:
    """A brief that names a wire."""

    def __init__(self, wire: str) -> None:
        self.wire, self.options = wire, {"model": "m"}

    def anthropic(self) -> str:
        """A client."""
        return "anthropic"

    def openai(self) -> str:
        """A client."""
        return "openai"


def test_the_model_is_the_one_of_the_briefs_wire() -> None:
    made: dict[str, Any] = {wire: standard_model(Brief(wire)) for wire in get_args(WireName)}  # type: ignore[arg-type]
    assert isinstance(made["anthropic"], AnthropicModel)
    assert isinstance(made["openai-chat"], OpenAIChatModel)
    with pytest.raises(InputError, match="speaks no wire 'morse'; known: anthropic"):
        standard_model(Brief("morse"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "sent"),
    [("functions.read", "functions_read"), ("r" * 70, "r" * 64), ("", "_"), ("read", "read")],
)
def test_a_name_that_no_tool_can_have_is_spelt_as_one_could(said: str, sent: str) -> None:
    (row,) = write_rows(assistant(ToolUse("a", said, {})))
    assert row["tool_calls"][0]["function"]["name"] == sent
