"""For each rule a request that breaks it, the API's words for that, the parameter and the code."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.providers.openai_chat.bodies import asks, body, done, form, said, tool

WINDOW = {"V23": 5, "V24": 30}
NULL = "Invalid value for 'content': expected a string, got null."
MISSING, TYPE, EMPTY = "missing_required_parameter", "invalid_type", "empty_array"


def picture(url: str) -> dict[str, Any]:
    """A picture at an address."""
    return {"type": "image_url", "image_url": {"url": url}}


CASES: dict[str, tuple[bytes, str, str, str]] = {
    "C1": (
        body(asks("call_1", "call_2"), done("call_1"), said("user")),
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: call_2",
        "messages.[3].role",
        "",
    ),
    "C2": (
        body(said("assistant"), done()),
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
        "with 'tool_calls'.",
        "messages.[2].role",
        "",
    ),
    "C3": (
        body(asks("call_1"), done(), said("tool")),
        "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
        "messages.[3].tool_call_id",
        "",
    ),
    "C4": (
        body(asks("call_1"), done(), done()),
        "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_1', in messages[2] and "
        "messages[3].",
        "messages.[3].tool_call_id",
        "",
    ),
    "C5": (
        body(asks("call_1"), done(), done("call_9")),
        "Invalid parameter: 'tool_call_id' of 'call_9' not found in 'tool_calls' of previous "
        "message.",
        "messages.[3].tool_call_id",
        "",
    ),
    "C6": (body(said("assistant"), said("user", None)), NULL, "messages.[2].content", ""),
    "C7": (body(said("assistant", None)), NULL, "messages.[1].content", ""),
    "C10": (
        b'{"messages":',
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't "
        "using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was "
        "sent was not valid JSON. If you have trouble figuring out how to fix this, please "
        "contact us through our help center at help.openai.com.)",
        "",
        "",
    ),
    "C11": (
        body(max_tokens="x"),
        "Invalid type for 'max_tokens': expected an integer, but got a string instead.",
        "max_tokens",
        TYPE,
    ),
    "C11a": (
        body(asks("call_1", arguments={"a": 1})),
        "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but "
        "got an object instead.",
        "messages[1].tool_calls[0].function.arguments",
        TYPE,
    ),
    "C12": (
        body({"content": "x"}),
        "Missing required parameter: 'messages[1].role'.",
        "messages[1].role",
        MISSING,
    ),
    "C12a": (
        body(said("assistant", None, tool_calls=[{"id": "c", "type": "function"}])),
        "Missing required parameter: 'messages[1].tool_calls[0].function'.",
        "messages[1].tool_calls[0].function",
        MISSING,
    ),
    "C13": (
        msgspec.json.encode({"model": "m", "messages": []}),
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead.",
        "messages",
        EMPTY,
    ),
    "C13a": (
        body(said("assistant", "x", tool_calls=[])),
        "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, "
        "but got an empty array instead.",
        "messages[1].tool_calls",
        EMPTY,
    ),
    "C14": (
        msgspec.json.encode({"messages": [said("user")]}),
        "you must provide a model parameter",
        "",
        "",
    ),
    "C15": (
        body(said("model")),
        "Invalid value: 'model'. Supported values are: 'system', 'assistant', 'user', 'function', "
        "'tool', and 'developer'.",
        "messages[1].role",
        "invalid_value",
    ),
    "C16": (
        body(said("assistant", [{"type": "tool_use", "id": "x"}])),
        "Invalid value: 'tool_use'. Supported values are: 'text', 'image_url', 'input_audio', "
        "'refusal', 'audio', and 'file'.",
        "messages[1].content[0].type",
        "invalid_value",
    ),
    "C17": (
        body(asks("c" * 41), done("c" * 41)),
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum "
        "length 40, but got a string with length 41 instead.",
        "messages[1].tool_calls[0].id",
        "string_above_max_length",
    ),
    "C18": (
        body(tools=[tool("get the weather")]),
        "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that "
        "matches the pattern '^[a-zA-Z0-9_-]+$'.",
        "tools[0].function.name",
        "invalid_value",
    ),
    "C19": (
        body(tools=[tool("x" * 65)]),
        "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length "
        "64, but got a string with length 65 instead.",
        "tools[0].function.name",
        "string_above_max_length",
    ),
    "C20": (
        body(tool_choice="auto"),
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
        "specified.",
        "tool_choice",
        "",
    ),
    "C21": (
        body(stream_options={"include_usage": True}),
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        "stream_options",
        "",
    ),
    "C22": (
        body(model="o1-mini", stop=["x"]),
        "Unsupported parameter: 'stop' is not supported with this model.",
        "stop",
        "unsupported_parameter",
    ),
    "C23": (
        body(model="gpt-5-mini", temperature=0.7),
        "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default "
        "(1) value is supported.",
        "temperature",
        "unsupported_value",
    ),
    "C24": (
        body(model="gpt-4o", web_search_options={}),
        "Web search options not supported with this model.",
        "web_search_options",
        "",
    ),
    "C25": (
        body(model="gpt-3.5-turbo-instruct"),
        "This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did "
        "you mean to use v1/completions?",
        "model",
        "",
    ),
    "C25a": (
        body(model="gpt-5-codex"),
        "This model is only supported in v1/responses and not in v1/chat/completions.",
        "model",
        "",
    ),
    "C26": (
        body(top_p=-1),
        "Invalid 'top_p': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
        "top_p",
        "decimal_below_min_value",
    ),
    "C26a": (
        body(temperature=2.5),
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 "
        "instead.",
        "temperature",
        "decimal_above_max_value",
    ),
    "C27": (
        body(tools=[tool("read", parameters={"oneOf": []})]),
        "Invalid schema for function 'read': schema must be a JSON Schema of 'type: \"object\"', "
        "got 'type: \"None\"'.",
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    "C28": (
        body(response_format=form({"type": "object", "properties": {"a": {"type": "object"}}})),
        "Invalid schema for response_format 'f': In context=(), 'additionalProperties' is required "
        "to be supplied and to be false.",
        "response_format",
        "",
    ),
    "C30": (
        body(said("assistant", None)),
        "Invalid assistant message: content or tool_calls must be set",
        "",
        "",
    ),
    "C31": (
        body(said("assistant", "")),
        "the message at position 1 with role 'assistant' must not be empty",
        "",
        "",
    ),
    "C32": (
        body(said("user")),
        "After the optional system message, conversation roles must alternate "
        "user/assistant/user/assistant/...",
        "",
        "400",
    ),
    "C33": (
        body(said("developer")),
        "developer is not one of ['system', 'assistant', 'user', 'tool', 'function'] - "
        "'messages.['1].role'",
        "",
        "",
    ),
    "C34": (
        body(asks("call_1", arguments='{"a'), done()),
        "Invalid 'messages[1].tool_calls[0].function.arguments': not a JSON object.",
        "messages[1].tool_calls[0].function.arguments",
        "invalid_value",
    ),
    "C35": (body(tools=[tool("read"), tool("read")]), "Tool names must be unique", "", ""),
    "C36": (
        body(asks("call_1", content=""), done("call_1")),
        "messages: text content blocks must be non-empty",
        "",
        "",
    ),
    "V23": (
        body(),
        "This model's maximum context length is 5 tokens. However, your messages resulted in "
        "{tokens} tokens. Please reduce the length of the messages.",
        "messages",
        "context_length_exceeded",
    ),
    "C37": (
        body(model="non-existent-model"),
        "The model `non-existent-model` does not exist or you do not have access to it.",
        "",
        "model_not_found",
    ),
    "C38": (
        body({"role": "user", "content": [picture("photos/file_1.jpg")]}),
        "Failed to download image from photos/file_1.jpg. Image URL is invalid.",
        "",
        "invalid_image_url",
    ),
    "C38a": (
        body({"role": "user", "content": [picture("http://minio:9000/a.png")]}),
        "Error while downloading http://minio:9000/a.png.",
        "",
        "invalid_image_url",
    ),
    "V24": (
        body(max_completion_tokens=100),
        "This model's maximum context length is 30 tokens. However, you requested {total} tokens "
        "({tokens} in the messages, 100 in the completion). Please reduce the length of the "
        "messages or completion.",
        "messages",
        "context_length_exceeded",
    ),
}
