"""What the API refuses in the messages of a request: pairing, content, images, marks, size.

The texts are what clients match on, so they stand in these tables and nowhere else, with the thread
that they were seen in. Texts drift by date; the `type` does not. V numbers up to V31 are those of
the rules known from such sources; V32 and up are the ordinary schema errors of the API.
"""

from __future__ import annotations

from harness.providers.anthropic.rule import ALL, NEW, OLD, STRICT, USUAL, Rule

_UNANSWERED = (
    "messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: "
    "{ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
    "message."
)

MESSAGE_RULES = (
    Rule(
        "V1",
        STRICT,
        "K",
        "early API and gateways; the API itself merges same-role turns (SDK types)",
        'messages: roles must alternate between "user" and "assistant", but found multiple '
        '"{role}" roles in a row',
    ),
    Rule(
        "V2",
        OLD | STRICT,
        "D",
        "QwenLM/Qwen#2244; system messages since Opus 4.8",
        "messages.{n}: role 'system' is not supported on this model",
    ),
    Rule(
        "V2a",
        NEW,
        "S",
        "SDK types: a system message stands right after a user turn; text unconfirmed",
        "messages.{n}: `system` messages must immediately follow a `user` message",
    ),
    Rule(
        "V2b",
        USUAL,
        "K",
        "schema error of the API",
        "messages.{n}.role: Input should be 'user' or 'assistant'",
    ),
    Rule(
        "V3",
        USUAL,
        "S",
        "SDK types: at most 100,000 messages; text unconfirmed",
        "messages: List should have at most {most} items after validation, not {count}",
    ),
    Rule("V4", USUAL, "I", "anthropics/claude-code#1831, anthropics/claude-code#5989", _UNANSWERED),
    Rule(
        "V5",
        USUAL,
        "I",
        "openclaw/openclaw#16095",
        "messages.{n}.content.{m}: unexpected `tool_use_id` found in `tool_result` blocks: {ids}. "
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous "
        "message.",
    ),
    Rule(
        "V6",
        USUAL,
        "I",
        "anthropics/claude-code#20901, anthropics/claude-code#28515",
        "messages.{n}.content.{m}: `tool_use` ids must be unique",
    ),
    Rule(
        "V7",
        USUAL,
        "K",
        "no public thread with this text",
        "messages.{n}.content.{m}: each tool_use must have a single result. Found multiple "
        "`tool_result` blocks with id: {ids}",
    ),
    Rule("V8", USUAL, "K", "results come first in the user turn; answered as V4", _UNANSWERED),
    Rule(
        "V9",
        USUAL,
        "I",
        "anthropics/claude-code#60837",
        "messages: text content blocks must be non-empty",
    ),
    Rule(
        "V10",
        NEW,
        "I",
        "NousResearch/hermes-agent#70475, NousResearch/hermes-agent#70909; since 2026",
        "messages: text content blocks must contain non-whitespace text",
    ),
    Rule(
        "V11",
        USUAL,
        "I",
        "anthropics/claude-code#6774, microsoft/autogen#6083",
        "messages.{n}: all messages must have non-empty content except for the optional final "
        "assistant message",
    ),
    Rule(
        "V12",
        USUAL,
        "I",
        "anthropics/claude-code#59294",
        "messages.{n}.content.{m}.text: cache_control cannot be set for empty text blocks",
    ),
    Rule(
        "V13",
        OLD | STRICT,
        "I",
        "anomalyco/opencode#1295",
        "messages: final assistant content cannot end with trailing whitespace",
    ),
    Rule(
        "V14",
        NEW,
        "I",
        "XiaomiMiMo/MiMo-Code#1703; models since 4.6",
        "This model does not support assistant message prefill. The conversation must end with a "
        "user message.",
    ),
    Rule(
        "V23",
        ALL,
        "I",
        "anthropics/claude-code#12556",
        "prompt is too long: {tokens} tokens > {window} maximum",
    ),
    Rule(
        "V24",
        OLD,
        "I",
        "aaif-goose/goose#3635; newer models truncate instead",
        "input length and `max_tokens` exceed context limit: {tokens} + {max_tokens} > {window}, "
        "decrease input length or `max_tokens` and try again",
    ),
    Rule(
        "V26",
        USUAL,
        "I",
        "gptme/gptme#185",
        "{path}.image.source.base64: image exceeds 5 MB maximum: {size} bytes > 5242880 bytes",
    ),
    Rule(
        "V27",
        USUAL,
        "I",
        "damianvtran/local-operator#153; more than 20 images lower the limit for each",
        "{path}.image.source.base64.data: At least one of the image dimensions exceed max allowed "
        "size for many-image requests: 2000 pixels",
    ),
    Rule(
        "V27a",
        USUAL,
        "K",
        "the same limit for up to 20 images; text by likeness",
        "{path}.image.source.base64.data: At least one of the image dimensions exceed max allowed "
        "size: 8000 pixels",
    ),
    Rule(
        "V28",
        ALL,
        "I",
        "anthropics/claude-code#86560",
        "The request body is not valid JSON: {reason}",
    ),
    Rule(
        "V29",
        USUAL,
        "I",
        "anthropics/claude-code#4378, router-for-me/CLIProxyAPI#512",
        "{path}: Extra inputs are not permitted",
    ),
    Rule(
        "V30",
        USUAL,
        "I",
        "tghamm/Anthropic.SDK#50, continuedev/continue#6937",
        "A maximum of 4 blocks with cache_control may be provided. Found {count}.",
    ),
    Rule(
        "V31",
        USUAL,
        "K",
        "schema error of the API",
        "messages.{n}.content.{m}.tool_use.input: Input should be a valid dictionary",
    ),
    Rule("V32", ALL, "K", "schema error of the API", "{path}: Field required"),
    Rule(
        "V33",
        USUAL,
        "K",
        "the API's documented order of turns",
        'messages: first message must use the "user" role',
    ),
    Rule(
        "V34",
        USUAL,
        "K",
        "schema error of the API",
        "messages.{n}: `{kind}` blocks can only be in `{role}` messages",
    ),
    Rule("V35", ALL, "K", "schema error of the API", "{path}: Input should be {wanted}"),
    Rule(
        "V36", USUAL, "K", "schema error of the API", "messages: at least one message is required"
    ),
)
