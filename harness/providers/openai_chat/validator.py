"""What a list of rows breaks: each row alone, and the list as a fold.

Calls stay open while rows of results follow; the next other row, or the end, makes open calls C1. A
recorded message may hold several results, as in other providers; it counts as several rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.core.transition.ports import Violation
from harness.core.values.messages import Block, Json, Message, Opaque, Text, ToolResult, ToolUse
from harness.providers.openai_chat.blocks import (
    ARGUMENTS,
    LEGACY,
    RESULT_ROLES,
    is_call,
    is_field,
    is_part,
    rows,
)
from harness.providers.openai_chat.record import rules_of, violation
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import size_bytes
from harness.providers.shared.openai import URL_MOST_CHARS, fits, picture_fault, type_name
from harness.providers.shared.reader import Fold, FoldState

CALL_ID_MAX, NAME_MAX = 40, 64
_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_KINDS = frozenset({"text", "image_url", "input_audio", "refusal", "audio", "file"})
_INSTEAD = frozenset({"refusal", "audio", LEGACY, "tool_calls"})
"""Fields of an assistant row that say something in place of a content."""


def content_violations(n: int, row: Message) -> Iterator[Violation]:
    """The violations of the row at place `n`."""
    if len(row.blocks) == 1 and isinstance(row.blocks[0], Text) and row.blocks[0].text:
        return
    yield from _content(n, row)
    yield from _parts(n, row)
    calls = [block for block in row.blocks if is_call(block)]
    for m, call in enumerate(calls):
        path = f"messages[{n}].tool_calls[{m}]"
        if isinstance(call, ToolUse):
            yield from _call(n, m, path, call)
        elif isinstance(call, Opaque):
            yield from _unreadable(path, call.value)


def _content(n: int, row: Message) -> Iterator[Violation]:
    fields = {b.kind: b.value[b.kind] for b in row.blocks if isinstance(b, Opaque) and is_field(b)}
    if "content" in fields:
        yield from _bad_content(n, fields["content"])
    elif row.role == "assistant":
        yield from _assistant(n, row, fields)
    elif not any(_is_content(block) for block in row.blocks):
        yield violation("C6", n=n)
    elif row.role not in RESULT_ROLES and not _says(row):
        yield violation("C31", n=n, role=row.role)
    if fields.get("tool_calls") == []:
        yield violation("C13a", path=f"messages[{n}].tool_calls")
    elif "tool_calls" in fields:
        yield _wrong(f"messages[{n}].tool_calls", "an array of objects", fields["tool_calls"])


def _bad_content(n: int, content: Json) -> Iterator[Violation]:
    path = f"messages[{n}].content"
    if content is None:
        yield violation("C6", n=n)
    elif content == []:
        yield violation("C13a", path=path)
    else:
        yield _wrong(path, "one of a string or array of objects", content)


def _assistant(n: int, row: Message, fields: dict[str, Json]) -> Iterator[Violation]:
    asks = any(isinstance(b, ToolUse) or is_call(b) for b in row.blocks)
    if asks and not _says(row) and any(map(_is_content, row.blocks)):
        yield violation("C36")
    if asks or _INSTEAD & fields.keys():
        return
    if not any(_is_content(block) for block in row.blocks):
        yield violation("C7", n=n)
        yield violation("C30")
    elif not _says(row):
        yield violation("C31", n=n, role=row.role)


def _is_content(block: Block) -> bool:
    return isinstance(block, ToolResult) or is_part(block)


def _says(row: Message) -> bool:
    return bool(row.text) or any(isinstance(b, Opaque) and is_part(b) for b in row.blocks)


def _parts(n: int, row: Message) -> Iterator[Violation]:
    contents = [block for block in row.blocks if _is_content(block)]
    for m, block in enumerate(contents):
        if isinstance(block, Opaque) and block.kind == "image_url":
            yield from _picture(block.value)
        if not isinstance(block, Opaque) or block.kind in _KINDS - {"text"}:
            continue
        path = f"messages[{n}].content[{m}]"
        if block.kind == "text":
            yield violation("C12a", path=f"{path}.text")
        elif isinstance(block.value.get("type"), str):
            yield violation("C16", n=n, m=m, kind=block.value["type"])
        else:
            yield violation("C12a", path=f"{path}.type")


def _picture(part: dict[str, Json]) -> Iterator[Violation]:
    url: Json = f.mapping(part.get("image_url")).get("url")
    if fault := picture_fault(url):
        yield violation(_PICTURE_RULES[fault], url=url[:URL_MOST_CHARS])


_PICTURE_RULES = {"no address": "C38", "out of reach": "C38a"}


def _call(n: int, m: int, path: str, call: ToolUse) -> Iterator[Violation]:
    if call.extra.get("type", "function") is None:
        yield violation("C12a", path=f"{path}.type")
    if len(call.id) > CALL_ID_MAX:
        yield violation("C17", path=f"{path}.id", limit=CALL_ID_MAX, length=len(call.id))
    yield from name_violations(f"{path}.function.name", call.name)
    if not isinstance(call.input, dict) and call.extra.get("type") != "custom":
        yield violation("C34", n=n, m=m)


def _unreadable(path: str, call: dict[str, Json]) -> Iterator[Violation]:
    kind = call.get("type", "function")
    kind = kind if kind in ("function", "custom") else "function"
    for name, wanted in (("id", "a string"), ("type", "a string"), (kind, "an object")):
        if name not in call:
            yield violation("C12a", path=f"{path}.{name}")
            return
        if type_name(call[name]) != wanted:
            yield _wrong(f"{path}.{name}", wanted, call[name])
            return
    for name in ("name", ARGUMENTS[kind]):
        if name not in call[kind]:
            yield violation("C12a", path=f"{path}.{kind}.{name}")
        elif not isinstance(call[kind][name], str):
            yield _wrong(f"{path}.{kind}.{name}", "a string", call[kind][name])


def name_violations(path: str, name: str) -> Iterator[Violation]:
    """What a tool's name breaks."""
    if not _NAME.fullmatch(name):
        yield violation("C18", path=path)
    if len(name) > NAME_MAX:
        yield violation("C19", path=path, limit=NAME_MAX, length=len(name))


def _wrong(path: str, wanted: str, value: Json) -> Violation:
    return violation("C11a", path=path, wanted=wanted, got=type_name(value))


_WITHOUT_SYSTEM = "o1-mini* o1-preview*"
"""Models that know neither system nor developer (recorded with o1-mini)."""

_SYSTEM_ROLES = frozenset({"system", "developer"})
_ROLES = frozenset({"user", "assistant", *_SYSTEM_ROLES, *RESULT_ROLES})


class RowState(FoldState, frozen=True, gc=False):
    """What the rows so far leave open.

    `count` rows there were; `role` is the last one's, system rows aside; `calls` are the ids that
    the assistant row before asks for, `answered` those with a result and the row of it. `system` is
    the text of the system rows at the beginning, while `leading` nothing else has come.
    """

    count: int = 0
    role: str = ""
    calls: tuple[str, ...] = ()
    answered: tuple[tuple[str, int], ...] = ()
    leading: bool = True


def step(state: RowState, row: Message, active: frozenset[str]) -> RowState:
    """The state after one more row."""
    is_system = row.role in _SYSTEM_ROLES
    found = [*_role(state, row), *content_violations(state.count, row)]
    calls, answered = state.calls, state.answered
    if row.role == "tool":
        answered, wrong = _answers(state, row)
        found += wrong
    else:
        found += _unanswered(state, f"messages.[{state.count}].role")
        calls = tuple([b.id for b in row.blocks if isinstance(b, ToolUse) and is_call(b)])
        answered = ()
    new = tuple([v for v in found if v.rule in active])
    leading = state.leading and is_system
    return RowState(
        count=state.count + 1,
        role=state.role if is_system else row.role,
        calls=calls,
        answered=answered,
        leading=leading,
        system="\n".join(filter(None, (state.system, row.text))) if leading else state.system,
        size_bytes=state.size_bytes + size_bytes(row),
        violations=state.violations + new if new else state.violations,
    )


def _role(state: RowState, row: Message) -> Iterator[Violation]:
    role, n = row.role, state.count
    if role not in _ROLES:
        yield violation("C15", n=n, role=role)
    if role not in _ROLES or role == "developer":
        yield violation("C33", n=n, role=role)
    if role in ("user", "assistant") and (
        role == state.role or (role == "assistant" and not state.role)
    ):
        yield violation("C32")


def _answers(state: RowState, row: Message) -> tuple[tuple[tuple[str, int], ...], list[Violation]]:
    n, known = state.count, dict(state.answered)
    if not row.tool_results:
        return state.answered, [violation("C3", n=n)]
    id_ = row.tool_results[0].id
    if not state.calls:
        return state.answered, [violation("C2", n=n)]
    if id_ not in state.calls:
        return state.answered, [violation("C5", n=n, id=id_)]
    # A host that sends calls without ids pairs their results by order (QwenLM/Qwen-Agent#943).
    is_next = not id_ and state.calls.count("") > sum(not name for name, _ in state.answered)
    if id_ in known and not is_next:
        return state.answered, [violation("C4", n=n, id=id_, first=known[id_])]
    return (*state.answered, (id_, n)), []


def _unanswered(state: RowState, where: str) -> Iterator[Violation]:
    known = dict(state.answered)
    missing = [id_ for id_ in state.calls if id_ not in known]
    if state.calls.count("") > sum(not name for name, _ in state.answered) > 0:
        missing.append("")
    if missing:
        yield violation("C1", ids=", ".join(missing), where=where)


_EMPTY = RowState()


class ChatFold(Fold[RowState]):
    """The fold of a dialect's rules over a list of messages."""

    def __init__(self, dialect: str) -> None:
        super().__init__(_EMPTY, rules_of(dialect))

    def extend(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Take in the messages that follow; they are returned."""
        for message in messages:
            state = self.state
            for row in rows(message):
                state = step(state, row, self.active)
            self.push(state)
        return tuple(messages)

    def finish(self, first: Message | None = None, model: str = "") -> tuple[Violation, ...]:
        """All violations of a list for this model that begins with `first` and ends here."""
        found = [*_unanswered(self.state, "messages")]
        if not self.state.count:
            found.append(violation("C13", path="messages"))
        if first is not None and first.role in _SYSTEM_ROLES and fits(_WITHOUT_SYSTEM, model):
            role = f"'{first.role}'"
            found.append(violation("C23", param="messages[0].role", value=role, hint=""))
        return self.state.violations + tuple(v for v in found if v.rule in self.active)


def refuse(messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
    """What the dialect refuses in a request of these messages, first one first."""
    fold = ChatFold(dialect)
    fold.extend(messages)
    return fold.finish()
