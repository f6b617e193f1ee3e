"""Plays the calls of a recording strictly to code that has its own client and recorder.

A call to a model is matched by its content, as in a cassette of a scenario. Any other request is
matched by the rules of its own recorder, and by its body. Each recorded call is played once.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from harness import providers
from harness.cassettes.cassette_file import CassetteExchange, calls, wire_of
from harness.cassettes.cassette_player import NO_MATCH, CassettePlayer, body_difference
from harness.cassettes.request_index import CassetteIndex
from harness.clock import RealClock
from harness.core.scenario.scenario import Limits, Scenario
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.providers.shared import hosts
from harness.providers.shared.codec import Unreadable
from harness.recordings.http_interaction import Cassette, Interaction, address_of
from harness.runner import prepare
from harness.targets import TargetSpec
from harness.transports.dispatcher import Dispatcher, at_once
from harness.transports.session_paths import decoded_path

_BOUNDARY = re.compile(rb"--([^\r\n]{1,70})\r\n")


class Answer(msgspec.Struct, frozen=True):
    """The position of a recorded answer (from 0), or a refusal and its reason."""

    place: int | None
    why: str = ""
    status: int = 400
    body: bytes = b""


class RecordedCalls:
    """The interactions of one cassette. Threads may share it.

    `repeats`: a played answer is played again for an equal request.

    Raises InputError for an interaction that cannot be read.
    """

    def __init__(self, interactions: Sequence[Interaction], *, repeats: bool = False) -> None:
        self._interactions, self._repeats = interactions, repeats
        self._played: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._models: dict[str, _ModelCalls] = {}
        for exchange in calls(Cassette(interactions)):
            wire = wire_of(exchange.method, exchange.path)
            assert wire is not None, exchange.path
            model = self._models.setdefault(wire.name, _ModelCalls(wire.name, repeats))
            model.add(exchange)
        for model in self._models.values():
            model.open()  # here, because a request may come within an event loop
        self._of_models = {n for model in self._models.values() for n in model.places}
        self.misses: list[str] = []
        """The reasons of refused requests, in order."""

    def answer(
        self, method: str, url: str, headers: dict[str, str], body: bytes,
        is_alike: Callable[[int], bool],
    ) -> Answer:  # fmt: skip
        """Return the answer to a request.

        `is_alike` says whether the recorder matches it with the request at a position.
        """
        address = address_of(url)
        wire = wire_of(method, address.path)
        model = self._models.get(wire.name) if wire else None
        with self._lock:
            if model and not hosts.is_foreign(providers.record(model.wire), address.path, body):
                answer = model.answer(method, address.path, headers, body, address.query)
            else:
                answer = self._plain(body, is_alike)
            if answer.place is None:
                self.misses.append(f"{method} {address.path}: {answer.why}")
            else:
                self._played[answer.place] += 1
        return answer

    def unplayed(self) -> Iterator[str]:
        """Return the recorded calls that no request asked for."""
        for place, item in enumerate(self._interactions):
            if not self._played[place]:
                yield f"#{place + 1} {item.method} {address_of(item.uri).path}"

    def _plain(self, body: bytes, is_alike: Callable[[int], bool]) -> Answer:
        places = [n for n in range(len(self._interactions)) if n not in self._of_models]
        alike = [place for place in places if is_alike(place)]
        wanted = _comparable(body)
        equal = [n for n in alike if _comparable(self._interactions[n].request_body) == wanted]
        due = next((place for place in equal if not self._played[place]), None)
        if due is None and equal and self._repeats:
            due = equal[-1]
        if due is not None:
            return Answer(due)
        why = self._nearest(wanted, alike, equal)
        error = {"error": {"type": "invalid_request_error", "message": f"loop-harness: {why}"}}
        return Answer(None, why, body=msgspec.json.encode(error))

    def _nearest(self, sent: Json, alike: Sequence[int], equal: Sequence[int]) -> str:
        """Return why no recorded answer matches a request that is not a call to a model."""
        if equal:
            return f"{NO_MATCH} any more; its answers have been played: #{equal[-1] + 1}"
        if not alike:
            return f"{NO_MATCH}; none has its method and address"
        recorded = _comparable(self._interactions[alike[0]].request_body)
        return f"{NO_MATCH}; nearest is #{alike[0] + 1}: {body_difference(sent, recorded)}"


def _comparable(body: bytes) -> Json:
    """Return a body for comparison: JSON as its value; parts of a form without their boundary."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = _BOUNDARY.match(body)
        return (body.replace(found[1], b"BOUNDARY") if found else body).decode("latin-1")


class _ModelCalls:
    """The calls to a model on one wire, with their own transition."""

    def __init__(self, wire: str, repeats: bool) -> None:
        self.wire = wire
        self.places: list[int] = []
        self._index = CassetteIndex()
        self._player = CassettePlayer(self._index, repeats=repeats)
        self._dispatcher: Dispatcher

    def add(self, exchange: CassetteExchange) -> None:
        """Add the next recorded call."""
        try:
            self._index.add(exchange)
        except Unreadable as error:
            raise InputError(str(error), f"interaction {exchange.number}") from None
        self.places.append(exchange.number - 1)

    def answer(
        self, method: str, path: str, headers: dict[str, str], body: bytes, query: str
    ) -> Answer:
        """Return the answer to a live call."""
        path = decoded_path(path)
        self._player.turn = None
        plan = self._dispatcher.model(method, path, headers, body, query=query)
        if self._player.turn is not None:
            return Answer(self.places[self._player.turn])
        said = at_once(plan)
        head, data = said if said else (None, b"")
        why = self._player.why or data.decode("utf-8", "replace")
        return Answer(None, why, head.status if head else 400, data)

    def open(self) -> None:
        """Begin to play the added calls."""
        limits = Limits.unreached(model_calls=2 * len(self.places) + 50)
        scenario = Scenario(name="recording", wire=self.wire, limits=limits)
        transition = prepare.transition_for(scenario, self._player)
        target = TargetSpec("test", "http")
        prepare.start(transition, target, "supervise", 0, store=False, seams=("model",))
        self._dispatcher = Dispatcher(transition, RealClock())
