"""A scenario file made of a test with a scripted model: what was asked, called and answered there.

A test plays an application with real tools. As a scenario the same story runs under `harness run`,
`sweep` and `fuzz`, where time is virtual and tools are scripted. The script and its faults are
known, so they are taken as they are. Questions and results of tools are read from the requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from harness.core.history.exchanges import Exchange, Node
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.core.scenario.script import FOREVER
from harness.core.transition.arming import limit_of
from harness.core.values.errors import InputError
from harness.core.values.messages import Json, Message, ToolSpec
from harness.files.regular_file import whole, write_atomically
from harness.files.scenario_file import SourceFile
from harness.files.scenario_text import scenario_text
from harness.files.yaml_text import parse
from harness.recordings.importing.dialogue import Dialogue, DialogueStep, ModelTurn, UserTurn
from harness.recordings.importing.fidelity import GapLog
from harness.recordings.importing.scenario_document import import_dialogue
from harness.redaction.encoder import encoded

SCHEMA = "scenario.schema.json"
"""The file beside the scenarios that `harness init` writes, for editors."""

_CARRIED = ("dialect", "window_tokens", "checks")


def save(
    path: Path, history: History, scenario: Scenario, turns: Sequence[Turn], bent: list[FaultSpec]
) -> None:
    """Write the scenario of a test: its script, and its faults in the order of their turns.

    Raises InputError for a test that cannot be told, and for another file in that place.
    """
    document = _document(path.stem, history, scenario)
    document["script"] = msgspec.to_builtins(turns)
    if bent:
        document["faults"] = _placed(bent, history.trace.exchanges)
    has_schema = (path.parent / SCHEMA).is_file()
    head = [f"yaml-language-server: $schema={SCHEMA}"] if has_schema else []
    text = scenario_text(document, head)
    _check(path, text)
    data = encoded(text)
    if path.exists() and whole(path) != data:
        raise InputError("it differs from this test; remove it, and save again", str(path))
    write_atomically(path, data)


def _check(path: Path, text: str) -> None:
    """Raise InputError unless the text is a scenario of that name."""
    if path.suffix != ".yaml":
        raise InputError("a scenario file ends in .yaml", str(path))
    root, lines = parse(text)
    list(SourceFile(path, root, lines).scenarios())


def _document(name: str, history: History, scenario: Scenario) -> dict[str, Json]:
    """The keys of the file without its script."""
    trace = history.trace
    title = f"Saved by the test {scenario.name}"
    story, none = _story(trace), list[str]()
    made = import_dialogue(
        story, name=name, title=title, source=none, fired=none, at=None, account=GapLog()
    )
    own: dict[str, Json] = msgspec.to_builtins(scenario)
    return made.document | {key: own[key] for key in _CARRIED if own.get(key)}


def _story(trace: Trace) -> Dialogue:
    """The requests and answers of a test as a dialogue."""
    told = list(_told(trace.exchanges))
    if not told:
        raise InputError("no request reached the fake model, so nothing can be saved")
    sent = {(ask.exchange.n, ask.use.id): ask.sent for ask in trace.asks}
    steps: list[DialogueStep] = []
    for exchange, said in told:
        steps += [said] if said else []
        if exchange.succeeded and exchange.reply is not None:
            results = tuple(sent.get((exchange.n, use.id)) for use in exchange.reply.tool_uses)
            steps.append(ModelTurn(exchange.reply, exchange.stop, results))
    return Dialogue(
        steps=tuple(steps), messages=_before(told[0][0]), wire=trace.starts[0].wire,
        tools=tuple(ToolSpec(name, "", schema) for name, schema in trace.offered.items()),
        stream=any(exchange.request.stream for exchange, _ in told),
    )  # fmt: skip


def _before(first: Exchange) -> tuple[Message, ...]:
    """The messages of the first request before what the user says in it."""
    messages = first.node.messages
    return messages[: len(messages) - len(first.node.newest())]


def _told(exchanges: Sequence[Exchange]) -> Iterator[tuple[Exchange, UserTurn | None]]:
    """Yield each exchange, with what the user says first in it.

    A request that goes on from an earlier one is of its conversation. One that repeats a request
    tries again if that had no answer, and asks again if it had one.
    """
    last: list[Exchange] = []
    for exchange in exchanges:
        place = next((n for n, one in enumerate(last) if _goes_on(exchange, one)), len(last))
        seen: Node | None = last[place].node if place < len(last) else None
        last[place : place + 1] = [exchange]
        yield exchange, _said(exchange, seen, place)


def _goes_on(exchange: Exchange, before: Exchange) -> bool:
    # The same list after a success is another chat with the same words; after an error, a retry.
    if exchange.node is before.node:
        return not before.succeeded
    return exchange.node.first(before.node.depth) is before.node


def _said(exchange: Exchange, seen: Node | None, place: int) -> UserTurn | None:
    newest = exchange.node.newest()
    added = exchange.node.tail(seen) if seen else exchange.node.tail()[-len(newest) :]
    heard = [node.message for node in added if node.side == "user" and node.message.text]
    texts = [message.text for message in heard if not message.tool_results]
    if not texts:
        return None
    at = exchange.node.depth - len(newest) if not place else 0
    return UserTurn("\n".join(texts), at, f"chat-{place + 1}" if place else "main")


def _placed(bent: Sequence[FaultSpec], exchanges: Sequence[Exchange]) -> list[Json]:
    """The faults at the calls where they fired. Raises InputError for one that never did."""
    made: list[Json] = []
    after = 0
    for fault in bent:
        most = limit_of(fault)
        fired = [n for n, one in enumerate(exchanges, 1) if n > after and _has(one, fault.kind)]
        if not fired:
            raise InputError(f"the fault {fault.kind} never fired, so it has no place", "save")
        after = fired[:most][-1]
        made.append(_at(fault, fired[:1] if most == FOREVER else fired[:most]))
    return made


def _at(fault: FaultSpec, calls: Sequence[int]) -> dict[str, Json]:
    keys: dict[str, Json] = msgspec.to_builtins(fault)
    settings: dict[str, Json] = keys.pop("settings", {})
    if fault.often != "forever":
        keys.pop("often", None)
    return {**keys, "when": calls[0] if len(calls) == 1 else list(calls), **settings}


def _has(exchange: Exchange, kind: str) -> bool:
    return exchange.answered is not None and kind in exchange.answered.faults
