"""What clones and gateways refuse beyond the API itself: the rest of the dialect `strict`.

Each is the text of one of them. They are put together here because an agent that moves from one to
another meets them one after the other.
"""

from __future__ import annotations

from harness.providers.openai_chat.rule import STRICT, Rule

GATEWAY_RULES = (
    Rule(
        "C30",
        STRICT,
        "I",
        "openai/codex#22602",
        "Invalid assistant message: content or tool_calls must be set",
    ),
    Rule(
        "C31",
        STRICT,
        "I",
        "MoonshotAI/kimi-code#1985",
        "the message at position {n} with role '{role}' must not be empty",
    ),
    Rule(
        "C32",
        STRICT,
        "I",
        "vllm-project/vllm#6862",
        "After the optional system message, conversation roles must alternate "
        "user/assistant/user/assistant/...",
        code="400",
        type="BadRequestError",
    ),
    Rule(
        "C33",
        STRICT,
        "I",
        "haru/redmine_ai_helper#242",
        "{role} is not one of ['system', 'assistant', 'user', 'tool', 'function'] - "
        "'messages.['{n}].role'",
    ),
    Rule(
        "C34",
        STRICT,
        "K",
        "servers that read the arguments back; empty ones: NousResearch/hermes-agent#83937",
        "Invalid 'messages[{n}].tool_calls[{m}].function.arguments': not a JSON object.",
        "messages[{n}].tool_calls[{m}].function.arguments",
        "invalid_value",
    ),
    Rule("C35", STRICT, "I", "odysseus-dev/odysseus#6010", "Tool names must be unique"),
    Rule(
        "V24",
        STRICT,
        "I",
        "conghaonet/hao_chatgpt#4; the API itself said so before 2024",
        "This model's maximum context length is {window} tokens. However, you requested {total} "
        "tokens ({tokens} in the messages, {max_tokens} in the completion). Please reduce the "
        "length of the messages or completion.",
        "messages",
        "context_length_exceeded",
    ),
)
