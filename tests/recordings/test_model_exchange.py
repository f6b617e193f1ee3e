"""Addresses: which are calls to a model."""

from __future__ import annotations

import pytest

from harness.recordings.model_exchange import api_of_path, no_model_call


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
        ("/api/chat", "ollama"),
        ("/v1/responses", "openai-responses"),
        ("/v1beta/models/gemini:generateContent", "gemini"),
        ("/v1beta/models/gemini:streamGenerateContent", "gemini"),
        ("/model/m/converse", "bedrock-converse"),
        ("/model/m/converse-stream", "bedrock-converse"),
        ("/v1/messages/count_tokens", ""),
        ("/v1/messages/batches", ""),
        ("/v1/threads/t/messages", ""),
        ("/v1/responses/compact", ""),
        ("/v1/completions", ""),
        ("/v1/embeddings", ""),
        ("", ""),
    ],
)
def test_the_api_of_a_path(path: str, shape: str) -> None:
    api = api_of_path(path)
    assert (api.name if api else "") == shape


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "no LLM traffic: POST /"),
        ("/v1/embeddings", "no LLM traffic: POST /v1/embeddings"),
        ("/v1/jobs/ftjob-q9CUUUsHJemG/cancel", "no LLM traffic: POST /v1/jobs/ID/cancel"),
        ("/v1/vector_stores/REDACTED_UUID", "no LLM traffic: POST /v1/vector_stores/ID"),
        ("/v1/complete", "a text completion, which has no messages: POST /v1/complete"),
        ("/v1/completions", "a text completion, which has no messages: POST /v1/completions"),
        ("/v1/messages/batches", "a batch, whose answers come elsewhere: POST "),
        ("/v1/responses/compact", "a compaction, whose answer is not a message of a model: POST "),
        ("/v1/messages/count_tokens", "a count of tokens, no model answers: POST "),
        ("/v1/responses/input_tokens", "a count of tokens, no model answers: POST "),
        ("/v1beta/models/g:countTokens", "a count of tokens, no model answers: POST "),
    ],
)
def test_a_refusal_says_what_it_is_without_ids(path: str, reason: str) -> None:
    assert no_model_call("", path).what == (reason + path if reason.endswith("POST ") else reason)


def test_a_refusal_names_the_method() -> None:
    assert no_model_call("", "/v1/models", "GET").what == "no LLM traffic: GET /v1/models"
