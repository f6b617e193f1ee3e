"""A model scripted in line: the SDKs' own clients ask it, at each of its transports."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from harness import FakeModel, InputError, NotAsScripted, Turn
from tests.cassettes.recorded import ASK, cassette, interaction, said

SCHEMA = {"type": "object", "properties": {"seats": {"type": "integer"}}}


def by_anthropic(text: str, stream: bool, **settings: Any) -> str:
    """An application that books tables, on the Anthropic SDK."""
    client = anthropic.Anthropic(**{"max_retries": 1, **settings})
    tools: Any = [{"name": "book", "input_schema": SCHEMA}]
    messages: list[Any] = [{"role": "user", "content": text}]
    while True:
        asked: Any = {"model": "claude-sonnet-5", "max_tokens": 99, "messages": messages}
        if stream:
            with client.messages.stream(**asked, tools=tools) as events:
                reply = events.get_final_message()
        else:
            reply = client.messages.create(**asked, tools=tools)
        if reply.stop_reason != "tool_use":
            return str(getattr(reply.content[-1], "text", ""))
        calls = [block for block in reply.content if block.type == "tool_use"]
        done = [{"type": "tool_result", "tool_use_id": c.id, "content": "ok"} for c in calls]
        messages += [{"role": "assistant", "content": reply.content}]
        messages += [{"role": "user", "content": done}]


def by_openai(text: str, stream: bool, **settings: Any) -> str:
    """The same on OpenAI's Chat Completions."""
    client = openai.OpenAI(**{"max_retries": 1, **settings})
    tools: Any = [{"type": "function", "function": {"name": "book", "parameters": SCHEMA}}]
    messages: list[Any] = [{"role": "user", "content": text}]
    while True:
        asked: Any = {"model": "gpt-5", "messages": messages, "tools": tools}
        if stream:
            with client.chat.completions.stream(**asked) as events:
                said: Any = events.get_final_completion().choices[0].message
        else:
            said = client.chat.completions.create(**asked).choices[0].message
        if not said.tool_calls:
            return str(said.content)
        messages.append(said.model_dump(exclude_none=True, exclude={"parsed", "function_call"}))
        for call in said.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "ok"})


def table_for_four() -> FakeModel:
    """The script of the issue that users know from the README."""
    fake = FakeModel()
    return fake.says("Let me see.").calls("book", {"seats": 4}).says("Booked for four.")


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize(("app", "wire"), [(by_anthropic, "anthropic"), (by_openai, "openai-chat")])
def test_an_application_finds_it_by_its_environment(
    app: Callable[..., str], wire: str, stream: bool
) -> None:
    with table_for_four() as fake, fake.serve() as env:
        assert app("A table for four, please", stream) == "Booked for four."
        assert os.environ["ANTHROPIC_BASE_URL"] == env["ANTHROPIC_BASE_URL"] == fake.url
    run = fake.verify()
    assert (run.verdict.verdict, run.scenario.wire) == ("pass", wire)
    assert [(r.stream, r.tools, r.status) for r in fake.requests] == [(stream, ("book",), 200)] * 2
    assert fake.requests[0].messages[0].text == "A table for four, please"
    assert fake.requests[1].messages[1].tool_uses[0].input == {"seats": 4}


def test_the_environment_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://mine.invalid")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with FakeModel().serve():
        assert "127.0.0.1" in os.environ["OPENAI_BASE_URL"]
    assert os.environ["ANTHROPIC_BASE_URL"] == "http://mine.invalid"
    assert "OPENAI_BASE_URL" not in os.environ


def test_a_transport_and_mounted_urls_are_transports_to_the_same_model() -> None:
    with table_for_four() as fake:
        client = anthropic.DefaultHttpxClient(transport=fake.transport())
        assert by_anthropic("Four", False, api_key="k", http_client=client) == "Booked for four."
    with table_for_four() as fake, fake.mount():
        assert by_openai("Four", False, api_key="k") == "Booked for four."


def test_an_asynchronous_client_asks_it() -> None:
    async def chat() -> str:
        async with anthropic.AsyncAnthropic() as client:
            reply = await client.messages.create(
                model="claude-sonnet-5", max_tokens=9, messages=[{"role": "user", "content": "?"}]
            )
        return str(getattr(reply.content[0], "text", ""))

    with FakeModel() as fake, fake.says("Yes.").serve():
        assert asyncio.run(chat()) == "Yes."


@pytest.mark.parametrize(
    ("fault", "statuses"),
    [
        (lambda fake: fake.fails(529, retry_after=0), [529, 200]),
        (lambda fake: fake.fails(503, retry_after=0).fails(429, retry_after=0), [503, 429, 200]),
        (lambda fake: fake.fails(500, retry_after=0).times(2), [500, 500, 200]),
        (lambda fake: fake.fault("transport.refused"), [None, 200]),
    ],
)
def test_faults_come_in_line(
    monkeypatch: pytest.MonkeyPatch,
    fault: Callable[[FakeModel], Any],
    statuses: list[int | None],
) -> None:
    # The SDK ignores a wait of 0 s and waits half a second or more; `backoff` asks for 0.1 s.
    monkeypatch.setattr("anthropic._base_client.INITIAL_RETRY_DELAY", 0.15)
    fake = FakeModel().calls("book")
    fault(fake)
    with fake.says("Booked."), fake.serve():
        assert by_anthropic("Four", False, max_retries=3) == "Booked."
    assert [request.status for request in fake.requests] == [200, *statuses]


def test_faults_behind_the_last_answer_end_the_script() -> None:
    fake = FakeModel().fails(500, message="Out.").times("forever")
    with fake.serve(), pytest.raises(anthropic.InternalServerError, match="Out"):
        by_anthropic("Four", False)
    assert fake.verify().verdict.verdict == "pass"
    fake = FakeModel().fails(401)
    with fake.serve():
        for error in (anthropic.AuthenticationError, anthropic.BadRequestError):
            with pytest.raises(error):
                by_anthropic("Four", False)
    with pytest.raises(NotAsScripted, match=r"script\.exhausted"):
        fake.verify()


def _ask(fake: FakeModel, *messages: dict[str, Any], times: int = 1) -> None:
    http = anthropic.DefaultHttpxClient(transport=fake.transport())
    client = anthropic.Anthropic(api_key="k", http_client=http, max_retries=0)
    for _ in range(times):
        client.messages.create(
            model="claude-sonnet-5", max_tokens=9, messages=list(messages) or [USER]
        )  # type: ignore[call-overload]


USER = {"role": "user", "content": "?"}


def test_conversations_at_once_get_answers_by_their_content() -> None:
    fake = FakeModel().says("Nothing.").when("Oslo").calls("book", {"seats": 4})
    fake.says("Oslo is booked.").when("rome").fails(500, retry_after=0)
    fake.calls("book", {"seats": 2}).says("Rome is booked.")
    seen: dict[str, str] = {}

    def ask(app: Callable[..., str], text: str) -> None:
        seen[text] = app(text, False)

    with fake, fake.serve():
        asked = [threading.Thread(target=ask, args=(by_anthropic, t)) for t in ("To Oslo", "ROME")]
        for thread in asked:
            thread.start()
        for thread in asked:
            thread.join(60)
        ask(by_anthropic, "?")
    assert seen == {"To Oslo": "Oslo is booked.", "ROME": "Rome is booked.", "?": "Nothing."}
    assert sorted(r.status or 0 for r in fake.requests) == [200] * 5 + [500]


def test_what_a_text_does_not_have_is_past_the_script() -> None:
    fake = FakeModel().when("Oslo").says("Rain.").when("Rome").fails(500)
    with pytest.raises(anthropic.BadRequestError, match="script"):
        _ask(fake)
    _ask(fake, {"role": "user", "content": "In Oslo?"})
    with pytest.raises(anthropic.InternalServerError):
        _ask(fake, {"role": "user", "content": "In Rome?"})
    with pytest.raises(anthropic.BadRequestError, match="script"):
        _ask(fake, {"role": "user", "content": "In Rome?"})
    with pytest.raises(NotAsScripted, match=r"script\.exhausted"):
        fake.verify()


def test_what_was_not_played_fails() -> None:
    fake = FakeModel().says("One.").says("Two.")
    _ask(fake)
    with pytest.raises(NotAsScripted, match=r"run\.unplayed_turn: .*say 'Two\.'"):
        fake.verify()
    silent = FakeModel().says("One.").fault("transport.refused").says("Two.")
    _ask(silent)
    with pytest.raises(NotAsScripted, match=r"run\.silent_fault: .*refused"):
        silent.verify()
    with pytest.raises(NotAsScripted, match="no request reached the fake model"), FakeModel() as f:
        f.says("Never.")


def test_an_unused_model_owes_nothing_and_a_block_that_raises_is_not_verified() -> None:
    with FakeModel():
        pass
    with pytest.raises(ZeroDivisionError), FakeModel().says("Never."):
        _ = 1 / 0


def test_an_illegal_request_is_refused_and_found() -> None:
    fake = FakeModel().says("One.")
    result = {"type": "tool_result", "tool_use_id": "toolu_9", "content": "ok"}
    with pytest.raises(anthropic.BadRequestError, match="toolu_9"):
        _ask(fake, {"role": "user", "content": [result]})
    with pytest.raises(NotAsScripted, match=r"valid_request\.V5"):
        fake.verify()


def test_the_parts_of_an_answer_stand_in_one_and_the_next_begins_another() -> None:
    fake = FakeModel().thinks("Hm.").says("I look.").calls("a", {"n": 1}, unoffered=True)
    fake.also_calls("b").calls("c", unoffered=True).says("Done.").stops("max_tokens").turn(
        Turn(say="Again.", times=2)
    ).says("End.")
    _ask(fake, times=1)
    _ask(fake, times=5)
    said = [exchange.reply for exchange in fake.verify().history.trace.exchanges]
    names = [[use.name for use in reply.tool_uses] if reply else [] for reply in said]
    assert names == [["a", "b"], ["c"], [], [], [], []]
    texts = [reply.text if reply else "" for reply in said]
    assert texts == ["I look.", "", "Done.", "Again.", "Again.", "End."]


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize(
    ("app", "refusal"),
    [(by_anthropic, anthropic.BadRequestError), (by_openai, openai.BadRequestError)],
)
@pytest.mark.parametrize(
    ("tool", "input", "what"),
    [
        ("bok", {"seats": 4}, "calls 'bok', which the request does not offer; did you mean 'book'"),
        ("book", {"seats": "four"}, 'seats: "four" is not of type "integer"'),
    ],
)
def test_a_call_that_the_request_does_not_offer_fails_the_test(
    app: Callable[..., str],
    refusal: type[Exception],
    stream: bool,
    tool: str,
    input: dict[str, Any],
    what: str,
) -> None:
    fake = FakeModel().calls(tool, input).says("Booked.")
    with fake.serve(), pytest.raises(refusal, match="the script"):
        app("Four", stream)
    with pytest.raises(NotAsScripted) as told:
        fake.verify()
    assert "script.unoffered: the script" in str(told.value)
    assert what in str(told.value)
    lenient = FakeModel().calls(tool, input, unoffered=True).says("Booked.")
    with lenient, lenient.serve():
        assert app("Four", stream) == "Booked."


def test_a_turn_as_a_value_is_asked_too_and_a_request_without_tools() -> None:
    turn = Turn(blocks=({"type": "tool_use", "name": "book", "input": {}},))
    fake = FakeModel().turn(turn)
    with pytest.raises(anthropic.BadRequestError, match="the request offers no tool"):
        _ask(fake)
    free = FakeModel().turn(turn, unoffered=True)
    _ask(free)
    assert free.verify().verdict.verdict == "pass"


def test_more_calls_than_a_scenario_allows_are_no_finding() -> None:
    fake = FakeModel().says("Yes.").times(1_500)
    _ask(fake, times=1_500)
    assert fake.verify().verdict.verdict == "pass"


def test_the_limit_is_a_setting_and_is_named() -> None:
    fake = FakeModel(model_calls=3).says("Yes.").times("forever")
    with pytest.raises(anthropic.BadRequestError, match="the limit model_calls = 3 is reached"):
        _ask(fake, times=4)
    with pytest.raises(NotAsScripted, match="the limit model_calls was reached at main/model#4"):
        fake.verify()


WRONG: list[tuple[Callable[[FakeModel], object], str]] = [
    (lambda f: f.says(3), "says takes a text, not int"),  # type: ignore[arg-type]
    (lambda f: f.thinks(None), "thinks takes a text, not NoneType"),  # type: ignore[arg-type]
    (lambda f: f.calls({"a": 1}), "calls takes a text, not dict"),  # type: ignore[arg-type]
    (lambda f: f.also_calls("a"), "also_calls must follow a call of the same answer"),
    (lambda f: f.says("a").also_calls("b"), "also_calls must follow a call of the same answer"),
    (lambda f: f.when(""), "when takes a text that the request has"),
    (lambda f: f.says("a").when("b").times(2), "script an answer first"),
    (lambda f: f.stops("max_tokens"), "script an answer first: this changes the last answer"),
    (lambda f: f.fails().stops("refusal"), "script an answer first: this changes the last answer"),
    (lambda f: f.times(2), "script an answer first: this changes the last answer"),
    (lambda f: f.says("a").times(0), "times takes a number from 1 on, or 'forever', not 0"),
    (lambda f: f.says("a").times(True), "times takes a number from 1 on"),
    (lambda f: f.says("a").times("often"), "or 'forever', not 'often'"),  # type: ignore[arg-type]
    (lambda f: f.says("a").times("forever").says("b"), "repeats forever must be the last one"),
    (lambda f: f.fails(200), "setting 'status'"),
    (lambda f: f.fault("http.stauts"), "did you mean 'http.status'"),
    (lambda f: f.fault("http.status", stauts=500), "no setting 'stauts'"),
    (lambda f: f.fault("tools.late"), "it does not apply to the model"),
    (lambda f: f.turn({"say": "a"}), "a turn is a harness.Turn, not dict"),  # type: ignore[arg-type]
    (lambda f: f.turn(Turn(say="a", purpose="compact")), "no `for` and no `when`"),
    (lambda f: f.turn(Turn(blocks=({"type": "text"},))), "text"),
    (lambda f: FakeModel(wire="openai"), "no wire is named 'openai'"),
    (lambda f: FakeModel(checks={"bounded_turm": {}}), "bounded_turm"),
    (lambda f: FakeModel(wire="anthropic", dialect="antropic"), "antropic"),
    (lambda f: FakeModel(dialect="bedrock"), "name that too"),
    (lambda f: FakeModel(fail_on="bad"), "bad"),  # type: ignore[arg-type]
    (lambda f: f.mount("nowhere").__enter__(), "no URL"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_cannot_be_said_is_told_in_a_line(number: int) -> None:
    say, what = WRONG[number]
    with pytest.raises(InputError) as told:
        say(FakeModel())
    assert what in str(told.value)
    assert "\n" not in str(told.value)


def test_the_script_cannot_change_after_the_first_request() -> None:
    fake = FakeModel().says("One.")
    _ask(fake)
    with pytest.raises(InputError, match="the script cannot change after the first request"):
        fake.says("Two.")


def test_an_address_of_no_provider_is_told_and_begins_no_run() -> None:
    fake = FakeModel().says("One.")
    with fake.serve(), pytest.raises(openai.NotFoundError, match="no GET /v1/files here"):
        openai.OpenAI(max_retries=0).files.list()
    assert fake.requests == ()
    _ask(fake)
    assert fake.verify().scenario.wire == "anthropic"


def _asked(text: str) -> dict[str, Any]:
    return {**ASK, "messages": [{"role": "user", "content": text}]}


def _play(fake: FakeModel, *texts: str) -> list[str]:
    http = anthropic.DefaultHttpxClient(transport=fake.transport())
    client = anthropic.Anthropic(api_key="k", http_client=http, max_retries=0)
    asked: list[Any] = [_asked(text) for text in texts]
    return [client.messages.create(**one).content[0].text for one in asked]


def test_a_recording_is_played_strictly_and_takes_no_line(tmp_path: Path) -> None:
    made = cassette(*(interaction(_asked(text), said(f"{text}!")) for text in ("One", "Two")))
    (tmp_path / "two.yaml").write_bytes(made)

    def recorded() -> FakeModel:
        fake = FakeModel()
        fake.folder = tmp_path
        return fake.cassette("two.yaml")

    with recorded() as fake:
        assert _play(fake, "Two", "One") == ["Two!", "One!"]
    assert [request.messages[0].text for request in fake.requests] == ["Two", "One"]
    with (
        pytest.raises(NotAsScripted, match=r"cassette\.unplayed: .*exchange #2"),
        recorded() as fake,
    ):
        _play(fake, "One")
    fake = recorded()
    with pytest.raises(anthropic.BadRequestError, match="Three"):
        _play(fake, "Three")
    with pytest.raises(NotAsScripted, match=r"cassette\.miss"):
        fake.verify()
    with pytest.raises(NotAsScripted, match="no request"), recorded():
        pass
    with pytest.raises(InputError, match="the whole script"):
        recorded().says("Three!")
    with pytest.raises(InputError, match="the whole script"):
        FakeModel().says("Three!").cassette(tmp_path / "two.yaml")
    with pytest.raises(InputError, match="speaks anthropic, the model gemini"):
        FakeModel(wire="gemini").cassette(tmp_path / "two.yaml")
    with pytest.raises(InputError, match=r"none\.yaml"):
        FakeModel().cassette(tmp_path / "none.yaml")


def test_a_fault_that_the_provider_of_the_first_request_lacks_is_told() -> None:
    fake = FakeModel().fault("sse.call_id_late").says("Yes.")
    said = "'anthropic' has no such thing"
    with fake.serve(), pytest.raises(anthropic.BadRequestError, match=said):
        by_anthropic("?", True)
    with pytest.raises(NotAsScripted, match=said):
        fake.verify()
