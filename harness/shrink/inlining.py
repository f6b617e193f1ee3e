"""Writes out what a scenario only names: a recording as turns, a session file as messages.

A cassette answers only recorded requests, so it cannot be cut. Error answers are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness import providers
from harness.cassettes.cassette_file import CassetteExchange, read_cassette, wire_of
from harness.core.scenario.scenario import CassetteScript, Scenario, SeedMessage, Session, Turn
from harness.core.scenario.script import model_reply
from harness.core.values.draws import Draws
from harness.core.values.errors import InputError
from harness.core.values.messages import Block, Json, Message, Opaque
from harness.runner.session_seed import scenario_path, seed_messages


def inlined(scenario: Scenario) -> Scenario:
    """The scenario with nothing in other files.

    Raises InputError for a file that cannot be read, and a recording in which no model speaks.
    """
    if scenario.session.file is not None:
        stored = tuple(_stored(message) for message in seed_messages(scenario))
        scenario = msgspec.structs.replace(scenario, session=Session(messages=stored))
    if isinstance(scenario.script, CassetteScript):
        turns = _turns(scenario, scenario.script)
        scenario = msgspec.structs.replace(scenario, script=turns)
    return scenario


def _stored(message: Message) -> SeedMessage:
    blocks = tuple(map(_plain, message.blocks))
    return SeedMessage(role="assistant" if message.role == "assistant" else "user", content=blocks)


def _plain(block: Block) -> dict[str, Json]:
    """A block as a scenario file has it."""
    plain: dict[str, Json] = msgspec.to_builtins(block)
    return dict(block.value) if isinstance(block, Opaque) else plain


def _turns(scenario: Scenario, script: CassetteScript) -> tuple[Turn, ...]:
    path = scenario_path(scenario, script.cassette)
    turns = tuple(t for exchange in read_cassette(path) for t in _said(exchange))
    if not turns:
        raise InputError("no model speaks in this cassette", str(path))
    return turns


def _said(exchange: CassetteExchange) -> Iterator[Turn]:
    """What the model says in an exchange, if it is one with a model and went well."""
    wire, answer = wire_of(exchange.method, exchange.path), exchange.answer
    if wire is None or answer.status >= 400:
        return
    parsed = providers.by_name(wire.name).parse(answer.body, answer.headers.get("content-type", ""))
    if parsed.message is not None:
        turn = Turn(blocks=tuple(map(_plain, parsed.message.blocks)))
        usual = model_reply(turn, Draws(0), "").stop
        yield msgspec.structs.replace(turn, stop=None if parsed.stop == usual else parsed.stop)
