"""The official client, unchanged: sync and async, plain and streamed, with tools and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.core.scenario.scenario import (
    Expect,
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.runner import run

genai = pytest.importorskip("google.genai", reason="needs the extra gemini")
pytestmark = pytest.mark.real


def client_of(brief: Any) -> Any:
    """A client of the brief; its settings are the SDK's."""
    return brief.gemini(http_options={"timeout": 60_000})


def scenario(stream: bool, *turns: Turn) -> Scenario:
    """A question that takes two tools at once, and one that takes none."""
    calls = tuple(
        {"type": "tool_use", "id": f"call_{name}", "name": name, "input": {"at": "é"}}
        for name in ("wind", "rain")
    )
    usual = (Turn(say="Let me look.", blocks=calls), Turn(say="7 mm."), Turn(say="Welcome."))
    return Scenario(
        name="weather",
        wire="gemini",
        stream=stream,
        tools={
            name: ToolScript(description=name, script=(ToolTurn(ok=f"{name}: 7"),))
            for name in ("wind", "rain")
        },
        inbox=(InboxItem(id="m1", text="Oslo?"), InboxItem(id="m2", text="Thanks!")),
        script=turns or usual,
        expect=Expect(outcome="completed"),
    )


def config_of(brief: Any) -> Any:
    """The tools as the SDK takes them, and a system instruction."""
    from google.genai import types

    declared = [
        types.FunctionDeclaration(
            name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema
        )
        for tool in brief.tools
    ]
    return types.GenerateContentConfig(
        system_instruction="Be brief.",
        max_output_tokens=500,
        tools=[types.Tool(function_declarations=declared)],
        automatic_function_calling={"disable": True},
    )


def results_of(brief: Any, content: Any) -> Any:
    """A content with a result for each call of an answer, None without calls."""
    from google.genai import types

    tools = {tool.name: tool for tool in brief.tools}
    parts = []
    for part in content.parts or ():
        if call := part.function_call:
            said = tools[call.name].call(call.args, id=call.id)
            response = types.FunctionResponse(id=call.id, name=call.name, response={"output": said})
            parts.append(types.Part(function_response=response))
    return types.Content(role="user", parts=parts) if parts else None


def question(text: str) -> Any:
    from google.genai import types

    return types.Content(role="user", parts=[types.Part(text=text)])


def joined(chunks: list[Any]) -> Any:
    """The parts of a stream as one content."""
    from google.genai import types

    parts = [
        part
        for chunk in chunks
        for candidate in chunk.candidates or ()
        for part in (candidate.content.parts or ())
        if part.text or part.function_call
    ]
    return types.Content(role="model", parts=parts)


def sync_agent(brief: Any) -> None:
    client, history, config = client_of(brief), [], config_of(brief)
    for inbound in brief.inbox():
        history.append(question(inbound.text))
        while True:
            asked = {"model": "gemini-3.7-flash", "contents": history, "config": config}
            if brief.options["stream"]:
                content = joined(list(client.models.generate_content_stream(**asked)))
            else:
                content = client.models.generate_content(**asked).candidates[0].content
            history.append(content)
            if (results := results_of(brief, content)) is None:
                break
            history.append(results)
        brief.send("".join(part.text or "" for part in content.parts))


async def async_agent(brief: Any) -> None:
    client, history, config = client_of(brief).aio, [], config_of(brief)
    for inbound in brief.inbox():
        history.append(question(inbound.text))
        while True:
            asked = {"model": "gemini-3.7-flash", "contents": history, "config": config}
            if brief.options["stream"]:
                stream = await client.models.generate_content_stream(**asked)
                content = joined([chunk async for chunk in stream])
            else:
                answer = await client.models.generate_content(**asked)
                content = answer.candidates[0].content
            history.append(content)
            if (results := results_of(brief, content)) is None:
                break
            history.append(results)
        brief.send("".join(part.text or "" for part in content.parts))


@pytest.mark.parametrize("world", ["simulate", "supervise"])
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("agent", [sync_agent, async_agent])
def test_two_messages_and_two_tools(agent: Callable[..., Any], stream: bool, world: str) -> None:
    verdict = run(scenario(stream), agent, world=world).verdict
    assert [finding.code for finding in verdict.findings] == []
    assert verdict.verdict == "pass"


def answers(*turns: Turn, ask: Callable[[Any], Any], faults: tuple[FaultSpec, ...] = ()) -> Any:
    """What `ask` makes of a client whose model says these turns."""
    heard: list[Any] = []

    def agent(brief: Any) -> None:
        for _ in brief.inbox():
            heard.append(ask(client_of(brief)))
            brief.send("done")

    inbox, settings = (InboxItem(text="a"),), {"wire": "gemini", "policy": "open"}
    run(Scenario(name="s", script=turns, inbox=inbox, faults=faults, **settings), agent)
    return heard[0]


def ask(client: Any) -> Any:
    return client.models.generate_content(model="gemini-3.7-flash", contents="hi")


def ask_with_a_tool(client: Any) -> Any:
    tools = [{"function_declarations": [{"name": "f", "description": "Finds"}]}]
    return client.models.generate_content(
        model="gemini-3.7-flash", contents="hi", config={"tools": tools}
    )


def failing(client: Any) -> Any:
    with pytest.raises(genai.errors.APIError) as caught:
        ask(client)
    return caught.value


def test_an_error_has_the_words_of_the_api() -> None:
    fault = FaultSpec(kind="http.retry_after", settings={"retry_after": "7"})
    error = answers(Turn(say="x"), ask=failing, faults=(fault,))
    assert (error.code, error.status) == (429, "RESOURCE_EXHAUSTED")
    assert error.details["error"]["details"][-1]["retryDelay"] == "7s"


def test_a_blocked_prompt_has_no_candidates() -> None:
    answer = answers(Turn(stop="refusal"), ask=ask)
    assert not answer.candidates
    assert answer.prompt_feedback.block_reason == "PROHIBITED_CONTENT"


def test_thoughts_and_their_signature_are_read() -> None:
    call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    turn = Turn(think="hm", blocks=(call,))
    thought, called = answers(turn, ask=ask_with_a_tool).candidates[0].content.parts
    assert (thought.text, thought.thought) == ("hm", True)
    assert called.thought_signature.startswith(b"lhg\x01")


def test_tokens_are_counted_and_models_listed() -> None:
    def count(client: Any) -> Any:
        told = client.models.count_tokens(model="gemini-3.7-flash", contents="hi " * 40)
        return told.total_tokens, [model.name for model in client.models.list()]

    tokens, names = answers(Turn(say="x"), ask=count)
    assert tokens > 30
    assert "models/gemini-3.7-flash" in names


def test_the_sdks_own_loop_calls_functions() -> None:
    def wind(at: str) -> str:
        """The wind at a place."""
        return f"{at}: 7"

    def loop(client: Any) -> Any:
        chat = client.chats.create(model="gemini-3.7-flash", config={"tools": [wind]})
        return chat.send_message("Oslo?").text

    call = {"type": "tool_use", "id": "c", "name": "wind", "input": {"at": "Oslo"}}
    assert answers(Turn(blocks=(call,)), Turn(say="Windy."), ask=loop) == "Windy."


@pytest.mark.parametrize("world", ["simulate", "supervise"])
def test_it_is_a_second_provider_and_the_client_of_a_child(world: Any) -> None:
    read: list[str] = []

    def agent(brief: Any) -> None:
        first = brief.anthropic(max_retries=0)
        for inbound in brief.inbox():
            hi = [{"role": "user", "content": inbound.text}]
            first.messages.create(model="m", max_tokens=99, messages=hi)
            for maker in (brief, brief.child("helper")):
                client = maker.gemini(http_options={"headers": {"x-own": "1"}})
                said = client.models.generate_content(model="gemini-3-flash", contents="hello")
                read.append(said.text)
            brief.send(read[-1])

    moves = Scenario(
        name="moves",
        wire="anthropic",
        policy="open",
        inbox=(InboxItem(text="hello"),),
        script=(Turn(say="one"), Turn(say="two"), Turn(say="three")),
    )
    done = run(moves, agent, world=world)
    calls = [e for e in done.history.events if getattr(e, "seam", "") == "model"]
    asked = [(e.provider, e.session, e.parent) for e in calls if hasattr(e, "provider")]
    assert read == ["two", "three"]
    assert asked == [
        ("anthropic", "main", ""), ("gemini", "main", ""), ("gemini", "helper", "main"),
    ]  # fmt: skip
