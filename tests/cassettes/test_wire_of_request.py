"""Which paths are calls to a model that a transport can answer."""

from __future__ import annotations

import pytest

from harness.cassettes.cassette_file import wire_of


@pytest.mark.parametrize(
    ("path", "wire"),
    [
        ("/v1/messages", "anthropic"),
        ("/gateway/anthropic/v1/messages", "anthropic"),
        ("/v1/chat/completions", "openai-chat"),
        ("/openai/deployments/my-model/chat/completions", "openai-chat"),
        ("/api/paas/v4/chat/completions", "openai-chat"),
        ("/v1/responses", "openai-responses"),
        ("/openai/responses", "openai-responses"),
        ("/openai/v1/responses", "openai-responses"),
        ("/model/us.anthropic.claude-x-v1%3A0/invoke", "anthropic"),
        ("/model/claude/invoke-with-response-stream", "anthropic"),
        ("/v1/projects/p/locations/l/publishers/anthropic/models/m@1:rawPredict", "anthropic"),
    ],
)
def test_the_api_is_told_by_the_end_of_the_path(path: str, wire: str) -> None:
    found = wire_of("post", path)
    assert found is not None
    assert found.name == wire


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/messages"),
        ("POST", "/v1/messages/count_tokens"),
        ("POST", "/v1/messages/batches"),
        ("POST", "/model/anthropic.claude/converse"),
        ("POST", "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict"),
        ("POST", "/v1/projects/p/locations/l/publishers/mistralai/models/m:rawPredict"),
        ("POST", "/api/chat"),
        ("POST", "/v1/embeddings"),
        ("POST", ""),
    ],
)
def test_anything_else_is_none(method: str, path: str) -> None:
    assert wire_of(method, path) is None
