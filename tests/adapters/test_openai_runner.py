"""The past of a scenario as items of a session, and approvals, without openai-agents itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import Message, Text, Thinking, ToolResult, ToolUse, assistant, results, user
from harness.adapters.openai_runner import Turn, TurnCancelled, _items, _until_cancelled
from harness.core.values.calls import Approval
from harness.core.values.messages import Opaque

PICTURE = Opaque(
    "image", {"source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}
)


def test_a_message_becomes_items_in_its_order() -> None:
    call = ToolUse("call_1", "look", {"at": "ß"})
    past = [
        user("Look."),
        assistant(Thinking("I look.", "sig"), Text("I look."), call),
        results(ToolResult("call_1", (Text("a cat"), Text("a dog")))),
    ]
    assert [item for message in past for item in _items(message)] == [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "I look."},
        {
            "type": "function_call", "call_id": "call_1", "name": "look",
            "arguments": '{"at": "\\u00df"}',
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "a cat\na dog"},
    ]  # fmt: skip


def test_a_picture_stays_a_picture_and_an_unknown_block_is_refused() -> None:
    (item,) = _items(Message("user", (Text("What is it?"), PICTURE)))
    assert item["content"] == [
        {"type": "input_text", "text": "What is it?"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0="},
    ]
    with pytest.raises(TypeError, match="of the kind search_result"):
        list(_items(Message("user", (Opaque("search_result", {}),))))


class _State:
    """A run that waits for one call, and what it was told."""

    def __init__(self, arguments: str = '{"sum": 5}') -> None:
        call = SimpleNamespace(name="pay", call_id="c1", arguments=arguments)
        self.item, self.told = SimpleNamespace(raw_item=call), ""

    def get_interruptions(self) -> list[Any]:
        return [self.item]

    def approve(self, item: Any) -> None:
        self.told = "approved"

    def reject(self, item: Any, rejection_message: str) -> None:
        self.told = rejection_message

    def to_string(self) -> str:
        return "as text"


def _turn(said: Any, kept: Path | None = None) -> Turn:
    async def ask_async(name: str, input: Any, *, id: str, session: str) -> Any:
        if isinstance(said, Exception):
            raise said
        return said

    message = SimpleNamespace(session="main", text="Pay.", attempt=2)
    return Turn(SimpleNamespace(ask_async=ask_async), None, message, {}, kept)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (Approval("c1", "allow", {"sum": 5}), "approved"),
        (
            Approval("c1", "allow", {"sum": 6}),
            "Not run. The user allows it with this input alone: {'sum': 6}",
        ),
        (Approval("c1", "deny", reason="No."), "Not run. The user says: No."),
        (Approval("c2", "allow", {"sum": 5}), "Not run. The user has not answered."),
        (TimeoutError("silent"), "Not run. The user has not answered."),
    ],
)
def test_a_state_is_told_what_the_user_says(said: Any, told: str) -> None:
    state = _State()
    assert asyncio.run(_turn(said)._answered(state)) is state
    assert state.told == told


def test_arguments_that_are_not_json_are_shown_as_they_are() -> None:
    state = _State("{broken")
    asyncio.run(_turn(Approval("c1", "allow", "{broken"))._answered(state))
    assert state.told == "approved"


def test_a_run_that_waits_is_kept_until_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, given, waiting = tmp_path / "state.json", [], _State()
    turn = _turn(Approval("c1", "allow", {"sum": 5}), kept)

    async def run(asked: Any) -> Any:
        given.append(asked)
        is_first = asked == "Pay."
        assert kept.exists() != is_first
        open_calls = [waiting.item] if is_first else []
        return SimpleNamespace(
            interruptions=open_calls, to_state=lambda: waiting, final_output="Paid."
        )

    monkeypatch.setattr(turn, "_run", run)
    assert asyncio.run(turn.answer_from("Pay.")) == "Paid."
    assert given == ["Pay.", waiting]
    assert [*tmp_path.iterdir()] == []


def test_a_run_that_failed_is_not_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = _turn(Approval("c1", "allow", {"sum": 5}), tmp_path / "state.json")
    waits = SimpleNamespace(interruptions=[1], to_state=_State)

    async def run(asked: Any) -> Any:
        if isinstance(asked, _State):
            raise ConnectionError("refused")
        return waits

    monkeypatch.setattr(turn, "_run", run)
    with pytest.raises(ConnectionError):
        asyncio.run(turn.answer())
    assert [*tmp_path.iterdir()] == []


class _Model:
    """A model of the framework."""

    async def get_response(self, text: str) -> str:
        return f"Said to {text}"

    async def stream_response(self, text: str) -> AsyncIterator[str]:
        yield f"Said to {text}"


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_model_is_asked_no_more_once_its_turn_is_cancelled(is_cancelled: bool) -> None:
    brief = SimpleNamespace(cancelled=lambda session: is_cancelled)
    model = _until_cancelled(brief, _Model)()

    async def streamed() -> str:
        return "".join([piece async for piece in model.stream_response("you")])

    for asked in (lambda: model.get_response("you"), streamed):
        if is_cancelled:
            with pytest.raises(TurnCancelled):
                asyncio.run(asked())
        else:
            assert asyncio.run(asked()) == "Said to you"


def test_a_cancelled_turn_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    turn = _turn(Approval("c1", "allow"))

    async def run(asked: Any) -> Any:
        raise TurnCancelled

    monkeypatch.setattr(turn, "_run", run)
    assert asyncio.run(turn.answer()) is None
