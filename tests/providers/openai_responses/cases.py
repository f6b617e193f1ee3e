"""For each rule requests of which the last breaks it, and the API's words for that."""

from __future__ import annotations

from typing import Any

from tests.providers.openai_responses.world import body

CALL = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
USER = {"role": "user", "content": "go"}


def asked(*items: Any, **fields: Any) -> list[bytes]:
    """One request."""
    return [body(list(items), **fields)]


def tool(name: Any) -> dict[str, Any]:
    """A declared function."""
    return {"type": "function", "name": name}


def form(schema: dict[str, Any]) -> dict[str, Any]:
    """The setting that asks for an answer that follows a schema strictly."""
    return {"format": {"type": "json_schema", "name": "f", "strict": True, "schema": schema}}


def _picture(url: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "input_image", "image_url": url}]}


OPEN = "'additionalProperties' is required to be supplied and to be false."

CASES: dict[str, tuple[list[bytes], str]] = {
    "R1": (asked(USER, OUTPUT), "No tool call found for function call output with call_id c1."),
    "R2": (asked(USER, CALL), "No tool output found for function call c1."),
    "R3": (
        asked(USER, REASONING, USER),
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ),
    "R5": (
        asked({**USER, "id": "msg_1"}, {**USER, "id": "msg_1"}),
        "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.",
    ),
    "R6": (asked(USER, CALL, OUTPUT, CALL, OUTPUT), "Duplicate call_id found in input: 'c1'."),
    "R7": (
        asked({"role": "tool", "content": "x"}),
        "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and "
        "'user'.",
    ),
    "R8": (
        asked({"role": "user", "content": 3}),
        "Invalid type for 'input[0].content': expected one of a string or an array of objects, "
        "but got an integer instead.",
    ),
    "R9": (asked({"role": "user"}), "Missing required parameter: 'input[0].content'."),
    "R10": (
        asked(USER, tools=[tool("a.b")]),
        "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches "
        "the pattern '^[a-zA-Z0-9_-]+$'.",
    ),
    "R11": (
        asked(USER, tools=[tool("a" * 65)]),
        "Invalid 'tools[0].name': string too long. Expected a string with maximum length 64, but "
        "got a string with length 65 instead.",
    ),
    "R12": (asked(USER, tools=[tool("a"), tool("a")]), "Duplicate tool name: 'a'."),
    "V23": (
        asked({"role": "user", "content": "long " * 9}),
        "Your input exceeds the context window of this model. Please adjust your input and try "
        "again.",
    ),
    "R14": (
        asked(USER, max_output_tokens=15),
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but "
        "got 15 instead.",
    ),
    "R15": (
        asked(USER, previous_response_id="resp_x"),
        "Previous response with id 'resp_x' not found.",
    ),
    "R16": (
        asked(USER, previous_response_id="resp_x", conversation="conv_x"),
        "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are "
        "only providing one of them.",
    ),
    "R17": (asked({"type": "item_reference", "id": "msg_x"}), "Item with id 'msg_x' not found."),
    "R18": (
        [b"{"],
        "We could not parse the JSON body of your request: Expecting property name enclosed in "
        "double quotes: line 1 column 2 (char 1)",
    ),
    "R19": (asked({"role": "user", "content": ""}), "input[0].content: content must not be empty"),
    "R20": (
        asked(USER, CALL, USER, OUTPUT),
        "function_call_output with call_id c1 must follow its function_call at once",
    ),
    "R21": (asked(USER, CALL, OUTPUT, OUTPUT), "Duplicate output for function call c1."),
    "R22": (
        [b'{"model":"m"}'],
        "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be "
        "provided.",
    ),
    "R23": (
        asked(USER, {**REASONING, "encrypted_content": ""}, CALL, OUTPUT),
        "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content "
        "could not be decrypted or parsed.",
    ),
    "R24": (
        asked(USER, model="gpt-4o", reasoning={"effort": "low"}),
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    ),
    "R25": (
        asked(USER, model="o3-mini", reasoning={"effort": "minimal"}),
        "Unsupported value: 'reasoning.effort' does not support 'minimal' with this model. "
        "Supported values are: 'low', 'medium', and 'high'.",
    ),
    "R26": (
        asked(USER, temperature=-1),
        "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 "
        "instead.",
    ),
    "R26a": (
        asked(USER, top_p=1.5),
        "Invalid 'top_p': decimal above maximum value. Expected a value <= 1, but got 1.5 instead.",
    ),
    "R27": (
        asked(USER, tools=[{**tool("f"), "strict": True, "parameters": {"type": "object"}}]),
        f"Invalid schema for function 'f': In context=(), {OPEN}",
    ),
    "R28": (
        asked(USER, text=form({"type": "object", "properties": {}})),
        f"Invalid schema for response_format 'f': In context=(), {OPEN}",
    ),
    "R29": (
        asked(USER, model="this-model-does-not-exist"),
        "The requested model 'this-model-does-not-exist' does not exist.",
    ),
    "R30": (
        asked(_picture("photos/file_1.jpg")),
        "Invalid 'input[0].content[0].image_url'. Expected a base64-encoded data URL with an image "
        "MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got a value without "
        "the 'data:' prefix.",
    ),
    "R30a": (
        asked(_picture("http://localhost:3000/a.png")),
        "Error while downloading http://localhost:3000/a.png.",
    ),
}
