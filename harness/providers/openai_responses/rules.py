"""What the API refuses, as a table: when it is on, what it answers, and how that is known.

The texts are what clients match on, so they stand here and nowhere else. `known` says how: S =
types of the official SDK, D = the provider's documentation, I = seen verbatim in the public issue
named by `source`, K = general knowledge that nothing here confirms. `param` and `code` are fields
of the error beside its type; a `param` is filled in like the text. V23, a prompt over the window,
is named alike on every wire.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.errors import InputError, nearest
from harness.core.values.plans import ApiError
from harness.providers.openai_responses.errors import ResponsesError

API = frozenset({"openai-responses"})
LENIENT = frozenset({"lenient"})
STRICT = frozenset({"strict"})
ALL = API | LENIENT | STRICT
FIRM = API | STRICT

DIALECTS = tuple(sorted(ALL))
DEFAULT_DIALECT = "openai-responses"
NAME_PATTERN = r"^[a-zA-Z0-9_-]+$"
NAME_CHARACTERS = 64
LEAST_OUTPUT_TOKENS = 16


class Rule(msgspec.Struct, frozen=True):
    """One refusal: `text` and `param` are templates, filled in by name (`n`: item, from 0)."""

    id: str
    dialects: frozenset[str]
    known: str
    source: str
    text: str
    param: str | None = "input"
    code: str = ""
    status: int = 400
    type: str = "invalid_request_error"


_TABLE = (
    Rule(
        "R1",
        ALL,
        "I",
        "earendil-works/pi#4570, vellum-ai/vellum-assistant#39919, microsoft/vscode#320060",
        "No tool call found for function call output with call_id {id}.",
    ),
    Rule("R2", ALL, "K", "no thread read", "No tool output found for function call {id}."),
    Rule(
        "R3",
        FIRM,
        "I",
        "openclaw/openclaw#58967, continuedev/continue#8933",
        "Item '{id}' of type 'reasoning' was provided without its required following item.",
    ),
    Rule(
        "R4",
        FIRM,
        "I",
        "continuedev/continue#10018, continuedev/continue#11994 (message)",
        "Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: "
        "'{reasoning}'.",
    ),
    Rule(
        "R5",
        FIRM,
        "I",
        "earendil-works/pi#5151, MacPaw/OpenAI#432",
        "Duplicate item found with id {id}. Remove duplicate items from your input and try again.",
    ),
    Rule("R6", FIRM, "K", "text unconfirmed", "Duplicate call_id found in input: '{id}'."),
    Rule(
        "R7",
        FIRM,
        "K",
        "form as in the API's other value errors",
        "Invalid value: '{value}'. Supported values are: {wanted}.",
        param="{path}",
        code="invalid_value",
    ),
    Rule(
        "R8",
        ALL,
        "K",
        "schema error of the API",
        "Invalid type for '{path}': expected {wanted}, but got {got} instead.",
        param="{path}",
        code="invalid_type",
    ),
    Rule(
        "R9",
        ALL,
        "K",
        "schema error of the API",
        "Missing required parameter: '{path}'.",
        param="{path}",
        code="missing_required_parameter",
    ),
    Rule(
        "R10",
        FIRM,
        "I",
        "justrach/codegraff#930, openai/openai-dotnet#441, openai/codex#8694",
        "Invalid '{path}': string does not match pattern. Expected a string that matches the "
        "pattern '{pattern}'.",
        param="{path}",
        code="invalid_value",
    ),
    Rule(
        "R11",
        FIRM,
        "K",
        "form as in BerriAI/litellm#17343",
        "Invalid '{path}': string too long. Expected a string with maximum length {most}, but got "
        "a string with length {got} instead.",
        param="{path}",
        code="string_above_max_length",
    ),
    Rule("R12", STRICT, "K", "clones", "Duplicate tool name: '{name}'.", param="tools"),
    Rule(
        "V23",
        ALL,
        "K",
        "code documented; text unconfirmed",
        "Your input exceeds the context window of this model. Please adjust your input and try "
        "again.",
        code="context_length_exceeded",
    ),
    Rule(
        "R14",
        FIRM,
        "I",
        "UKGovernmentBEIS/inspect_evals#694, vectorize-io/hindsight#58",
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= {least}, "
        "but got {got} instead.",
        param="max_output_tokens",
        code="integer_below_min_value",
    ),
    Rule(
        "R15",
        ALL,
        "I",
        "maximhq/bifrost#2441",
        "Previous response with id '{id}' not found.",
        param="previous_response_id",
        code="previous_response_not_found",
    ),
    Rule(
        "R16",
        ALL,
        "S",
        "SDK types: cannot be used together; text unconfirmed",
        "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are "
        "only providing one of them.",
        param=None,
        code="mutually_exclusive_parameters",
    ),
    Rule(
        "R17",
        ALL,
        "I",
        "can1357/oh-my-pi#41, anomalyco/opencode#7724",
        "Item with id '{id}' not found.{hint}",
        status=404,
    ),
    Rule(
        "R18",
        ALL,
        "K",
        "the parser's words are ours",
        "We could not parse the JSON body of your request: {reason}",
        param=None,
    ),
    Rule(
        "R19",
        STRICT,
        "K",
        "clones",
        "{path}: content must not be empty",
        param="{path}",
    ),
    Rule(
        "R20",
        STRICT,
        "K",
        "clones",
        "function_call_output with call_id {id} must follow its function_call at once",
    ),
    Rule("R21", STRICT, "K", "clones", "Duplicate output for function call {id}."),
    Rule(
        "R22",
        ALL,
        "K",
        "text unconfirmed",
        "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be "
        "provided.",
        param="input",
        code="missing_required_parameter",
    ),
)

RULES: dict[str, Rule] = {rule.id: rule for rule in _TABLE}
"""Every rule by its id."""

NOT_STORED = (
    " Items are not persisted when `store` is set to false. Try again with `store` set to true, "
    "or remove this item from your input."
)
"""The end of R17 in a request that is not stored."""


def rules_of(dialect: str) -> frozenset[str]:
    """The ids of the rules that are on in a dialect; "" is the default one.

    Raises InputError, with the nearest name, when there is no such dialect.
    """
    dialect = dialect or DEFAULT_DIALECT
    if dialect not in ALL:
        hint = nearest(dialect, DIALECTS)
        raise InputError(f"no dialect of openai-responses is named {dialect!r}; {hint}", "dialect")
    return frozenset(rule.id for rule in _TABLE if dialect in rule.dialects)


def refusals() -> dict[str, ApiError]:
    """What is answered for each rule, its text a template."""
    return {rule.id: _error(rule, rule.text, rule.param) for rule in _TABLE}


def violation(rule_id: str, **values: object) -> Violation:
    """The violation of a rule, its text filled in."""
    rule = RULES[rule_id]
    param = rule.param.format(**values) if rule.param else None
    return Violation(rule.id, _error(rule, rule.text.format(**values), param))


def _error(rule: Rule, text: str, param: str | None) -> ResponsesError:
    named = None if param == "{path}" else param
    return ResponsesError(rule.status, rule.type, text, param=named, code=rule.code)
