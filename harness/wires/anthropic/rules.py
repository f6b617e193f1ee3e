"""What the API refuses, as a table: when it is on, what it answers, and how that is known.

The texts are what clients match on, so they stand here and nowhere else, with the thread that
they were seen in. `known` says how: S = types of the official SDK, D = the provider's
documentation, I = seen verbatim in the public issue named by `source`, K = general knowledge that
nothing here confirms. Texts drift by date; the `type` does not. V numbers up to V31 are those of
the rules known from such sources; V32 and up are the ordinary schema errors of the API.
"""

from __future__ import annotations

import msgspec

from harness.core.errors import InputError, nearest
from harness.core.plans import ApiError
from harness.core.ports import Violation

NEW = frozenset({"anthropic-2026"})
OLD = frozenset({"anthropic-2023", "bedrock"})
CLONE = frozenset({"strict-clone"})
ALL = NEW | OLD | CLONE

DIALECTS = tuple(sorted(ALL))
DEFAULT_DIALECT = "anthropic-2026"


class Rule(msgspec.Struct, frozen=True):
    """One refusal: `text` is a template, filled in by name (`n` message, `m` block, from 0)."""

    id: str
    dialects: frozenset[str]
    known: str
    source: str
    text: str
    status: int = 400
    type: str = "invalid_request_error"


_UNANSWERED = (
    "messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: "
    "{ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
    "message."
)

_TABLE = (
    Rule(
        "V1",
        CLONE,
        "K",
        "early API and gateways; the API itself merges same-role turns (SDK types)",
        'messages: roles must alternate between "user" and "assistant", but found multiple '
        '"{role}" roles in a row',
    ),
    Rule(
        "V2",
        OLD | CLONE,
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
        ALL,
        "K",
        "schema error of the API",
        "messages.{n}.role: Input should be 'user' or 'assistant'",
    ),
    Rule("V4", ALL, "I", "anthropics/claude-code#1831, anthropics/claude-code#5989", _UNANSWERED),
    Rule(
        "V5",
        ALL,
        "I",
        "openclaw/openclaw#16095",
        "messages.{n}.content.{m}: unexpected `tool_use_id` found in `tool_result` blocks: {ids}. "
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous "
        "message.",
    ),
    Rule(
        "V6",
        ALL,
        "I",
        "anthropics/claude-code#20901, anthropics/claude-code#28515",
        "messages.{n}.content.{m}: `tool_use` ids must be unique",
    ),
    Rule(
        "V7",
        ALL,
        "K",
        "no public thread with this text",
        "messages.{n}.content.{m}: each tool_use must have a single result. Found multiple "
        "`tool_result` blocks with id: {ids}",
    ),
    Rule("V8", ALL, "K", "results come first in the user turn; answered as V4", _UNANSWERED),
    Rule(
        "V9",
        ALL,
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
        ALL,
        "I",
        "anthropics/claude-code#6774, microsoft/autogen#6083",
        "messages.{n}: all messages must have non-empty content except for the optional final "
        "assistant message",
    ),
    Rule(
        "V13",
        OLD | CLONE,
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
        "V28",
        ALL,
        "I",
        "anthropics/claude-code#86560",
        "The request body is not valid JSON: {reason}",
    ),
    Rule(
        "V31",
        ALL,
        "K",
        "schema error of the API",
        "messages.{n}.content.{m}.tool_use.input: Input should be a valid dictionary",
    ),
    Rule("V32", ALL, "K", "schema error of the API", "{path}: Field required"),
    Rule(
        "V33",
        ALL,
        "K",
        "the API's documented order of turns",
        'messages: first message must use the "user" role',
    ),
    Rule(
        "V34",
        ALL,
        "K",
        "schema error of the API",
        "messages.{n}: `{kind}` blocks can only be in `{role}` messages",
    ),
    Rule("V35", ALL, "K", "schema error of the API", "{path}: Input should be {wanted}"),
    Rule("V36", ALL, "K", "schema error of the API", "messages: at least one message is required"),
)

RULES: dict[str, Rule] = {rule.id: rule for rule in _TABLE}
"""Every rule by its id."""


def rules_of(dialect: str) -> frozenset[str]:
    """The ids of the rules that are on in a dialect; "" is the default one.

    Raises InputError, with the nearest name, when there is no such dialect.
    """
    dialect = dialect or DEFAULT_DIALECT
    if dialect not in ALL:
        hint = nearest(dialect, DIALECTS)
        raise InputError(f"no dialect of anthropic is named {dialect!r}; {hint}", "dialect")
    return frozenset(rule.id for rule in _TABLE if dialect in rule.dialects)


def violation(rule_id: str, **values: object) -> Violation:
    """The violation of a rule, its text filled in."""
    rule = RULES[rule_id]
    return Violation(rule.id, ApiError(rule.status, rule.type, rule.text.format(**values)))
