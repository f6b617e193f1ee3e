"""The rules about the shape of a request: what must be there, of which type, how long.

The first ones hold everywhere, for without what they ask for there is nothing to answer; those with
a letter ask the same of what a lenient server would let pass.
"""

from __future__ import annotations

from harness.providers.openai_chat.rule import ALL, CHECKED, OFFICIAL, Rule

_NO_JSON = (
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using "
    "your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not "
    "valid JSON. If you have trouble figuring out how to fix this, please contact us through our "
    "help center at help.openai.com.)"
)
_TYPE = "Invalid type for '{path}': expected {wanted}, but got {got} instead."
_MISSING = "Missing required parameter: '{path}'."
_EMPTY = (
    "Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty "
    "array instead."
)
_LONG = (
    "Invalid '{path}': string too long. Expected a string with maximum length {limit}, but got a "
    "string with length {length} instead."
)

SHAPE_RULES = (
    Rule("C10", ALL, "K", "the API's answer to a body that is no JSON", _NO_JSON),
    Rule("C11", ALL, "I", "aaif-goose/goose-mobile#20", _TYPE, "{path}", "invalid_type"),
    Rule("C11a", CHECKED, "I", "aaif-goose/goose-mobile#20", _TYPE, "{path}", "invalid_type"),
    Rule(
        "C12",
        ALL,
        "I",
        "openai/openai-cookbook#1248",
        _MISSING,
        "{path}",
        "missing_required_parameter",
    ),
    Rule(
        "C12a",
        CHECKED,
        "I",
        "langchain-ai/langchain-azure#35, neuron-core/neuron-ai#292",
        _MISSING,
        "{path}",
        "missing_required_parameter",
    ),
    Rule("C13", ALL, "I", "CopilotKit/CopilotKit#529", _EMPTY, "{path}", "empty_array"),
    Rule("C13a", CHECKED, "I", "CopilotKit/CopilotKit#529", _EMPTY, "{path}", "empty_array"),
    Rule("C14", ALL, "I", "danielmiessler/Fabric#239", "you must provide a model parameter"),
    Rule(
        "C15",
        OFFICIAL,
        "K",
        "the roles are those of the SDK's types; a clone's text is in TheR1D/shell_gpt#717",
        "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', "
        "'function', 'tool', and 'developer'.",
        "messages[{n}].role",
        "invalid_value",
    ),
    Rule(
        "C16",
        CHECKED,
        "I",
        "epam/ai-dial-adapter-openai#434 (fewer kinds); the kinds are those of the SDK's types",
        "Invalid value: '{kind}'. Supported values are: 'text', 'image_url', 'input_audio', "
        "'refusal', 'audio', and 'file'.",
        "messages[{n}].content[{m}].type",
        "invalid_value",
    ),
    Rule(
        "C17",
        OFFICIAL,
        "I",
        "vercel/ai#8132, camel-ai/camel#2215",
        _LONG,
        "{path}",
        "string_above_max_length",
    ),
    Rule(
        "C18",
        CHECKED,
        "I",
        "mcp-use/mcp-use#90, hackers365/xiaozhi-esp32-server-golang#268",
        "Invalid '{path}': string does not match pattern. Expected a string that matches the "
        "pattern '^[a-zA-Z0-9_-]+$'.",
        "{path}",
        "invalid_value",
    ),
    Rule("C19", CHECKED, "K", "as C17, for names", _LONG, "{path}", "string_above_max_length"),
    Rule(
        "C20",
        OFFICIAL,
        "K",
        "the documented condition of the parameter",
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
        "specified.",
        "tool_choice",
    ),
    Rule(
        "C21",
        OFFICIAL,
        "I",
        "BerriAI/litellm#5803",
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        "stream_options",
    ),
    Rule(
        "V23",
        ALL,
        "I",
        "chathub-dev/chathub#126, crewAIInc/crewAI-examples#121",
        "This model's maximum context length is {window} tokens. However, your messages resulted "
        "in {tokens} tokens. Please reduce the length of the messages.",
        "messages",
        "context_length_exceeded",
    ),
)
