"""A suite that vcrpy recorded against a server of this machine, played strictly."""

from __future__ import annotations

import json
import os
import re

import pytest
import vcr.stubs.urllib3_stubs

from harness import FakeModel
from harness.core.values.machine_names import TOKEN_PREFIX, without_token
from harness.providers.anthropic import provider
from harness.pytest_plugin import vcr_fixtures, vcr_suite
from harness.recordings.http_interaction import Interaction
from harness.runner import prepare
from harness.runner.recorded_calls import RecordedCalls
from harness.transports.access_check import new_token

LOADED = (provider, vcr.stubs.urllib3_stubs, vcr_fixtures, vcr_suite)
"""Loaded before a pytest within this one, which takes away the modules that it has loaded."""

CONFTEST = """
import json, os, urllib.error, urllib.request
import pytest

def ask(text, path="/v1/messages"):
    asked = {"model": "claude-sonnet-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": os.environ.get(text, text)}]}
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    url = os.environ["MODEL_URL"] + path
    request = urllib.request.Request(url, json.dumps(asked).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"][0]["text"]

@pytest.fixture(scope="module")
def vcr_config():
    return {"record_mode": os.environ["MODE"], "filter_headers": ["x-api-key"]}
"""
SUITE = """
import os, urllib.error
import pytest
from conftest import ask

@pytest.mark.vcr
def test_one():
    assert ask("first") == "Yes."

@pytest.mark.vcr
def test_two():
    assert ask("first") == "Yes."
    if "SHORT" not in os.environ:
        assert ask("second") == "Yes."

@pytest.mark.vcr
def test_swallows():
    try:
        ask("third")
    except urllib.error.HTTPError:
        pass

class TestClass:
    @pytest.mark.vcr
    def test_named(self, vcr):
        ask("fourth")
        assert vcr.play_count == (os.environ["MODE"] == "none")

def test_unmarked():
    assert ask("live") == "Yes."
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A suite with its cassettes, and no server behind it any more."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider -p no:recording -p no:respx")
    pytester.makeini("[pytest]\nharness_vcr = true\naddopts = --strict-markers\npythonpath = .\n")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_suite=SUITE)
    (pytester.path / "cassettes/test_suite").mkdir(parents=True)
    monkeypatch.setenv("MODE", "once")
    with FakeModel().says("Yes.").times("forever").serve() as named:
        monkeypatch.setenv("MODEL_URL", named["ANTHROPIC_BASE_URL"])
        pytester.runpytest_inprocess().assert_outcomes(passed=5)
    monkeypatch.setenv("MODE", "none")
    return pytester


def test_no_cassette_holds_the_token_of_its_server(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {path: path.read_text() for path in suite.path.glob("cassettes/test_suite/*")}
    assert len(texts) == 4
    assert not [path for path, text in texts.items() if TOKEN_PREFIX in text]
    token = new_token()  # vcrpy alone, without `harness_vcr`, writes the URL as it is
    for path, text in texts.items():
        path.write_text(re.sub(r"(uri: http://[^/]+)", rf"\1/{token}", text))
        assert token in path.read_text()
    monkeypatch.setenv("MODEL_URL", re.sub(TOKEN_PREFIX + r"\w+", new_token(), _model_url()))
    suite.runpytest_inprocess("-k", "not unmarked").assert_outcomes(passed=4, deselected=1)


def _model_url() -> str:
    url = os.environ["MODEL_URL"]
    assert TOKEN_PREFIX in url
    return url


@pytest.mark.real
def test_the_layout_is_that_of_pytest_recording(suite: pytest.Pytester) -> None:
    made = sorted(path.name for path in suite.path.glob("cassettes/test_suite/*"))
    assert made == [
        "TestClass.test_named.yaml", "test_one.yaml", "test_swallows.yaml", "test_two.yaml",
    ]  # fmt: skip
    assert "x-api-key" not in (suite.path / "cassettes/test_suite/test_one.yaml").read_text()
    suite.runpytest_inprocess("-k", "not unmarked").assert_outcomes(passed=4, deselected=1)
    for path in suite.path.glob("cassettes/test_suite/*"):
        path.rename(suite.path / "cassettes" / path.name)
    (suite.path / "cassettes/test_suite").rmdir()
    suite.runpytest_inprocess("-k", "not unmarked").assert_outcomes(passed=4, deselected=1)


def test_what_is_changed_fails(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("first", "second", "third"):
        monkeypatch.setenv(text, f"{text}, changed")
    done = suite.runpytest_inprocess("-k", "not unmarked")
    done.assert_outcomes(passed=1, failed=3, deselected=1)
    said = "messages[0].content[0].text differs: sent 'third, changed', recorded 'third'"
    done.stdout.fnmatch_lines(
        [
            "cassette.miss: POST /v1/messages: no recorded exchange matches this request; nearest*",
            "  in cassettes/test_suite/test_one.yaml",
            "  the test then raised HTTPError: HTTP Error 400: Bad Request",
            "  repeat:  pytest test_suite.py::test_one",
            "*_ test_swallows _*",
            f"cassette.miss: POST /v1/messages: *; nearest is #1: {said.replace('[', '[[]')}; *",
        ]
    )
    done.stdout.no_fnmatch_line("*hidden*")


def test_a_secret_in_a_cassette_is_a_warning(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = suite.path / "cassettes/test_suite/test_one.yaml"
    answer, secret = '"text":"Yes."', '"text":"Yes.","api_key":"Xk29fLq8ZtR4vWc7Yb1N"'
    assert answer in path.read_text()
    path.write_text(path.read_text().replace(answer, secret))
    done = suite.runpytest_inprocess("-k", "one or two")
    done.assert_outcomes(passed=2, deselected=3, warnings=done.parseoutcomes()["warnings"])
    done.stdout.fnmatch_lines(
        [
            "*SecretInCassette: cassettes/test_suite/test_one.yaml holds a secret: exchange 1, "
            "answer's body: value of a secret's name (digest *; see: harness secrets cassettes/*"
        ]
    )
    assert str(done.stdout).count("SecretInCassette") == 1
    done.stdout.no_fnmatch_line("*Xk29fLq8*")


def test_what_is_not_asked_fails(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHORT", "1")
    monkeypatch.delattr("vcr.cassette.Cassette.path", raising=False)  # vcrpy 8 has none
    done = suite.runpytest_inprocess("-k", "two", "-o", "harness_vcr=true")
    done.assert_outcomes(failed=1, deselected=4)
    assert "cassette.unplayed: never asked for: #2 POST /v1/messages" in done.outlines
    again = "  repeat:  pytest test_suite.py::test_two -o harness_vcr=true"
    assert again in done.outlines


@pytest.mark.real
def test_a_cassette_that_is_not_there(suite: pytest.Pytester) -> None:
    (suite.path / "cassettes/test_suite/test_one.yaml").unlink()
    done = suite.runpytest_inprocess("-k", "one")
    done.assert_outcomes(failed=1, deselected=4)
    done.stdout.fnmatch_lines(["cassette.miss: the cassette is not there; POST /v1/messages: *"])


@pytest.mark.real
def test_vcrpy_alone_misses_the_change(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    with vcr.use_cassette(
        str(suite.path / "cassettes/test_suite/test_one.yaml"), record_mode="none"
    ):
        import json
        import os
        import urllib.request

        # vcrpy alone knows no token, which the harness has left out of the cassette.
        url = without_token(os.environ["MODEL_URL"] + "/v1/messages")
        request = urllib.request.Request(url, json.dumps({"changed": "wholly"}).encode())
        with urllib.request.urlopen(request) as answer:
            assert json.load(answer)["content"][0]["text"] == "Yes."


SHARED = """
import pytest, vcr
from conftest import ask

@pytest.fixture(scope="module")
def shared():
    with vcr.use_cassette("cassettes/test_suite/test_two.yaml", record_mode="none"):
        yield

def test_first(shared):
    ask("first")

def test_second(shared):
    SECOND

def test_within():
    with vcr.use_cassette("cassettes/test_suite/test_two.yaml", record_mode="none"):
        ask("second")
"""


@pytest.mark.real
def test_cassettes_of_modules_and_of_blocks(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_shared=SHARED.replace("SECOND", 'ask("second")'))
    done = suite.runpytest_inprocess("test_shared.py")
    done.assert_outcomes(passed=2, failed=1)
    assert "cassette.unplayed: never asked for: #1 POST /v1/messages" in done.outlines
    suite.makepyfile(test_shared=SHARED.replace("SECOND", "pass"))
    done = suite.runpytest_inprocess("test_shared.py", "-k", "first or second")
    done.assert_outcomes(passed=2, errors=1, deselected=1)
    assert "cassette.unplayed: never asked for: #2 POST /v1/messages" in done.outlines


PLAIN = """
import os, urllib.request
import pytest

def send(body):
    url = os.environ["MODEL_URL"] + "/elsewhere"
    try:
        urllib.request.urlopen(urllib.request.Request(url, body.encode())).read()
    except urllib.error.HTTPError as error:
        return error.code

@pytest.mark.vcr
def test_json():
    assert send('{"a": 1, "b": 2}') == 404

@pytest.mark.vcr(ignore_hosts=["127.0.0.1"])
def test_ignored():
    with pytest.raises(OSError):
        send("x")
"""


@pytest.mark.real
def test_other_requests_are_told_by_their_body(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    (suite.path / "cassettes/test_plain").mkdir()
    suite.makepyfile(test_plain=PLAIN)
    monkeypatch.setenv("MODE", "once")
    with FakeModel().says("Yes.").times("forever").serve() as named:
        monkeypatch.setenv("MODEL_URL", named["ANTHROPIC_BASE_URL"])
        suite.runpytest_inprocess("test_plain.py", "-k", "json").assert_outcomes(
            passed=1, deselected=1
        )
    monkeypatch.setenv("MODE", "none")
    suite.makepyfile(test_plain=PLAIN.replace('{"a": 1, "b": 2}', '{"b":2,"a":1}'))
    suite.runpytest_inprocess("test_plain.py").assert_outcomes(passed=2)
    suite.makepyfile(test_plain=PLAIN.replace('"a": 1', '"a": 3'))
    done = suite.runpytest_inprocess("test_plain.py", "-k", "json")
    done.assert_outcomes(failed=1, deselected=1)
    done.stdout.fnmatch_lines(["cassette.miss: POST /elsewhere: *; nearest is #1: body.a differs*"])


def test_a_request_reads_no_file_since_it_may_come_within_an_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a blocking call")

    uri, hello = "https://api.anthropic.com/v1/messages", {"role": "user", "content": "hi"}
    asked = json.dumps({"model": "m", "max_tokens": 9, "messages": [hello]}).encode()
    said = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn",
            "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
    headers = {"content-type": ["application/json"]}
    one = Interaction(
        method="POST", uri=uri, request_headers=headers, request_body=asked, status=200,
        response_headers=headers, response_body=json.dumps(said).encode(),
    )  # fmt: skip
    prepare.versions.cache_clear()
    calls = RecordedCalls([one])
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refused)
        flat = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
        answer = calls.answer("POST", uri, flat, asked, lambda place: True)
    assert answer.place == 0, answer.why
