"""Addresses: which are calls to a model."""

from __future__ import annotations

import pytest

from harness.incidents.llm_paths import refusal, shape_of


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/v1/messages", "anthropic"),
        ("/anthropic/v1/messages", "anthropic"),
        ("/model/us.anthropic.claude-x-v1%3A0/invoke", "anthropic"),
        ("/model/us.anthropic.claude-x/invoke-with-response-stream", "anthropic"),
        ("/v1/projects/p/publishers/anthropic/models/claude@1:rawPredict", "anthropic"),
        ("/v1/projects/p/publishers/anthropic/models/claude@1:streamRawPredict", "anthropic"),
        ("/v1/chat/completions", "openai-chat"),
        ("/openai/deployments/gpt/chat/completions", "openai-chat"),
        ("/api/v1/chat/completions", "openai-chat"),
        ("/v2/chat", "openai-chat"),
        ("/api/chat", "openai-chat"),
        ("/v1/responses", "openai-responses"),
        ("/v1beta/models/gemini:generateContent", "gemini"),
        ("/v1beta/models/gemini:streamGenerateContent", "gemini"),
        ("/model/m/converse", "bedrock-converse"),
        ("/v1/messages/count_tokens", ""),
        ("/v1/messages/batches", ""),
        ("/v1/threads/t/messages", ""),
        ("/v1/responses/compact", ""),
        ("/v1/completions", ""),
        ("/v1/embeddings", ""),
        ("", ""),
    ],
)
def test_shapes(path: str, shape: str) -> None:
    assert shape_of(path) == shape


def test_a_refusal_has_no_ids_in_it() -> None:
    assert refusal("/v1/jobs/ftjob-q9CUUUsHJemG/cancel") == "not an LLM path: /v1/jobs/ID/cancel"
    assert refusal("") == "not an LLM path: /"
