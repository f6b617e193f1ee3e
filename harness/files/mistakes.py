"""Mistakes of a scenario file, in words for its writer.

A wrong name of a fault, a tool or a block fits the schema. Names are checked at reading, so that
the error has a line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec import inspect

from harness import faults, providers
from harness.catalogue import ROWS, incident
from harness.checks.judge import checks, rules_of, setting_types
from harness.core.scenario import inbox
from harness.core.scenario.scenario import CassetteScript, Expect, ExpectReply, Scenario, Turn
from harness.core.scenario.script import block_from, called
from harness.core.transition.arming import OTHER, OWN, spoken_on
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Json
from harness.core.values.patterns import pattern_of
from harness.core.values.strict import text_for_number, wrong_choice
from harness.core.values.verdict import CLASSES, FindingClass
from harness.parts.loading import unknown_name
from harness.stores.opening import reader_named

_PATH = re.compile(r" - at `\$?([^`]*)`\Z")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`\Z")
_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


class Mistake(msgspec.Struct, frozen=True):
    """What is wrong, and the path of the key where it stands.

    `key` is the name of that key where `what` does not say it.
    """

    what: str
    path: tuple[str | int, ...]
    key: str = ""

    @property
    def text(self) -> str:
        """The mistake with its key, for the writer of a file."""
        return f"key `{self.key}`: {self.what}" if self.key else self.what


def explain(error: str, kind: type[Any]) -> Mistake:
    """The mistake in the words of our files. msgspec has an error in words only.

    >>> explain("Expected `int`, got `str` - at `$.limits.model_calls`", object).text
    'key `model_calls`: expected `int`, got `str`'
    """
    found = _PATH.search(error)
    path = _parts(found.group(1)) if found else []
    text = _PATH.sub("", error)
    if unknown := _UNKNOWN.match(text):
        name = unknown.group(1)
        return Mistake(f"unknown; {nearest(name, _keys(kind, path))}", (*path, name), name)
    names = [part for part in reversed(path) if isinstance(part, str) and part != "..."]
    what = wrong_choice(text, _type_at(kind, path)) or _lower(text)
    what += text_for_number(text, names)
    key = next(iter(names), "")
    return Mistake(what, tuple(path), key)


def _parts(path: str) -> list[str | int]:
    return [
        name or (index if index == "..." else int(index)) for name, index in _PART.findall(path)
    ]


def _type_at(kind: type[Any], path: list[str | int]) -> inspect.Type:
    found = inspect.type_info(kind)
    for part in path:
        found = _step(found, part)
    return found


def _keys(kind: type[Any], path: list[str | int]) -> set[str]:
    found = _type_at(kind, path)
    structs = [t for t in _alternatives(found) if isinstance(t, inspect.StructType)]
    return {field.encode_name for struct in structs for field in struct.fields}


def _alternatives(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


def _step(kind: inspect.Type, part: str | int) -> inspect.Type:
    for option in _alternatives(kind):
        if isinstance(option, inspect.StructType) and isinstance(part, str):
            for field in option.fields:
                if field.encode_name == part:
                    return field.type
        if isinstance(option, inspect.DictType):
            return option.value_type
        if isinstance(option, (inspect.VarTupleType, inspect.ListType)):
            return option.item_type
    return inspect.AnyType()


FAULT = "fault:"
"""A source that is a row of the fault table: `fault:T13`."""


def mistakes_in(scenario: Scenario) -> Iterator[Mistake]:
    """The mistakes of a scenario that fits the schema."""
    for look in (
        _wire, _session, _blocks, _inbox, _faults, _purposes, _sources, _checks, _tools,
        _sessions_of_replies, _twice,
    ):  # fmt: skip
        yield from look(scenario)
    yield from mistakes_in_expectation(scenario.expect)


def _tried(call: Callable[[], object], *path: str | int) -> Iterator[Mistake]:
    try:
        call()
    except InputError as error:
        yield Mistake(error.what, path)


def _wire(scenario: Scenario) -> Iterator[Mistake]:
    yield from _tried(lambda: providers.by_name(scenario.wire), "wire")
    if scenario.wire in providers.names():
        wire = providers.by_name(scenario.wire)
        yield from _tried(lambda: wire.reader(scenario.dialect, scenario.window_tokens), "dialect")


def _session(scenario: Scenario) -> Iterator[Mistake]:
    if format := scenario.session.format:
        yield from _tried(lambda: reader_named(format), "session", "format")


def _blocks(scenario: Scenario) -> Iterator[Mistake]:
    if not isinstance(scenario.script, CassetteScript):
        for place, turn in enumerate(scenario.script):
            yield from _each(turn.blocks, "script", place, "blocks")
    for place, message in enumerate(scenario.session.messages):
        if not isinstance(message.content, str):
            yield from _each(message.content, "session", "messages", place, "content")


def _each(blocks: Sequence[dict[str, Json]], *path: str | int) -> Iterator[Mistake]:
    for place, block in enumerate(blocks):
        yield from _tried(lambda block=block: block_from(block), *path, place)  # type: ignore[misc]


def _inbox(scenario: Scenario) -> Iterator[Mistake]:
    for place, item in enumerate(scenario.inbox):
        yield from _tried(lambda item=item: inbox.entries([item]), "inbox", place, "when")  # type: ignore[misc]


def _faults(scenario: Scenario) -> Iterator[Mistake]:
    for place, spec in enumerate(scenario.faults):
        wire = spoken_on(spec, scenario.wire)
        if wire != scenario.wire and wire not in providers.names():
            what = (
                f"no provider is named {wire!r}; {nearest(wire, (OWN, OTHER, *providers.names()))}"
            )
            yield Mistake(f"fault {spec.kind}: {what}", ("faults", place, "provider"))
            continue
        known = wire in providers.names()
        refusals = providers.by_name(wire).refusals() if known else None
        try:
            on = faults.arm(spec, wire=scenario.wire, refusals=refusals).spec.on
        except InputError as error:
            yield Mistake(error.what, ("faults", place))
            continue
        for what in _without_tools(on, scenario):
            at = ("on",) if spec.on else ()
            yield Mistake(f"fault {spec.kind}: {what}", ("faults", place, *at))


def _without_tools(on: str, scenario: Scenario) -> Iterator[str]:
    tool = on.removeprefix("tool:")
    if on.startswith("tool:") and tool not in scenario.tools:
        yield f"no tool {tool!r}; {nearest(tool, scenario.tools)}"
    if on == "tool" and not scenario.tools:
        yield "it strikes on tools, and the scenario has none"


def _twice(scenario: Scenario) -> Iterator[Mistake]:
    """Numbers that stand twice: one of the two entries would silently change nothing."""
    places = dict[int, int]()
    for place, order in enumerate(scenario.orders or ()):
        if (first := places.setdefault(order.at, place)) != place:
            what = (
                f"point {order.at} has an order already, in orders[{first}]: one place goes first"
            )
            yield Mistake(what, ("orders", place, "at"))
    for place, spec in enumerate(scenario.faults):
        numbers = spec.when if isinstance(spec.when, tuple) else ()
        for number in (n for n, times in Counter(numbers).items() if times > 1):
            what = f"fault {spec.kind}: call {number} stands twice; it strikes each call once"
            yield Mistake(what, ("faults", place, "when"))


def _sources(scenario: Scenario) -> Iterator[Mistake]:
    for place, source in enumerate(scenario.source):
        yield from _tried(lambda source=source: incident(source), "source", place)  # type: ignore[misc]
        code = source.removeprefix(FAULT)
        if source.startswith(FAULT) and code not in ROWS:
            yield Mistake(f"no row {code!r} in the fault table", ("source", place))


def _purposes(scenario: Scenario) -> Iterator[Mistake]:
    for pattern in scenario.purposes:
        yield from _expression(pattern, "purposes", pattern)


def _expression(pattern: str, *path: str | int) -> Iterator[Mistake]:
    try:
        pattern_of(pattern)
    except ValueError as error:
        yield Mistake(f"no regular expression: {error}", path)


def mistakes_in_expectation(expect: Expect) -> Iterator[Mistake]:
    """What no scenario is needed to see: expressions, and the names of checks and findings."""
    for reply, path in _asked_replies(expect):
        if reply.pattern:
            yield from _expression(reply.pattern, *path, "pattern")
    known = checks()
    for place, name in enumerate(expect.must):
        if name not in known:
            yield Mistake(_no_check(name, known), ("expect", "must", place))
    for place, code in enumerate(expect.known):
        if what := unknown_code(code):
            yield Mistake(what, ("expect", "known", place))


def _asked_replies(expect: Expect) -> Iterator[tuple[ExpectReply, tuple[str | int, ...]]]:
    is_one = isinstance(expect.reply, ExpectReply)
    for place, reply in enumerate(expect.replies):
        yield reply, ("expect", "reply") if is_one else ("expect", "reply", place)


def _sessions_of_replies(scenario: Scenario) -> Iterator[Mistake]:
    known = {item.session for item in scenario.inbox}
    for reply, path in _asked_replies(scenario.expect):
        if reply.session and reply.session not in known:
            what = f"there is no session {reply.session!r}; {nearest(reply.session, known)}"
            yield Mistake(what, (*path, "session"))


def _checks(scenario: Scenario) -> Iterator[Mistake]:
    """Names of checks and of their settings, whether or not a run has what the check needs."""
    known = checks()
    for name, settings in scenario.checks.items():
        if name not in known:
            yield Mistake(_no_check(name, known), ("checks", name))
            continue
        for setting, value in settings.items():
            if what := wrong_setting(name, setting, value):
                yield Mistake(what, ("checks", name, setting))


def wrong_setting(name: str, setting: str, value: Json) -> str:
    """What is wrong with a setting of a check that there is; "" for one that fits."""
    types = setting_types(checks()[name])
    if setting not in types:
        return f"the check {name} has no setting {setting!r}; {nearest(setting, types)}"
    try:
        msgspec.convert(value, type=types[setting])
    except msgspec.ValidationError as error:
        what = f"{_lower(str(error))}{text_for_number(str(error), [setting])}"
        return f"the check {name}: setting {setting!r}: {what}"
    return ""


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]


def unknown_code(code: str) -> str:
    """What is wrong with the code of a finding; "" for one that a check may have.

    The rules of a check are known where the table of classes lists all of them.
    """
    known, check = checks(), code.rpartition(".")[0]
    if check not in known:
        return _no_check(check or code, known)
    rows = {row.code for row in rules_of(check)}
    if not rows or f"{check}.*" in rows or code in rows:
        return ""
    return f"there is no finding {code!r}; {nearest(code, rows)}"


def look_up(unknown: Sequence[str], keywords: Sequence[str], codes: Iterable[str]) -> None:
    """Raise InputError for a keyword that `play` has not got, and for a code that no check has."""
    for name in unknown:
        hint = f"{nearest(name, keywords)} (for an option of the agent: options={{{name!r}: …}})"
        raise InputError(f"no keyword {name!r}; {hint}", "play")
    for code in codes:
        if what := unknown_code(code):
            raise InputError(what, "play: expect")


def class_named(given: FindingClass | None) -> FindingClass | None:
    """The class of findings that a test names. Raises InputError for one that does not exist."""
    if given is not None and given not in CLASSES:
        raise InputError(f"no class {given!r}; {nearest(given, CLASSES)}", "fail_on")
    return given


def _no_check(name: str, known: Iterable[str]) -> str:
    return f"there is no check {name!r}; {unknown_name(name, known)}"


def _tools(scenario: Scenario) -> Iterator[Mistake]:
    """Names of tools in `expect`: those that are offered, and those that the model asks for."""
    if isinstance(scenario.script, CassetteScript):
        return
    yield from _misspelt(scenario.script, scenario.tools)
    known = {*scenario.tools, *_asked_for(scenario.script)}
    expect = scenario.expect
    named: list[tuple[str, tuple[str | int, ...]]] = [
        *((name, ("expect", "calls", "tool", name)) for name in expect.calls.tool),
        *((name, ("expect", "inputs", name)) for name in expect.inputs),
        *((n, ("expect", "must_not", "call", i)) for i, n in enumerate(expect.must_not.call)),
    ]
    for name, path in named:
        if name not in known:
            yield Mistake(f"there is no tool {name!r}; {nearest(name, known)}", path)


def _misspelt(script: Sequence[Turn], tools: Collection[str]) -> Iterator[Mistake]:
    """Calls by almost the name of a tool: the agent's answer to them would hide the mistake.

    Any other name may be the agent's own tool.
    """
    for place, turn in enumerate(script):
        for name in [] if turn.unoffered else called(turn):
            if name not in tools and get_close_matches(name, tools):
                what = f"there is no tool {name!r}; {nearest(name, tools)}"
                yield Mistake(f"{what} Or say `unoffered: true`", ("script", place))


def _asked_for(script: Sequence[Turn]) -> Iterator[str]:
    for turn in script:
        yield from [turn.use] if turn.use else []
        yield from (str(block["name"]) for block in turn.blocks if "name" in block)
