"""What the API refuses in the fields beside the messages: thinking, tools, the cap of a reply.

What a model can do decides most of these (`models`), so they bite only for models that we know.
V15 to V17 hold for signatures that our own wire wrote; those of others are not judged.
V18 is on for gateways only: in an agent's hands it is the script's doing whether an answer thinks.
"""

from __future__ import annotations

from harness.providers.anthropic.rule import NEW, OLD, STRICT, USUAL, Rule

_BOUND = (
    "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/"
    "fix-bound-to-a-different-conversation"
)
_TROUBLE = "https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting"
_FABLE = "https://platform.claude.com/docs/en/models/fable-5-1/migration-guide"

FIELD_RULES = (
    Rule(
        "V15",
        USUAL,
        "I",
        "anthropics/claude-code#63404",
        "messages.{n}.content.{m}: `thinking` or `redacted_thinking` blocks in the latest "
        "assistant message cannot be modified. These blocks must remain as they were in the "
        "original response.",
    ),
    Rule(
        "V16",
        USUAL,
        "D",
        _BOUND,
        "messages.{n}.content.{m}: Invalid `signature` in `thinking` block",
    ),
    Rule(
        "V17",
        NEW | STRICT,
        "D",
        f"{_BOUND}; models since 5.1",
        "messages.{n}.content.{m}: Invalid `signature` in `thinking` block. The block is bound to "
        "a different conversation. Remove the block, or set "
        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
    ),
    Rule(
        "V18",
        STRICT,
        "I",
        "anomalyco/opencode#3077, mastra-ai/mastra#7799",
        "messages.{n}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
        "`{kind}`. When `thinking` is enabled, a final `assistant` message must start with a "
        "thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We "
        "recommend you include thinking blocks from previous turns. To avoid this requirement, "
        "disable `thinking`. Please consult our documentation at "
        "https://docs.claude.com/en/docs/build-with-claude/extended-thinking",
    ),
    Rule(
        "V19",
        USUAL,
        "I",
        "anomalyco/opencode#22863, earendil-works/pi#3297; models since 4.7",
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" '
        'and "output_config.effort" to control thinking behavior.',
    ),
    Rule(
        "V19a",
        USUAL,
        "D",
        f"{_TROUBLE}; models up to 4.5; text unconfirmed",
        "adaptive thinking is not supported on this model",
    ),
    Rule(
        "V19b",
        USUAL,
        "D",
        f"{_FABLE}; models that always think; text by likeness",
        '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" '
        'and "output_config.effort" to control thinking behavior.',
    ),
    Rule(
        "V19c",
        USUAL,
        "I",
        "themaximalist/llm.js#30",
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    Rule(
        "V19d",
        USUAL,
        "D",
        "SDK types: the budget is less than max_tokens; text seen in zotero-rag/zotero-rag#227",
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ),
    Rule(
        "V20",
        USUAL,
        "D",
        f"{_FABLE}; models without forced tools; text unconfirmed",
        "tool_choice: forced tool use is not supported on this model",
    ),
    Rule(
        "V20a",
        USUAL,
        "I",
        "mastra-ai/mastra#7507, usestrix/strix#503",
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    Rule(
        "V21",
        NEW | STRICT,
        "I",
        "home-assistant/core#147760, by today's length",
        "tools.{n}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'",
    ),
    Rule(
        "V21a",
        NEW | STRICT,
        "I",
        "anthropics/claude-code#96152",
        "tools.{n}.custom.name: String should have at most 128 characters",
    ),
    Rule(
        "V21b",
        OLD,
        "I",
        "home-assistant/core#147760",
        "tools.{n}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'",
    ),
    Rule(
        "V22",
        USUAL,
        "I",
        "danny-avila/LibreChat#13162",
        "tools: Tool names must be unique.",
    ),
    Rule(
        "V25",
        STRICT,
        "K",
        "caps from the documentation of models; text unconfirmed",
        "max_tokens: {tokens} > {most}, which is the maximum allowed number of output tokens for "
        "{model}",
    ),
)
