"""For each rule a request that breaks it, the API's words, and one that only looks like it."""

from __future__ import annotations

from typing import Any, NamedTuple

from harness.providers.gemini.contents import SIGNER
from harness.providers.shared.signatures import part
from tests.providers.gemini.bodies import NEWEST, OLDER, asked, call, done, said, tools

GO = said("user", "go")
SIGNED = call(signature="c2lnbmVk")
F = {"name": "f"}


class Case(NamedTuple):
    """`bad` breaks the rule and `good` does not, for the same dialect and window, and for the same
    model unless `good` has its `other`."""

    bad: bytes
    text: str
    good: bytes
    model: str = OLDER
    other: str = ""
    dialect: str = ""
    window: int | None = None


def file(url: str) -> dict[str, Any]:
    """A content with a file at an address."""
    return {"role": "user", "parts": [{"fileData": {"fileUri": url, "mimeType": "image/png"}}]}


def schema(**fields: Any) -> bytes:
    """A request whose tool has a parameter with these fields."""
    parameters = {"type": "object", "properties": {"a": {"type": "string"}, "b": fields}}
    return asked(GO, tools=tools({"name": "f", "parameters": parameters}))


LATE = " Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
NAME = (
    "* GenerateContentRequest.tools[0].function_declarations[1].name: Invalid function name. Must "
    "start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), "
    "dots (.), colons (:), or dashes (-), with a maximum length of 64.\n"
)
ROLE = "Please use a valid role: user, model."
BROKEN = SIGNER.seal(part(["c", "f", {}]))[:-4] + "AAA="

CASES: dict[str, Case] = {
    "G1": Case(
        asked(GO, said("model", "hm"), said("model", call()), said("user", done())),
        "Please ensure that function call turn comes immediately after a user turn or after a "
        "function response turn.",
        asked(GO, said("model", call()), said("model", call()), said("user", done(), done())),
    ),
    "G2": Case(
        asked(GO, said("model", "hm"), said("user", done())),
        "Please ensure that function response turn comes immediately after a function call turn.",
        asked(GO, said("model", "hm", call()), said("user", done(), "and more")),
    ),
    "G3": Case(
        asked(GO, said("model", call("a"), call("b")), said("user", done("a"))),
        "Please ensure that the number of function response parts is equal to the number of "
        "function call parts of the function call turn.",
        asked(GO, said("model", call("a"), call("b")), said("user", done("b"), done("a")), GO),
    ),
    "G4": Case(
        asked(), "* GenerateContentRequest.contents: contents is not specified\n", asked(GO)
    ),
    "G5": Case(
        asked(GO, said("user")),
        "* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.\n",
        asked(GO, said("user", "")),
    ),
    "G6": Case(
        asked(said("user", "a", {"thought": True})),
        "* GenerateContentRequest.contents[0].parts[1].data: required oneof field 'data' must "
        "have one initialized field\n",
        asked(said("user", "a", {"text": "", "thought": True})),
    ),
    "G7": Case(asked(GO, said("assistant", "x"), GO), ROLE, asked(GO, said("model", "x"), GO)),
    "G7a": Case(asked(said(None, "go")), ROLE, asked(GO), dialect="vertex"),
    "G8": Case(
        asked(GO, said("model", SIGNED), said("function", done())),
        "Role 'function' is not supported. Please use a valid role: SYSTEM, SYSTEM_1, USER, "
        "ASSISTANT, DEVELOPER, CONTEXT, USER_CONTEXT, MODEL, USER.",
        asked(GO, said("model", SIGNED), said("user", done())),
        NEWEST,
    ),
    "G9": Case(
        asked(GO, said("model", "Once")),
        "Requests ending with a model turn are not supported.",
        asked(GO, said("model", "Once"), GO),
        NEWEST,
    ),
    "G10": Case(
        asked(said("user", "go"), said("model", call("look")), said("user", done("look"))),
        "Function call is missing a thought_signature in functionCall parts. This is required for "
        "tools to work correctly, and missing thought_signature may lead to degraded model "
        "performance. Additional data, function call `default_api:look` , position 2." + LATE,
        asked(GO, said("model", call()), said("user", done()), said("model", "so"), GO),
        NEWEST,
    ),
    "G11": Case(
        asked(GO, said("model", call(signature=BROKEN)), said("user", done())),
        "Corrupted thought signature.",
        asked(
            GO,
            said("model", call(signature=SIGNER.seal(part(["c", "f", {}])))),
            said("user", done()),
        ),
    ),
    "G12": Case(
        asked(GO, said("model", call(signature="no base64!")), said("user", done())),
        "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding "
        'failed for "no base64!"',
        asked(GO, said("model", call(signature="-_A")), said("user", done())),
    ),
    "G13": Case(
        schema(const="x"),
        'Invalid JSON payload received. Unknown name "const" at '
        "'tools[0].function_declarations[0].parameters.properties[1].value': Cannot find field.",
        schema(enum=["x"], any_of=[{"type": "string"}]),
    ),
    "G13a": Case(
        asked(GO, messages=[]),
        'Invalid JSON payload received. Unknown name "messages": Cannot find field.',
        asked(GO, system_instruction=said(None, "s"), safetySettings=[]),
    ),
    "G14": Case(
        schema(type=["string", "null"]),
        'Invalid JSON payload received. Unknown name "type" at '
        "'tools[0].function_declarations[0].parameters.properties[1].value': Proto field is not "
        "repeating, cannot start list.",
        schema(type="string", nullable=True),
    ),
    "G15": Case(
        asked(GO, said("model", call(args="{}")), said("user", done())),
        "Invalid value at 'contents[1].parts[0].function_call.args' "
        '(type.googleapis.com/google.protobuf.Struct), "{}"',
        asked(GO, said("model", call(args=None)), said("user", done())),
    ),
    "G16": Case(
        b'{"contents":',
        "Invalid JSON payload received. Expecting value: line 1 column 13 (char 12)",
        asked(GO),
    ),
    "G17": Case(
        b"[1]",
        'Invalid JSON payload received. Unknown name "": Root element must be a message.',
        asked(GO),
    ),
    "G18": Case(
        asked(GO, said("model", call()), said("user", done(""))),
        "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be "
        "empty.\n",
        asked(GO, said("model", call()), said("user", done("other"))),
    ),
    "G19": Case(
        asked(GO, tools=tools(F, {"name": "9 lives"})),
        NAME,
        asked(GO, tools=tools(F, {"name": "_a.b:c-9"})),
    ),
    "G20": Case(
        asked(GO, tools=[*tools(F), *tools(F)]),
        "Duplicate function declaration found: f",
        asked(GO, tools=tools(F, {"name": "F"})),
    ),
    "G21": Case(
        asked(GO, tools=[{"functionDeclarations": []}]),
        "* GenerateContentRequest.tools[0].tool_type: required one_of 'tool_type' must have one "
        "initialized field\n",
        asked(GO, tools=[{"googleSearch": {}}]),
    ),
    "G22": Case(
        asked(GO, toolConfig={"functionCallingConfig": {"mode": "ANY"}}),
        "Function calling config is set without function_declarations.",
        asked(GO, tools=tools(F), toolConfig={"functionCallingConfig": {"mode": "ANY"}}),
    ),
    "G30": Case(
        asked(GO, GO),
        "Please ensure that multiturn requests alternate between user and model.",
        asked(GO, said("model", "x"), GO),
        dialect="strict",
    ),
    "G31": Case(
        asked(GO, said("model", "Once")),
        "Please ensure that multiturn requests ends with a user role or a function response.",
        asked(GO, said("model", "Once"), GO),
        dialect="strict",
    ),
    "G32": Case(
        asked(said("user", "")),
        "Unable to submit request because it must have a text parameter. Add a text parameter and "
        "try again.",
        asked(said("user", " ")),
        dialect="strict",
    ),
    "G33": Case(
        asked(GO),
        "models/no-such-model is not found for API version v1beta, or is not supported for "
        "generateContent. Call ListModels to see the list of available models and their supported "
        "methods.",
        asked(GO),
        model="no-such-model",
        other="gemini-9-pro",
    ),
    "G34": Case(
        asked(file("http://localhost/a.png")),
        "Cannot fetch content from the provided URL.",
        asked(file("https://generativelanguage.googleapis.com/v1beta/files/a1")),
    ),
    "V23": Case(
        asked(said("user", "x" * 80)),
        "The input token count (33) exceeds the maximum number of tokens allowed (20).",
        asked(said("user", "x")),
        window=20,
    ),
}
