from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anthropic
import pytest

from harness.clock import VirtualClock, run_async, virtual_time
from harness.core.scenario.scenario import InboxItem, Limits, ToolScript, ToolTurn, Turn
from harness.core.values.brief import Brief, ToolError
from harness.core.values.errors import InputError, RunStopped
from harness.core.values.plans import Close, Plan, Raise, Send
from harness.transports.in_process import InProcessBrief
from harness.transports.sdk_clients import sdk_client
from tests.transports.world import REQUEST, Bend, in_process, keys

TOOLS = {
    "say": ToolScript(description="Says", script=(ToolTurn(ok="yes", times="forever"),)),
    "blocks": ToolScript(script=(ToolTurn(ok=[{"type": "text", "text": "a"}]),)),
    "fail": ToolScript(script=(ToolTurn(error="no such file"),)),
    "break": ToolScript(script=(ToolTurn(raises="boom"),)),
    "slow": ToolScript(script=(ToolTurn(hang=2.5, ok="at last"),)),
    "hang": ToolScript(script=(ToolTurn(hang=True),)),
}


def brief(*turns: Turn, bend: Bend | None = None, **fields: Any) -> InProcessBrief:
    dispatcher = in_process(*turns, bend=bend, clock=VirtualClock(), **fields)
    return InProcessBrief(dispatcher, Path("session"), options={"a": 1})


def history(given: InProcessBrief) -> Any:
    return given._dispatcher.transition.history


def tool(given: InProcessBrief, name: str) -> Any:
    return next(t for t in given.tools if t.name == name).call({"x": 1}, id=f"toolu_{name}")


def test_it_is_a_brief() -> None:
    given = brief(tools=TOOLS, limits=Limits(model_calls=7), seed=3)
    assert (given.options, given.limits["model_calls"], given.seed) == ({"a": 1}, 7, 3)
    assert [t.name for t in given.tools] == list(TOOLS)
    members = [n for n in (*Brief.__annotations__, *vars(Brief)) if not n.startswith("_")]
    assert [name for name in members if not hasattr(given, name)] == []
    given.store = "mine"
    assert given.store == "mine"


def test_a_tool_returns_text_or_blocks() -> None:
    given = brief(tools=TOOLS)
    assert tool(given, "say") == "yes"
    assert tool(given, "blocks") == [{"type": "text", "text": "a"}]
    assert history(given).past.crossed == {"toolu_say", "toolu_blocks"}


def test_a_tool_that_waits_waits_on_the_runs_clock() -> None:
    given = brief(tools=TOOLS)
    assert tool(given, "slow") == "at last"
    assert given.clock.now_ms() == 2500


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("fail", ToolError, "no such file"),
        ("break", RuntimeError, "boom"),
        ("hang", RunStopped, "the run is over"),
    ],
)
def test_a_tool_that_fails_raises(name: str, error: type[BaseException], text: str) -> None:
    with pytest.raises(error, match=text):
        tool(brief(tools=TOOLS), name)


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        ((Raise("timeout"),), TimeoutError),
        ((Raise("connect"),), ConnectionRefusedError),
        ((Close(reset=True),), ConnectionResetError),
        ((Send(b"no"),), RuntimeError),
        ((), ConnectionError),
    ],
)
def test_a_call_that_comes_to_nothing_says_how(plan: Plan, error: type[BaseException]) -> None:
    with pytest.raises(error, match="the tool say"):
        tool(brief(bend=lambda _: plan, on="tool", tools=TOOLS), "say")


def test_the_inbox_ends_and_waits_for_what_is_due_later() -> None:
    inbox = (InboxItem(id="m1", text="one"), InboxItem(id="m2", text="two", when={"ms": 60_000}))
    given = brief(inbox=inbox)
    assert [(m.id, m.text, m.at_ms) for m in given.inbox()] == [
        ("m1", "one", 0),
        ("m2", "two", 60_000),
    ]
    assert given.clock.now_ms() == 60_000


def test_a_cancel_is_seen_by_who_asks() -> None:
    cancel = InboxItem(kind="cancel", when={"after": "model#1"})
    given = brief(inbox=(InboxItem(id="m1", text="go"), cancel))
    assert next(given.inbox()).id == "m1"
    assert not given.cancelled()
    given.anthropic().messages.create(**REQUEST)
    assert given.cancelled()


def test_what_is_said_crosses_the_outbox() -> None:
    given = brief()
    given.send("done", in_reply_to="m1", status="ok")
    given.send("bye", "notice", session="blue")
    assert keys(history(given), "Called") == ["main/outbox#1", "blue/outbox#1"]
    said = history(given).events[0].request
    assert (said.text, said.kind, said.in_reply_to, said.status) == ("done", "final", "m1", "ok")


def test_the_sdk_speaks_to_the_script_plain_and_streamed() -> None:
    client = brief(Turn(say="one"), Turn(say="two")).anthropic()
    assert client.messages.create(**REQUEST).content[0].text == "one"
    with client.messages.stream(**REQUEST) as stream:
        assert stream.get_final_text() == "two"


def test_the_async_sdk_speaks_to_the_script_plain_and_streamed() -> None:
    async def main() -> list[str]:
        client = brief(Turn(say="one"), Turn(say="two")).async_anthropic()
        plain = await client.messages.create(**REQUEST)
        async with client.messages.stream(**REQUEST) as stream:
            return [plain.content[0].text, await stream.get_final_text()]

    assert asyncio.run(main()) == ["one", "two"]


def overloaded_twice() -> Bend:
    left = [2]

    def bend(plan: Plan) -> Plan:
        if not left[0]:
            return plan
        left[0] -= 1
        return (Raise("timeout"),)

    return bend


def test_the_sdks_own_back_off_passes_at_once() -> None:
    given = brief(bend=overloaded_twice())
    clock = given.clock
    assert isinstance(clock, VirtualClock)
    with virtual_time(clock):
        given.anthropic().messages.create(**REQUEST)
    assert len([wait for wait in clock.waits if wait.source == "sleep"]) == 2
    retries = [e.sdk_retry for e in history(given).events if hasattr(e, "sdk_retry")]
    assert retries == [0, 1, 2]


def test_the_async_sdks_own_back_off_passes_at_once() -> None:
    given = brief(bend=overloaded_twice())
    clock = given.clock
    assert isinstance(clock, VirtualClock)

    async def main() -> str:
        answer = await given.async_anthropic().messages.create(**REQUEST)
        text: str = answer.content[0].text
        return text

    assert run_async(main, clock) == "hello"
    assert clock.now_ms() > 500


def test_settings_of_the_client_win() -> None:
    client = brief().anthropic(api_key="mine", base_url="http://x.invalid/s/blue", max_retries=0)
    assert isinstance(client, anthropic.Anthropic)
    assert (client.api_key, client.max_retries) == ("mine", 0)
    assert client.messages.create(**REQUEST).content[0].text == "hello"


def test_openai_is_told_which_paths_there_are() -> None:
    openai = pytest.importorskip("openai")
    with pytest.raises(openai.NotFoundError, match="POST /v1/messages"):
        brief().openai().chat.completions.create(model="m", messages=[])


def test_a_missing_sdk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(InputError, match="needs the package openai: pip install"):
        sdk_client("openai", None, asynchronous=False)
