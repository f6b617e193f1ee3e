"""The fixture `cassette`: plays, records when it is asked to, and says how when it is not."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.cassettes.recorded import said
from tests.transports.upstreams import answering, whole

TESTS = """
import json
import os
import urllib.request

def ask(text):
    # by what the environment names, as the SDKs do
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    key = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"}
    asked = [{"role": "user", "content": text}]
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": asked}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, key)) as answer:
        return json.loads(answer.read())["content"][0]["text"]

def test_by_its_own_name(cassette):
    with cassette():
        assert ask(WORDS) == f"you said {WORDS}"

def test_named(cassette):
    with cassette("shared/greeting") as url:
        assert url.startswith("http://127.0.0.1:")
        ask("one")
        ask("two")
"""


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A provider that the environment names, with a key."""

    def echo(body: bytes) -> bytes:
        text = json.loads(body)["messages"][0]["content"]
        return whole(json.dumps(said(f"you said {text}")).encode())

    with answering(echo) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a key that is real")
        yield


def _run(session: pytest.Pytester, *words: str, text: str = "hello") -> pytest.RunResult:
    session.makepyfile(test_it=TESTS.replace("WORDS", repr(text)))
    return session.runpytest("-p", "no:cacheprovider", *words)


def test_without_a_cassette_the_test_fails_and_says_how_to_record(
    pytester: pytest.Pytester,
) -> None:
    done = _run(pytester)
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(
        ["no cassette *test_by_its_own_name.yaml; record it: "
         "pytest test_it.py::test_by_its_own_name --harness-record=once"]
    )  # fmt: skip
    assert not (pytester.path / "cassettes").exists()


@pytest.mark.usefixtures("provider")
def test_recorded_once_it_is_played_from_then_on(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(pytester, "--harness-record=once").assert_outcomes(passed=2)
    folder = pytester.path / "cassettes"
    files = sorted(str(p.relative_to(folder)) for p in folder.rglob("*.yaml"))
    assert files == ["shared/greeting.yaml", "test_by_its_own_name.yaml"]
    assert "a key that is real" not in (folder / files[1]).read_text()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    for words in ([], ["--harness-record=none"], ["--harness-record=once"]):
        _run(pytester, *words).assert_outcomes(passed=2)
    done = _run(pytester, "--harness-record=all")
    done.assert_outcomes(failed=2)


@pytest.mark.usefixtures("provider")
def test_another_prompt_fails_and_is_recorded_anew_on_demand(pytester: pytest.Pytester) -> None:
    _run(pytester, "--harness-record=once").assert_outcomes(passed=2)
    words = ["-k", "by_its_own_name"]
    _run(pytester, *words, text="bye").assert_outcomes(failed=1)
    _run(pytester, *words, "--harness-record=once", text="bye").assert_outcomes(failed=1)
    _run(pytester, *words, "--harness-record=all", text="bye").assert_outcomes(passed=1)
    _run(pytester, *words, text="bye").assert_outcomes(passed=1)


LESS = """
import test_it

def test_less(cassette):
    with cassette("shared/greeting"):
        test_it.ask("one")

def test_other(cassette):
    with cassette("shared/greeting"):
        try:
            test_it.ask("three")
        except OSError:
            pass

def test_own_failure(cassette):
    with cassette("shared/greeting"):
        assert test_it.ask("one") == "the test's own"
"""


@pytest.mark.usefixtures("provider")
def test_what_is_not_as_recorded_is_said_even_if_the_client_hides_it(
    pytester: pytest.Pytester,
) -> None:
    _run(pytester, "--harness-record=once").assert_outcomes(passed=2)
    pytester.makepyfile(test_less=LESS)
    done = _run(pytester, "test_less.py")
    done.assert_outcomes(failed=3)
    done.stdout.fnmatch_lines(
        [
            "*greeting.yaml does not match the requests",
            "cassette.unplayed: 1 recorded exchanges were never played*",
            "record it again: pytest test_less.py::test_less --harness-record=all",
            "cassette.miss: *",
            "*assert 'you said one' == \"the test's own\"*",
        ]
    )


@pytest.mark.usefixtures("provider")
def test_a_test_that_fails_records_nothing(pytester: pytest.Pytester) -> None:
    done = _run(pytester, "--harness-record=once", "-k", "own_name", text="a' + 1 + 'b")
    assert done.parseoutcomes().get("failed", 0) + done.parseoutcomes().get("errors", 0) == 1
    assert not list(pytester.path.rglob("*.yaml"))
