"""Fake models by lines of JSON: the words of FakeModel, and no line that goes unanswered."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runner.fake_model import FakeModel
from harness.runner.lent_models import LINES, PROTOCOL, LentModels, Line, say

REQUEST = {
    "model": "claude-sonnet-5",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
}


@pytest.fixture
def lent() -> Iterator[LentModels]:
    models = LentModels()
    yield models
    models.close()


def ask(lent: LentModels, does: str, **fields: Any) -> Any:
    return lent.answer(json.dumps({"id": 7, "do": does, "model": "a", **fields}).encode())


def post(url: str, request: dict[str, Any] = REQUEST) -> Any:
    asked = urllib.request.Request(
        f"{url}/v1/messages", json.dumps(request).encode(),
        {"content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01"},
    )  # fmt: skip
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)


def test_a_script_is_served_told_and_judged(lent: LentModels) -> None:
    ready = lent.ready("1")
    assert ready["protocol"] == PROTOCOL
    served = ask(lent, "serve", lines=[{"line": "says", "args": ["Hello."]}])
    assert (served.id, served.error) == (7, "")
    assert served.value["url"] == ready["url"]
    assert post(served.value["url"])["content"][0]["text"] == "Hello."
    (request,) = ask(lent, "requests").value
    assert request["messages"] == [
        {"role": "user", "text": "hi", "tool_uses": [], "tool_results": []}
    ]
    assert (request["status"], request["stream"]) == (200, False)
    assert ask(lent, "verify").value == {"verdict": "pass", "requests": 1}
    assert ask(lent, "end").error == ""
    assert ask(lent, "requests").kind == "input"


def test_the_environment_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://before.invalid")
    models = LentModels()
    for name in ("a", "b", "c"):
        ask(models, "serve", model=name, lines=[{"line": "says", "args": [name]}])
    models.close()
    assert os.environ["ANTHROPIC_BASE_URL"] == "http://before.invalid"


def test_a_second_model_has_a_url_besides(lent: LentModels) -> None:
    first = ask(lent, "serve", lines=[{"line": "says", "args": ["one"]}])
    second = ask(lent, "serve", model="b", lines=[{"line": "says", "args": ["two"]}])
    assert first.value["url"] != second.value["url"]
    assert post(second.value["url"])["content"][0]["text"] == "two"
    assert post(first.value["url"])["content"][0]["text"] == "one"


def test_what_fails_names_itself_and_how_it_is_explained(lent: LentModels) -> None:
    lines = [{"line": "says", "args": [text]} for text in "ab"]
    url = ask(lent, "serve", lines=lines).value["url"]
    assert "register" in ask(lent, "verify").error
    post(url)
    failed = ask(lent, "verify")
    assert failed.kind == "finding"
    assert failed.error.splitlines()[-1] == "explain: harness explain run.unplayed_turn"
    assert ask(lent, "seen").value == ""


def test_findings_on_requests_are_told_without_unplayed_lines(lent: LentModels) -> None:
    lines = [{"line": "says", "args": [text]} for text in "ab"]
    url = ask(lent, "serve", lines=lines).value["url"]
    result = {"type": "tool_result", "tool_use_id": "x", "content": "y"}
    with pytest.raises(urllib.error.HTTPError):
        post(url, {**REQUEST, "messages": [{"role": "user", "content": [result]}]})
    assert ask(lent, "seen").value.startswith("valid_request.V5: ")
    assert "unplayed" not in ask(lent, "seen").value


@pytest.mark.parametrize(
    "fields",
    [
        {"lines": [{"line": "verify"}]},
        {"lines": [{"line": "__init__"}]},
        {"lines": [{"line": "says"}]},
        {"lines": [{"line": "says", "args": ["a"], "settings": {"b": 1}}]},
        {"lines": [{"line": "fault", "args": ["no.such"]}]},
        {"lines": [{"line": "turn", "args": [{"sya": "x"}]}]},
        {"lines": [{"line": "times", "args": [3]}]},
        {"settings": {"wires": "x"}},
        {"settings": {"wire": "nowhere"}},
        {"settings": {"fail_on": "all"}},
    ],
)
def test_what_cannot_be_used_is_refused_and_answered(
    lent: LentModels, fields: dict[str, Any]
) -> None:
    answer = ask(lent, "serve", **fields)
    assert (answer.id, answer.kind) == (7, "input")
    assert answer.error
    assert ask(lent, "serve", lines=[{"line": "says", "args": ["a"]}]).error == ""


@given(st.binary())
def test_every_line_is_answered(line: bytes) -> None:
    models = LentModels()
    try:
        assert models.answer(line).kind == "input"
    finally:
        models.close()


def test_each_word_is_a_method_of_the_fake_model() -> None:
    assert all(callable(getattr(FakeModel, line)) for line in LINES)
    say(model := FakeModel(), Line("turn", ({"say": "x"},)))
    assert model.is_owed
