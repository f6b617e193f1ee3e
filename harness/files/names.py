"""What a scenario names or says in words that its schema cannot check: faults, tools, blocks.

A wrong name is a mistake of the file, so it is found when the file is read, with its line, and not
in the middle of a run, where it would look like the agent's fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from harness import faults, providers
from harness.catalogue import ROWS, incident
from harness.core.scenario import inbox
from harness.core.scenario.scenario import CassetteScript, Scenario
from harness.core.scenario.script import block_from
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Json
from harness.stores.store_readers import reader_named

FAULT = "fault:"
"""A source that is a row of the fault table: `fault:T13`."""


class Mistake(msgspec.Struct, frozen=True):
    """What is wrong, and the path of the key where it stands."""

    what: str
    path: tuple[str | int, ...]


def mistakes_in(scenario: Scenario) -> Iterator[Mistake]:
    """The mistakes of a scenario that fits the schema."""
    for look in (_wire, _session, _blocks, _inbox, _faults, _purposes, _sources):
        yield from look(scenario)


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
    known = scenario.wire in providers.names()
    refusals = providers.by_name(scenario.wire).refusals() if known else None
    for place, spec in enumerate(scenario.faults):
        try:
            on = faults.arm(spec, wire=scenario.wire, refusals=refusals).spec.on
        except InputError as error:
            yield Mistake(error.what, ("faults", place))
            continue
        for what in _without_tools(on, scenario):
            at = ("on",) if spec.on else ()
            yield Mistake(f"fault {spec.kind}: {what}", ("faults", place, *at))


def _without_tools(on: str, scenario: Scenario) -> Iterator[str]:
    """What is wrong with a fault on a tool that the scenario has not got."""
    tool = on.removeprefix("tool:")
    if on.startswith("tool:") and tool not in scenario.tools:
        yield f"no tool {tool!r}; {nearest(tool, scenario.tools)}"
    if on == "tool" and not scenario.tools:
        yield "it strikes on tools, and the scenario has none"


def _sources(scenario: Scenario) -> Iterator[Mistake]:
    for place, source in enumerate(scenario.source):
        yield from _tried(lambda source=source: incident(source), "source", place)  # type: ignore[misc]
        code = source.removeprefix(FAULT)
        if source.startswith(FAULT) and code not in ROWS:
            yield Mistake(f"no row {code!r} in the fault table", ("source", place))


def _purposes(scenario: Scenario) -> Iterator[Mistake]:
    for pattern in scenario.purposes:
        try:
            re.compile(pattern)
        except re.error as error:
            yield Mistake(f"no regular expression: {error}", ("purposes", pattern))
