"""One URL of `fake_model` for a session: clients made at import, and work left behind."""

from __future__ import annotations

import anthropic
import httpcore2
import pytest

from harness.providers.anthropic import provider
from harness.runner import fake_model, session_url
from harness.transports import sdk_clients

LOADED = (anthropic, httpcore2, provider, fake_model, session_url, sdk_clients)
"""Loaded before a pytest within this one, which takes away the modules that it has loaded."""

APP = """
import anthropic

CLIENT = anthropic.Anthropic(max_retries=0)

def answer(text, client=CLIENT):
    reply = client.messages.create(
        model="claude-sonnet-5", max_tokens=9, messages=[{"role": "user", "content": text}])
    return reply.content[0].text
"""

LATER = """
def test_first(fake_model):
    with fake_model.says("One.").serve():
        import app
        assert app.answer("?") == "One."

def test_second(fake_model):
    import app
    with fake_model.says("Two.").serve():
        assert app.answer("?") == "Two."
    with fake_model.serve():
        pass

def test_two_models(fake_model):
    import anthropic
    import app
    from harness import FakeModel
    with fake_model.says("One.").serve(), FakeModel().says("Two.").serve():
        assert app.answer("?") == "One."
        assert app.answer("?", anthropic.Anthropic()) == "Two."
"""

LOOPS = """
import app
import anthropic, asyncio, pytest

CLIENT = anthropic.AsyncAnthropic()

@pytest.mark.parametrize("number", range(3))
def test_a_loop_of_its_own(fake_model, number):
    async def answer():
        reply = await CLIENT.messages.create(
            model="claude-sonnet-5", max_tokens=9, messages=[{"role": "user", "content": "?"}])
        return reply.content[0].text
    with fake_model.says(f"{number}").serve():
        assert asyncio.run(answer()) == f"{number}"
"""

AT_IMPORT = """
import app
import anthropic, asyncio, os, pytest

def test_none_serves():
    with pytest.raises(anthropic.APIStatusError, match="no test serves its fake_model now"):
        app.answer("?")

def test_serves(fake_model):
    with fake_model.says("One.").serve():
        assert app.answer("?") == "One."

def test_is_over(fake_model):
    with pytest.raises(anthropic.APIStatusError, match="test_serves is over"):
        app.answer("?")
"""

LEFT = """
import app
import anthropic, pytest, threading

THREADS = []

def test_leaves(fake_model):
    def ask():
        with pytest.raises(anthropic.APIConnectionError):
            app.answer("first")
    with fake_model.fault("transport.connect_timeout").serve():
        THREADS.append(threading.Thread(target=ask))
        THREADS[0].start()
        while not fake_model.requests:
            pass

def test_next(fake_model):
    THREADS[0].join(20)
    retry = app.CLIENT.with_options(default_headers={"x-stainless-retry-count": "1"})
    with fake_model.says("Two.").serve():
        with pytest.raises(anthropic.APIStatusError, match="retries a request that was cut off"):
            app.answer("first", retry)
        assert app.answer("second") == "Two."
"""


@pytest.fixture
def made(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with an application that makes its client at import."""
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    pytester.makepyfile(app=APP)
    pytester.makeini("[pytest]\npythonpath = .\n")
    return pytester


def test_a_client_made_in_the_first_test_finds_the_model_of_each(made: pytest.Pytester) -> None:
    made.makepyfile(test_app=LATER)
    made.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=3)


def test_a_client_made_at_import_finds_it_with_the_ini_key(
    made: pytest.Pytester, capfd: pytest.CaptureFixture[str]
) -> None:
    made.makepyfile(test_app=AT_IMPORT)
    done = made.runpytest_inprocess("-p", "no:cacheprovider", "-o", "harness_fake_model=true")
    done.assert_outcomes(passed=3)
    done.stdout.fnmatch_lines("*late requests refused: 2; the first: POST /v1/messages: no*")
    wrong = made.runpytest_inprocess("-o", "harness_fake_model=maybe")
    wrong.stderr.fnmatch_lines("*harness_fake_model: true or false, not 'maybe'*")


def test_an_asynchronous_client_made_at_import_lives_through_loops(made: pytest.Pytester) -> None:
    made.makepyfile(test_app=LOOPS)
    done = made.runpytest_inprocess("-p", "no:cacheprovider", "-o", "harness_fake_model=true")
    done.assert_outcomes(passed=3)


def test_work_that_outlives_its_test_gets_no_answer_of_the_next(made: pytest.Pytester) -> None:
    made.makepyfile(test_app=LEFT)
    done = made.runpytest_inprocess("-p", "no:cacheprovider", "-o", "harness_fake_model=true")
    said = done.stdout.str()
    assert "1 request of test_leaves had no whole answer when it ended" in said
    done.stdout.fnmatch_lines("*late requests refused: 1; the first: POST*retries a request*")
    done.assert_outcomes(passed=2)
