"""What the API refuses, as a table: when it is on, what it answers, and how that is known.

The texts are what clients match on, so they stand here and nowhere else, with the thread that they
were seen in. `known` says how: S = types of the official SDK, D = the provider's documentation, I =
seen verbatim in the public issue named by `source`, K = general knowledge that nothing here
confirms. Three dialects: the API itself, `strict` (the clones and gateways that refuse more), and
`lenient` (those that check almost nothing). V23 and V24, a prompt over the window, are named alike
on every wire.
"""

from __future__ import annotations

from harness.core.transition.ports import Violation
from harness.core.values.errors import InputError, nearest
from harness.core.values.plans import ApiError
from harness.providers.openai_chat.errors import ChatError
from harness.providers.openai_chat.rule import CHECKED, OFFICIAL, Rule
from harness.providers.openai_chat.rule import DIALECTS as DIALECTS
from harness.providers.openai_chat.rules_gateway import GATEWAY_RULES
from harness.providers.openai_chat.rules_shape import SHAPE_RULES

DEFAULT_DIALECT = "openai-chat"

_NULL = "Invalid value for 'content': expected a string, got null."

_CONVERSATION = (
    Rule(
        "C1",
        CHECKED,
        "I",
        "sdcb/chats#132",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}",
        "{where}",
    ),
    Rule(
        "C2",
        CHECKED,
        "I",
        "miurla/morphic#136, smarter-sh/smarter#264",
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
        "with 'tool_calls'.",
        "messages.[{n}].role",
    ),
    Rule(
        "C3",
        CHECKED,
        "I",
        "langchain-ai/langchain#22600, vercel/ai#2178",
        "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
        "messages.[{n}].tool_call_id",
    ),
    Rule(
        "C4",
        CHECKED,
        "I",
        "agno-agi/agno#5116",
        "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[{first}] "
        "and messages[{n}].",
        "messages.[{n}].tool_call_id",
    ),
    Rule(
        "C5",
        CHECKED,
        "I",
        "dapr/dapr-agents#145",
        "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous "
        "message.",
        "messages.[{n}].tool_call_id",
    ),
    Rule(
        "C6",
        CHECKED,
        "I",
        "langchain-ai/langchainjs#4153, songquanpeng/one-api#784",
        _NULL,
        "messages.[{n}].content",
    ),
    Rule(
        "C7",
        OFFICIAL,
        "I",
        "docker/docker-agent#63; an assistant message needs content or calls",
        _NULL,
        "messages.[{n}].content",
    ),
)

_TABLE = (*_CONVERSATION, *SHAPE_RULES, *GATEWAY_RULES)

RULES: dict[str, Rule] = {rule.id: rule for rule in _TABLE}
"""Every rule by its id."""


def rules_of(dialect: str) -> frozenset[str]:
    """The ids of the rules that are on in a dialect; "" is the default one.

    Raises InputError, with the nearest name, when there is no such dialect.
    """
    dialect = dialect or DEFAULT_DIALECT
    if dialect not in DIALECTS:
        hint = nearest(dialect, DIALECTS)
        raise InputError(f"no dialect of openai-chat is named {dialect!r}; {hint}", "dialect")
    return frozenset(rule.id for rule in _TABLE if dialect in rule.dialects)


def violation(rule_id: str, **values: object) -> Violation:
    """The violation of a rule, its text and parameter filled in."""
    rule = RULES[rule_id]
    text, param = rule.text.format(**values), rule.param.format(**values)
    return Violation(rule.id, ChatError(rule.status, rule.type, text, code=rule.code, param=param))


def refusals() -> dict[str, ApiError]:
    """Every rule's answer, its text a template. It names a parameter only where that is the same
    for every request."""
    return {
        rule.id: ChatError(
            rule.status,
            rule.type,
            rule.text,
            code=rule.code,
            param="" if "{" in rule.param else rule.param,
        )
        for rule in _TABLE
    }
