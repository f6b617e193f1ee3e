"""What texts of a recording are besides what they say: an agent's own, or a failure of a tool.

Notes in results, results of calls that never ran, and rows stand where a tool's or a user's words
are expected. A scenario plays the tool and the user, so it must not hold them: the agent under test
writes its own. `agent_texts.tsv` is the table.

Most programs log a failure of a tool as an ordinary result: an exit status, a JSON field or a first
word says it. A scenario scripts such a result as an error with the same text. So the agent under
test sees a failure like that of any other tool.

Errors of a provider's API in a recording, and what of them a scenario plays.

Session logs show an error as a text of the assistant, and programs mark it with their own words
around it. All that is left of the answer is this text of another program, so it is read here, once,
into values.

A refusal of a request for what it holds is a consequence of what the recorded agent sent. As a
fault it would strike an agent whose requests are right. The fake model has the rules of the
providers and refuses a bad request by itself. A prompt that is too long is not a bad request here:
its size is the conversation's.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal

import msgspec

from harness import providers
from harness.core.values.messages import Message, Text, ToolResult
from harness.core.values.plans import ApiError
from harness.core.values.table_file import table
from harness.providers.shared import json_fields as f
from harness.providers.shared.json_fields import parse
from harness.recordings.importing.dialogue import FailedTurn

Place = Literal["tail", "result", "row"]

_LOOKED_AT = 4000
"""The number of characters at the beginning or the end of a text that are searched."""


class AgentText(msgspec.Struct, frozen=True):
    """A row of the table: the pattern of a text, where it stands, and the agent that writes it."""

    id: str
    place: Place
    agent: str
    pattern: str
    source: str


def is_row_of_agent(text: str) -> bool:
    """Whether a message of the user's side is the agent's own."""
    return _pattern("row").match(text[:_LOOKED_AT]) is not None


def is_result_of_agent(result: ToolResult) -> bool:
    """Whether the agent wrote a result by itself, because the call did not run."""
    return _pattern("result").match(result.text[:_LOOKED_AT]) is not None


def result_of_tool(result: ToolResult) -> ToolResult:
    """The result as the tool gave it, without what the agent wrote after it."""
    content = result.content
    if isinstance(content, str):
        return msgspec.structs.replace(result, content=_without_tail(content))
    blocks = [_without_tail_block(b) if isinstance(b, Text) else b for b in content]
    kept = [b for b, was in zip(blocks, content, strict=True) if b == was or _says(b)]
    return msgspec.structs.replace(result, content=tuple(kept))


def _without_tail_block(block: Text) -> Text:
    return msgspec.structs.replace(block, text=_without_tail(block.text))


def _says(block: object) -> bool:
    return not isinstance(block, Text) or bool(block.text.strip())


def _without_tail(text: str) -> str:
    while (found := _pattern("tail").search(text, max(0, len(text) - _LOOKED_AT))) is not None:
        text = text[: found.start()].rstrip("\n")
    return text


@cache
def _pattern(place: Place) -> re.Pattern[str]:
    rows = table("harness.recordings.importing", "agent_texts.tsv", AgentText).values()
    return re.compile("|".join(f"(?:{row.pattern})" for row in rows if row.place == place), re.S)


_EXIT_CODES = ("exit_code", "exitCode", "exit_status", "exitStatus", "returncode", "return_code")
_GOOD = ("ok", "success")
_BAD = ("is_error", "isError")
_BAD_STATUSES = ("error", "failed", "failure")

_FIRST_WORD = re.compile(
    r"\W{0,4}(?:[\w.]{0,60}(?:error|exception)|fatal|failed|failure)\b[^\n:]{0,60}:\s"
    r"|\s{0,4}Traceback \(most recent call last\)",
    re.IGNORECASE,
)
_LINE_MAX = 300
"""The number of characters of a line that are searched."""

# A status other than 0, at the end of its line or of an XML element.
_EXIT = re.compile(
    r"\b(?:exit(?:ed with)?[ _-]?(?:code|status)|returncode)\W{0,3}[1-9]\d*(?:\W{0,3}\Z|</)", re.I
)


def says_that_it_failed(text: str) -> bool:
    """Whether a result says in its tool's own terms that the tool failed.

    A JSON object says it by a field: an exit status, `ok` or `success` false, an `error`. Other
    text says it by its first word, or by an exit status on its first or last line.
    """
    if text.lstrip().startswith("{") and isinstance(value := parse(text), dict):
        return _failed(value)
    lines = text.strip().split("\n")
    ends = (lines[0][:_LINE_MAX], lines[-1][-_LINE_MAX:])
    return bool(_FIRST_WORD.match(text) or any(map(_EXIT.search, ends)))


def _failed(value: dict[str, Any]) -> bool:
    about = value.get("metadata")
    places = (value, about) if isinstance(about, dict) else (value,)
    codes = (place.get(name) for place in places for name in _EXIT_CODES)
    return (
        any(type(code) is int and code != 0 for code in codes)
        or any(value.get(name) is False for name in _GOOD)
        or any(value.get(name) is True for name in _BAD)
        or value.get("status") in _BAD_STATUSES
        or bool(value.get("error"))
    )


_LOGGED = re.compile(r"API Error(?:: (?P<status>[45]\d\d))?\b|(?P<long>Prompt is too long)\b")
"""How Claude Code's log shows a provider's error, as a text of the assistant."""

STATUS_OF_NO_ANSWER = 500
"""The status of an error whose log holds none."""


def error_shown(message: Message) -> ApiError | None:
    """The error that a session log shows as a text of the assistant, None for a reply."""
    found = _LOGGED.match(message.text) if not message.tool_uses else None
    if found is None:
        return None
    if found["long"]:
        return ApiError(400, "invalid_request_error", "prompt is too long")
    rest = message.text[found.end() :].strip(" :\n")
    body = f.parse(rest)
    said = f.mapping(f.mapping(body).get("error"))
    text = rest if body is None else f.text(said.get("message"))
    return ApiError(int(found["status"] or STATUS_OF_NO_ANSWER), f.text(said.get("type")), text)


def error_in_own_words(error: ApiError) -> ApiError:
    """An error that a log marks, as the provider said it where the log holds its body."""
    _, brace, rest = error.message.partition("{")
    said = f.mapping(f.mapping(f.parse(brace + rest)).get("error"))
    return ApiError(
        error.status or STATUS_OF_NO_ANSWER,
        f.text(said.get("type")) or error.type,
        f.text(said.get("message")) or error.message,
    )


_STATUSES = (400, 422)
_LITERALS_MIN = 16
"""A template with fewer characters of its own would match any text."""

_FILLED_MOST_CHARS = 300

_PLACE = re.compile(r"\b(?:messages|input|contents|tools)(?:\.\d|\[\d|: )")
"""How a provider names the part of a request that it refuses."""

_TOO_LONG = re.compile(
    r"prompt is too long|context.{0,20}(?:length|window|limit)|maximum context", re.IGNORECASE
)


def failed_turn(error: ApiError) -> FailedTurn:
    """The error as a step: a refusal of the size of a prompt, of what it holds, or another one."""
    is_long = _is_too_long(error)
    return FailedTurn(error, bad_request=not is_long and _is_bad_request(error), too_long=is_long)


def _is_too_long(error: ApiError) -> bool:
    too_large = 413
    if error.status != _STATUSES[0]:
        return error.status == too_large
    return _TOO_LONG.search(error.message) is not None


def _is_bad_request(error: ApiError) -> bool:
    """Whether a provider refused a request for what it holds, by a rule or by naming a place."""
    if error.status not in _STATUSES:
        return False
    named = _PLACE.search(error.message) is not None
    return named or any(_error_says(error.message, literals) for literals in _rules())


@cache
def _rules() -> tuple[tuple[str, ...], ...]:
    """The texts of all rules of all providers, without the parts that a rule fills in."""
    texts = {
        refusal.message
        for name in providers.names()
        for refusal in providers.by_name(name).refusals().values()
    }
    found = (tuple(filter(None, re.split(r"\{\w*\}", text))) for text in sorted(texts))
    return tuple(
        literals
        for literals in found
        if len("".join(literals)) >= _LITERALS_MIN and not _TOO_LONG.search("".join(literals))
    )


def _error_says(message: str, literals: tuple[str, ...]) -> bool:
    """Whether the parts stand in a message in order, each a short text behind the one before.

    One regular expression of all rules would try each length of each gap: 300 by 300 at a place.
    """
    first, *others = literals
    at = message.find(first)
    while at >= 0:
        end = at + len(first)
        for literal in others:
            found = message.find(literal, end, end + _FILLED_MOST_CHARS + len(literal))
            if found < 0:
                break
            end = found + len(literal)
        else:
            return True
        at = message.find(first, at + 1)
    return False
