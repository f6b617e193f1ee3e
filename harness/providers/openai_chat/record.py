"""The record of OpenAI Chat Completions."""

from __future__ import annotations

from harness.providers.shared import openai
from harness.providers.shared.addresses import addresses
from harness.providers.shared.record import Dialects, ProviderRecord

RECORD = ProviderRecord(
    name="openai-chat",
    url=openai.URL,
    path="/v1/chat/completions",
    path_end="/chat/completions",
    addresses=addresses(__package__),
    hosts=((openai.AZURE, "azure"),),
    sdk=openai.SDK,
    headers=openai.HEADERS,
    dialects=Dialects(("azure", "lenient", "openai-chat", "strict"), default="openai-chat"),
    stop_words=(
        ("end_turn", "stop"),
        ("max_tokens", "length"),
        ("tool_use", "tool_calls"),
        ("tool_use", "function_call"),
        ("refusal", "content_filter"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("model_context_window_exceeded", "length"),
    ),
    usage_names={"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"},
)
"""The first dialect is the API itself. `azure` adds the results of a content filter. `strict` is
for clones and gateways that refuse more, `lenient` for those that check almost nothing. Cohere
speaks this API at another path."""
