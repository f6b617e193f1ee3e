"""Models that say they do not exist, and pictures out of reach, are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import providers
from harness.providers.shared.unoffered import is_out_of_reach, says_missing

HI = {"role": "user", "content": "hi"}


def body(wire: str, model: str, url: str = "") -> bytes:
    """A request to a model, with a picture at an address if there is one."""
    if wire == "gemini":
        file = {"fileData": {"fileUri": url, "mimeType": "image/png"}}
        parts: list[Any] = [{"text": "hi"}, *([file] if url else [])]
        return json.dumps({"model": model, "contents": [{"role": "user", "parts": parts}]}).encode()
    picture: dict[str, Any] = {
        "anthropic": {"type": "image", "source": {"type": "url", "url": url}},
        "openai-chat": {"type": "image_url", "image_url": {"url": url}},
        "openai-responses": {"type": "input_image", "image_url": url},
    }[wire]
    said = {"role": "user", "content": [picture]} if url else HI
    listed = "input" if wire == "openai-responses" else "messages"
    return json.dumps({"model": model, "max_tokens": 9, listed: [said]}).encode()


def broken(wire: str, model: str = "any", url: str = "") -> list[tuple[str, int, str]]:
    """The rules that a request breaks in the default dialect, with status and text."""
    data = body(wire, model, url).replace(b'"max_tokens": 9, "input"', b'"input"')
    found = providers.by_name(wire).reader("", None).read(data).violations
    return [(v.rule, v.error.status, v.error.message) for v in found]


REFUSED = {
    "anthropic": ("V40", 404, "model: {}"),
    "openai-chat": (
        "C37", 404, "The model `{}` does not exist or you do not have access to it."),
    "openai-responses": ("R29", 400, "The requested model '{}' does not exist."),
    "gemini": (
        "G33", 404,
        "models/{} is not found for API version v1beta, or is not supported for generateContent. "
        "Call ListModels to see the list of available models and their supported methods."),
}  # fmt: skip


@pytest.mark.parametrize("wire", REFUSED)
@pytest.mark.parametrize(
    "model", ["this-model-does-not-exist", "non-existent-model", "Nonexistent", "no_such_model"]
)
def test_a_model_that_says_it_does_not_exist_is_refused(wire: str, model: str) -> None:
    rule, status, text = REFUSED[wire]
    assert broken(wire, model) == [(rule, status, text.format(model))]


@pytest.mark.parametrize("wire", REFUSED)
@pytest.mark.parametrize(
    "model",
    ["any", "m", "test", "gpt-9", "claude-haiku-4-5", "claude-3-5-haiku-latest",
     "claude-3-opus-20240229", "gemini-4-pro", "fake-model", "my-fine-tune", "existing-model"],
)  # fmt: skip
def test_any_other_name_of_a_model_is_served(wire: str, model: str) -> None:
    assert broken(wire, model) == []


@pytest.mark.parametrize("model", ["claude-4-5-haiku", "claude-4-opus-20250514", "claude-5-sonnet"])
def test_an_order_that_anthropic_never_had_is_refused(model: str) -> None:
    assert broken("anthropic", model) == [("V40", 404, f"model: {model}")]


OUT_OF_REACH = [
    "http://localhost:3000/a.png", "https://127.0.0.1/a.png", "http://10.0.0.7/a.png",
    "http://192.168.1.4:8000/a.png", "http://[::1]/a.png", "https://files.local/a.png",
    "http://minio:9000/bucket/a.png", "https://x.invalid/a.png", "https://example.com/a.png",
    "http://169.254.169.254/latest", "http://[fe80::1/a.png",
]  # fmt: skip
IN_REACH = [
    "https://upload.wikimedia.org/a.png", "https://raw.githubusercontent.com/a/b/c.png",
    "https://8.8.8.8/a.png", "https://notexample.com/a.png", "https://my-test.org/a.png",
]  # fmt: skip
PICTURES = {
    "anthropic": ("V41a", "Unable to download the file. Please verify the URL and try again."),
    "openai-chat": ("C38a", "Error while downloading {}."),
    "openai-responses": ("R30a", "Error while downloading {}."),
    "gemini": ("G34", "Cannot fetch content from the provided URL."),
}


@pytest.mark.parametrize("wire", PICTURES)
@pytest.mark.parametrize("url", OUT_OF_REACH)
def test_an_address_that_no_provider_reaches_is_refused(wire: str, url: str) -> None:
    rule, text = PICTURES[wire]
    if wire == "anthropic" and url.startswith("http:"):
        rule, text = "V41", "Only HTTPS URLs are supported."
    assert broken(wire, url=url) == [(rule, 400, text.format(url))]


@pytest.mark.parametrize("wire", PICTURES)
@pytest.mark.parametrize("url", IN_REACH)
def test_an_address_on_the_web_is_taken(wire: str, url: str) -> None:
    assert broken(wire, url=url) == []


@pytest.mark.parametrize(("wire", "rule"), [("openai-chat", "C38"), ("openai-responses", "R30")])
@pytest.mark.parametrize("url", ["photos/file_1.jpg", "iVBORw0KGgo=", "file:///tmp/a.png"])
def test_what_is_no_address_is_refused(wire: str, rule: str, url: str) -> None:
    assert [name for name, _, _ in broken(wire, url=url)] == [rule]


def test_the_picture_of_a_result_is_looked_at_too() -> None:
    source = {"type": "url", "url": "https://localhost/a.png"}
    result = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": [{"type": "image", "source": source}],
    }
    use = {"type": "tool_use", "id": "toolu_1", "name": "shot", "input": {}}
    messages = [HI, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    data = json.dumps({"model": "any", "max_tokens": 9, "messages": messages}).encode()
    found = providers.by_name("anthropic").reader("", None).read(data).violations
    assert [violation.rule for violation in found] == ["V41a"]


@given(st.text())
def test_no_text_breaks_the_look_at_an_address(text: str) -> None:
    for url in (text, f"http://{text}", f"https://{text}/x"):
        assert is_out_of_reach(url) in (True, False)
    assert says_missing(text) in (True, False)
