"""The past of a scenario as contents of google-adk, made with the types of google-genai."""

from __future__ import annotations

import time
from enum import StrEnum
from types import SimpleNamespace
from typing import Any

import pytest

from harness import Message, Text, Thinking, ToolResult, ToolUse, assistant, results, user
from harness.adapters.adk_runner import _contents, _flaw, _later_each_time, _wire_of
from harness.core.values.messages import Opaque

PICTURE = Opaque(
    "image", {"source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}
)


def _plain(past: list[Message]) -> list[Any]:
    made = [content.model_dump(exclude_none=True) for content in _contents(past)]
    return [(content["role"], content["parts"]) for content in made]


def test_a_past_becomes_contents_and_a_result_has_the_name_of_its_tool() -> None:
    pytest.importorskip("google.genai")
    said = assistant(Thinking("I look.", "sig"), Text("I look."), ToolUse("c1", "look", {"at": 1}))
    told = results(ToolResult("c1", (Text("a"), Text("b"))))
    failed = results(ToolResult("c2", "none", is_error=True))
    call = {"id": "c1", "name": "look", "args": {"at": 1}}
    answer = {"id": "c1", "name": "look", "response": {"result": "a\nb"}}
    lost = {"id": "c2", "name": "unknown", "response": {"error": "none"}}
    assert _plain([user("Look."), said, told, failed]) == [
        ("user", [{"text": "Look."}]),
        ("model", [{"text": "I look."}, {"function_call": call}]),
        ("user", [{"function_response": answer}]),
        ("user", [{"function_response": lost}]),
    ]


def test_a_picture_stays_a_picture_and_an_unknown_block_is_refused() -> None:
    pytest.importorskip("google.genai")
    ((_, (part,)),) = _plain([Message("user", (PICTURE,))])
    assert part == {"inline_data": {"data": b"\x89PNG\r", "mime_type": "image/png"}}
    with pytest.raises(TypeError, match="of the kind search_result"):
        _plain([Message("user", (Opaque("search_result", {}),))])


@pytest.mark.parametrize(
    ("model", "wire"),
    [("gemini-3.5-flash", "gemini"), ("claude-opus-5", "anthropic"), ("gpt-5", ""), ("", "")],
)
def test_a_name_of_a_model_tells_its_wire(model: str, wire: str) -> None:
    assert _wire_of(model) == wire


def test_the_class_of_a_model_tells_its_wire() -> None:
    Claude = type("Claude", (type("AnthropicLlm", (), {}),), {})
    assert _wire_of(Claude()) == "anthropic"
    assert _wire_of(type("LiteLlm", (), {})()) == ""


def test_no_two_readings_are_of_one_moment_and_a_clock_that_is_set_back_goes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = iter([5.0, 5.0, 5.0, 7.0, 3.0])
    monkeypatch.setattr(time, "time", lambda: next(moments))
    read = _later_each_time()
    assert [read() for _ in range(5)] == [5.0, 5.000001, 5.000002, 7.0, 3.0]


@pytest.mark.parametrize(
    ("reason", "code", "flaw"),
    [
        ("MAX_TOKENS", None, "the answer ended with MAX_TOKENS"),
        ("SAFETY", None, "the answer ended with SAFETY"),
        ("MAX_TOKENS", "429", "slow down"),
        ("STOP", None, ""),
        (None, None, ""),
    ],
)
def test_an_answer_that_was_cut_is_no_success(
    reason: str | None, code: str | None, flaw: str
) -> None:
    given = FinishReason(reason) if reason else None
    assert (
        _flaw(SimpleNamespace(error_code=code, error_message="slow down", finish_reason=given))
        == flaw
    )


class FinishReason(StrEnum):
    """The reasons of google-genai, which are texts too."""

    MAX_TOKENS = "MAX_TOKENS"
    SAFETY = "SAFETY"
    STOP = "STOP"
