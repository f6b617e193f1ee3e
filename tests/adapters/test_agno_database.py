"""The past of a scenario as runs of agno, and its questions, without the framework itself."""

from __future__ import annotations

import asyncio
import base64
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from harness import Message, Text, Thinking, ToolResult, ToolUse, assistant, results, user
from harness.adapters.agno_database import Chat, RunFailed, _compaction, _turns
from harness.core.values.calls import Approval
from harness.core.values.messages import Opaque

PICTURE = Opaque(
    "image", {"source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}
)


@pytest.fixture(autouse=True)
def _framework(monkeypatch: pytest.MonkeyPatch) -> None:
    media: Any = ModuleType("agno.media")
    media.Image = lambda content, mime_type: (content, mime_type)
    message: Any = ModuleType("agno.models.message")
    message.Message = lambda **named: {name: value for name, value in named.items() if value}
    monkeypatch.setitem(sys.modules, "agno.media", media)
    monkeypatch.setitem(sys.modules, "agno.models.message", message)


def test_a_past_becomes_a_run_for_each_message_of_the_user() -> None:
    said = assistant(Thinking("I look.", "sig"), Text("I look."), ToolUse("c1", "look", {"at": 1}))
    told = results(ToolResult("c1", "a cat"), ToolResult("c2", "none", is_error=True))
    function = {"name": "look", "arguments": '{"at": 1}'}
    call = {"id": "c1", "type": "function", "function": function}
    bad = {"role": "tool", "tool_call_id": "c2", "content": "none", "tool_call_error": True}
    assert [*_turns([user("Look."), said, told, user("Hello?"), user("Hello?")])] == [
        [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": "I look.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
            bad,
        ],
        [{"role": "user", "content": "Hello?"}],
        [{"role": "user", "content": "Hello?"}],
    ]
    assert [*_turns([])] == []


def test_a_picture_stays_a_picture_and_an_unknown_block_is_refused() -> None:
    picture = (base64.b64decode("iVBORw0="), "image/png")
    shown = {"role": "user", "images": [picture]}
    assert [*_turns([Message("user", (PICTURE,))])] == [[shown]]
    with pytest.raises(TypeError, match="of the kind search_result"):
        [*_turns([Message("user", (Opaque("search_result", {}),))])]


class Bot:
    """An Agent whose runs are given; it keeps what it is called with."""

    def __init__(self, last: Any, *made: Any) -> None:
        self._last, self._made = last, [*made]
        self.called: list[dict[str, Any]] = []

    def initialize_agent(self) -> None:
        pass

    async def aget_session(self, name: str) -> Any:
        return SimpleNamespace(runs=[self._last] if self._last else [])

    async def arun(self, **given: Any) -> Any:
        self.called.append(given)
        return self._made.pop(0)

    acontinue_run = arun


def _run(status: str, content: str = "", message: str = "m1", **more: Any) -> Any:
    kinds = {"is_paused": status == "PAUSED", "is_cancelled": status == "CANCELLED"}
    told = {"metadata": {"message": message}, "run_id": f"run-of-{message}"}
    state = SimpleNamespace(value=status)
    return SimpleNamespace(status=state, content=content, **kinds, **told, **more)


def _answer(bot: Bot, said: Approval | None = None) -> Any:
    async def ask_async(name: str, input: Any, *, id: str, session: str) -> Approval | None:
        return said

    brief = SimpleNamespace(options={}, ask_async=ask_async)
    message = SimpleNamespace(id="m1", session="main", text="Hello.")
    return asyncio.run(Chat(brief, bot, [], {}).answer(message))


def test_the_content_of_a_run_is_the_answer_and_its_id_is_kept() -> None:
    bot = Bot(None, _run("COMPLETED", "Hi."))
    assert _answer(bot) == "Hi."
    assert bot.called == [
        {"input": "Hello.", "metadata": {"message": "m1"}, "session_id": "main", "stream": False}
    ]


def test_a_cancelled_run_has_no_answer_and_a_failed_one_is_told() -> None:
    assert _answer(Bot(None, _run("CANCELLED"))) is None
    with pytest.raises(RunFailed, match="no credit"):
        _answer(Bot(None, _run("ERROR", "no credit")))


def test_the_run_of_a_killed_process_goes_on_where_its_message_comes_again() -> None:
    bot = Bot(_run("RUNNING"), _run("COMPLETED", "Done."))
    assert _answer(bot) == "Done."
    assert bot.called[0]["run_id"] == "run-of-m1"
    other = Bot(_run("RUNNING", message="m0"), _run("COMPLETED", "Hi."))
    assert _answer(other) == "Hi."
    assert other.called[0]["input"] == "Hello."


@pytest.mark.parametrize(
    ("said", "confirmed", "args"),
    [
        (Approval("c1", "allow", {"sum": 5}), "", {"sum": 5}),
        (Approval("c1", "allow", {"sum": 6}), "", {"sum": 6}),
        (Approval("c1", "deny", reason="No."), "Not run. The user says: No.", {"sum": 5}),
        (Approval("another", "allow", {"sum": 5}), "Not run. The user has not answered.",
         {"sum": 5}),
    ],
)  # fmt: skip
def test_what_the_user_says_decides_the_call(said: Approval, confirmed: str, args: Any) -> None:
    notes: list[str] = []
    call = SimpleNamespace(tool_call_id="c1", tool_name="pay", tool_args={"sum": 5})
    need = SimpleNamespace(
        tool_execution=call, confirm=lambda: notes.append(""), reject=notes.append
    )
    paused = _run("PAUSED", active_requirements=[need], requirements=[need])
    assert _answer(Bot(None, paused, _run("COMPLETED", "Done.")), said) == "Done."
    assert (notes, call.tool_args) == ([confirmed], args)


def test_an_open_question_of_a_killed_process_is_asked_before_the_next_message() -> None:
    waits = _run("PAUSED", message="m0", active_requirements=[], requirements=[])
    bot = Bot(waits, _run("COMPLETED", "Paid.", message="m0"), _run("COMPLETED", "Hi."))
    assert _answer(bot) == "Hi."
    assert [call.get("run_id") for call in bot.called] == ["run-of-m0", None]


def test_the_settings_of_compaction_are_those_of_a_run() -> None:
    own = SimpleNamespace(model=None, stats=[1], uncompacted_runs=2)
    made = _compaction(SimpleNamespace(), own)
    assert made is not own
    assert (made.model, made.stats, made.uncompacted_runs, own.stats) == (None, [], 2, [1])
    assert [_compaction(None, given) for given in (True, None)] == [True, None]
