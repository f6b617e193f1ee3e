"""`play` with what is not an agent of ours: functions from text to text, other wires, async
tests."""

from __future__ import annotations

import pytest

TESTS = """
import asyncio
import anthropic
import openai
from harness import InboxItem, Scenario, Turn

ASKED = (InboxItem(text="Hi."), InboxItem(text="Again."))
TALK = Scenario(name="talk", inbox=ASKED, script=(Turn(say="Yes."), Turn(say="No.")))

class App:
    def __init__(self):
        self.messages = []

    def asked(self, text):
        self.messages.append({"role": "user", "content": text})
        return {"model": "claude-sonnet-5", "max_tokens": 9, "messages": self.messages}

    def told(self, reply):
        self.messages.append({"role": "assistant", "content": reply.content[0].text})
        return reply.content[0].text

    def answer(self, text):
        return self.told(anthropic.Anthropic().messages.create(**self.asked(text)))

    async def answer_later(self, text):
        client = anthropic.AsyncAnthropic()
        return self.told(await client.messages.create(**self.asked(text)))

def on_chat(text):
    asked = [{"role": "user", "content": text}]
    reply = openai.OpenAI().chat.completions.create(model="gpt-5", messages=asked)
    return reply.choices[0].message.content

def test_chat(play):
    (run,) = play(TALK, chat=App().answer)
    assert [s.request.text for s in run.history.trace.sendings] == ["Yes.", "No."]

def test_async_chat(play):
    assert play(TALK, chat=App().answer_later)

def test_within_a_loop(play):
    async def test():
        assert play(TALK, chat=App().answer_later)
        assert play(TALK, "reference")
    asyncio.run(test())

def test_another_wire_streamed(play):
    (run,) = play(TALK, "reference", wire="openai-chat", stream=True)
    assert run.name == "talk@openai-chat+stream"

def test_real_time(play):
    (run,) = play(TALK, "reference", world="supervise")
    assert run.world == "supervise"

def test_chat_that_need_not_remember(play):
    play(TALK, chat=on_chat, wire="openai-chat")

def test_what_the_user_reads(play):
    play(TALK, "reference", reply=[{"turn": 1, "has": "yes"}, {"turn": 2, "lacks": "yes"}])

def test_what_the_user_does_not_read(play):
    play(TALK, "reference", reply={"turn": 2, "has": "yes"})

def test_no_text(play):
    play(TALK, chat=lambda text: 3)

def test_own_bug(play):
    def broken(text):
        return {}["x"]
    play(TALK, chat=broken)
"""
WRONG = {
    'play(TALK, "reference", wire="openai")': "no wire is named 'openai'",
    'play(TALK, "reference", wrie="openai-chat")': "no keyword 'wrie'; did you mean 'wire'?",
    'play(TALK, "reference", size=3)': "no keyword 'size'",
    "play(TALK)": "give an agent or chat=",
    'play(TALK, "reference", chat=str)': "give an agent or chat=, not both",
    "play(TALK, chat=3)": "chat is a function from text to text, not int",
    'play(TALK, "refrence")': "did you mean 'reference'",
    'play("talk.yaml", "reference")': "no such scenario file",
    'play(TALK, "reference", expect="valid_reqest")': "did you mean 'valid_request'",
    'play(TALK, "reference", fail_on="bad")': "no class 'bad'",
    'play(TALK, "reference", profile="mine")': "mine",
    'play(TALK, "reference", store="sqlit:x.db")': "sqlit",
    'play(TALK, "reference", reply={"hs": "x"})': "hs",
    'play(TALK, "reference", world="real")': "no world 'real'",
}


@pytest.fixture
def session(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with tests that play functions."""
    pytester.makepyfile(test_app=TESTS)
    return pytester


@pytest.mark.real
def test_functions_wires_and_loops(session: pytest.Pytester) -> None:
    done = session.runpytest_subprocess("-p", "no:cacheprovider", "-q")
    done.assert_outcomes(passed=7, failed=3)
    done.stdout.fnmatch_lines(
        [
            "*in turn 2, the user does not read 'yes'*",
            "*TypeError: the function returns the answer as a str, not int*",
            "*the target crashed at test_app.py:*: KeyError: 'x' (in broken)",
            "*repeat:  pytest test_app.py::test_own_bug",
        ]
    )


def test_mistakes_are_told_in_a_line(session: pytest.Pytester) -> None:
    tests = [f"def test_{n}(play):\n    {line}\n" for n, line in enumerate(WRONG)]
    session.makepyfile(test_app=TESTS.partition("class App")[0] + "\n".join(tests))
    done = session.runpytest_subprocess("-p", "no:cacheprovider", "-q", "-n", "0")
    done.assert_outcomes(failed=len(WRONG))
    said = [line for line in done.stdout.lines if line.startswith("error: ")]
    assert len(said) == len(WRONG)
    for line, what in zip(said, WRONG.values(), strict=True):
        assert what in line
