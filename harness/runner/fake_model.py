"""A model that a test scripts in line, for code that builds its own client.

A scenario plays a whole agent: its inbox, tools and store. Here the test calls its own code, so the
harness replaces only the model. The requests are judged as in a run.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal, Self

import msgspec

from harness import providers
from harness.cassettes.cassette_file import archive_notes, read_cassette, wire_of
from harness.clock import RealClock
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.scenario.scenario import CassetteScript, Limits, Scenario, Turn
from harness.core.transition.ports import FactsProvider
from harness.core.transition.transition import Transition
from harness.core.values.errors import HarnessError, InputError
from harness.core.values.messages import Json, Message
from harness.core.values.verdict import FindingClass
from harness.files.mistakes import class_named, mistakes_in
from harness.runner import prepare
from harness.runner.inline_script import LineScript
from harness.runner.run import Run, judged_run
from harness.runner.saved_scenario import save
from harness.runner.session_url import SessionUrl
from harness.targets import End, TargetSpec
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport
from harness.transports.loopback import ModelRoute, serving
from harness.transports.mount import mounted
from harness.transports.sdk_clients import model_environment

_CALLS_MOST = 10_000
"""The test runner limits the time of a test, so this ends only what runs away. The limits of a
scenario are smaller: they guard an agent, and here no agent is judged."""

_TARGET = TargetSpec("fake_model", "http")


class NotAsScripted(HarnessError, AssertionError):
    """The requests differ from the script, or there is a finding; the text names it."""


class FakeRequest(msgspec.Struct, frozen=True):
    """A request that the fake model received.

    `messages`, `system` and `tools` are read from any provider's form; `tools` are the offered
    names. `status` is the response's, None before the response.
    """

    model: str
    messages: tuple[Message, ...]
    system: str
    tools: tuple[str, ...]
    stream: bool
    status: int | None


class FakeModel:
    """A scripted model: it plays answers and faults in the order of the calls below.

        fake_model.says("Let me see.").calls("book", {"seats": 4}).says("Booked for four.")

    One answer holds thinking, then a text, then a call. A part that cannot follow the last one
    begins the next answer. The first request chooses the provider, unless `wire` does. Answers are
    plain or streamed, as each request asks. An illegal request gets the provider's 400, and a
    request past the script a 400 of the harness. `verify` judges: an unplayed answer fails, and so
    does each finding of class `fail_on` or worse. As a context manager it verifies at the end of a
    block that raises nothing.

    `model_calls` ends an endless loop with a finding. `checks` are settings of checks; `dialect`
    and `window_tokens` are as in a scenario. `out` keeps the history below that folder. Methods
    raise InputError for an unusable name or value, and after the first request.
    """

    at: SessionUrl | None = None
    """The URL of the session; without one, each block starts a server."""

    folder: Path = Path()
    """Where relative paths begin: in pytest the folder of the test, elsewhere the current one."""

    def __init__(
        self,
        name: str = "fake_model",
        *,
        wire: str = "",
        dialect: str = "",
        window_tokens: int | None = None,
        model_calls: int = _CALLS_MOST,
        seed: int = 0,
        checks: Mapping[str, dict[str, Json]] | None = None,
        fail_on: FindingClass | None = None,
        out: Path | None = None,
    ) -> None:
        scenario = Scenario(
            name=name, wire=wire or providers.DEFAULT, dialect=dialect, seed=seed,
            window_tokens=window_tokens, checks=dict(checks or {}),
            limits=Limits.unreached(model_calls=model_calls),
        )  # fmt: skip
        self._scenario, self._wire, self._out = scenario.failing_on(fail_on), wire, out
        self._script, self._clock, self._lock = LineScript(), RealClock(), threading.Lock()
        self._recorded: tuple[str, ...] = ()
        self._dispatcher: Dispatcher | None = None
        self._transition: Transition | None = None
        self._route = ModelRoute(self._choose, self._clock)
        self._run: Run | None = None
        self.is_verified, self.unasked = False, UNASKED
        self._check(fail_on)

    def _check(self, fail_on: FindingClass | None) -> None:
        """Raise InputError for the first setting that cannot be used."""
        scenario = self._scenario
        class_named(fail_on)
        for mistake in mistakes_in(scenario):
            raise InputError(mistake.what, ".".join(map(str, mistake.path)))
        if scenario.dialect and not self._wire:
            raise InputError("a dialect is one of a wire: name that too, as in wire='anthropic'")
        providers.by_name(scenario.wire).reader(scenario.dialect, scenario.window_tokens)

    def when(self, text: str) -> Self:
        """Script the lines after this one for requests that have a text, in any letter case.

        Several conversations at once get their answers so: the first `when` whose text stands in
        the request's messages or system text takes it. Lines before any `when` take the rest.
        """
        return self._said(lambda script: script.when(text))

    def says(self, text: str) -> Self:
        """Script a text."""
        return self._said(lambda script: script.says(text))

    def thinks(self, text: str) -> Self:
        """Script thinking before the answer, for providers that show it."""
        return self._said(lambda script: script.thinks(text))

    def calls(self, tool: str, input: Json = None, *, unoffered: bool = False) -> Self:
        """Script a tool call, with `{}` as the default input.

        The request must offer the tool, and the input must keep to the tool's schema. `unoffered`
        is for a test of what the code does with a call that it cannot run.
        """
        given = {} if input is None else input
        return self._said(lambda script: script.calls(tool, given, unoffered=unoffered))

    def also_calls(self, tool: str, input: Json = None, *, unoffered: bool = False) -> Self:
        """Script one more tool call in the same answer, to be run in parallel."""
        given = {} if input is None else input
        return self._said(lambda script: script.also_calls(tool, given, unoffered=unoffered))

    def stops(self, reason: str) -> Self:
        """End the last answer with this stop reason: `max_tokens`, `refusal`, `pause_turn`."""
        return self._said(lambda script: script.changes(stop=reason))

    def times(self, number: int | Literal["forever"]) -> Self:
        """Repeat the last answer or fault this many times; `forever`: for every later request."""
        return self._said(lambda script: script.repeats(number))

    def turn(self, turn: Turn, *, unoffered: bool = False) -> Self:
        """Script any turn of a scenario, as a value; `unoffered` as for `calls`."""
        return self._said(lambda script: script.turn(turn, unoffered=unoffered))

    def fails(
        self,
        status: int = 529,
        *,
        retry_after: float | None = None,
        message: str = "",
        type: str = "",
    ) -> Self:
        """Answer the next request with an error status in its provider's form.

        The request after it gets the next answer. `retry_after` is a header, in seconds. `type` and
        `message` are the provider's by default, and so is a status that it never sends: the 529 of
        Anthropic is a 503 elsewhere.
        """
        given = {"status": status, "retry_after": retry_after, "message": message, "type": type}
        return self.fault("http.status", **{k: v for k, v in given.items() if v not in (None, "")})

    def fault(self, kind: str, **settings: Any) -> Self:
        """Apply a fault to the answer to the next request: `fault("sse.ends_early")`.

        The kinds are those of docs/faults.md. An answer that did not arrive whole is played again.
        """
        return self._said(lambda script: script.fault(kind, settings))

    def cassette(self, path: str | Path) -> Self:
        """Play a recording in place of a script: a cassette, or another file with HTTP calls.

        An equal request gets its recorded answer. Any other request fails, and so does a recorded
        call that does not come. Raises InputError for a file that cannot be played.
        """
        file = self.folder / path
        found = (wire_of(call.method, call.path) for call in read_cassette(file))
        wires = tuple(dict.fromkeys(wire.name for wire in found if wire))
        if not wires:
            raise InputError("no exchange of the cassette is a call to a model", str(file))
        if self._wire and self._wire not in wires:
            what = f"the cassette speaks {' and '.join(wires)}, the model {self._wire}"
            raise InputError(what, str(file))
        for note in archive_notes(file):
            warnings.warn(f"{file}: {note}", stacklevel=2)
        self._said(lambda script: script.makes_way())
        played = CassetteScript(cassette=str(file.resolve()))
        self._scenario = msgspec.structs.replace(self._scenario, script=played)
        self._recorded = wires
        return self

    @contextmanager
    def serve(self) -> Iterator[dict[str, str]]:
        """In the block, a server answers on loopback, and the environment names it for all SDKs.

        The value holds the variables that were set; `url` is the server's. In pytest it is one URL
        for the session, so that a client made at import finds the model of each test.
        """
        with ExitStack() as stack:
            lent = self.at and stack.enter_context(self.at.lent(self._route, self._scenario.name))
            self.url = lent or stack.enter_context(serving(self._route))
            named = model_environment(self.url)
            stack.enter_context(environment(named))
            yield named

    def transport(self) -> Any:
        """Return a transport for a `Client` or an `AsyncClient` of httpx2 or httpx, in this
        process.

        Example: `Anthropic(http_client=DefaultHttpxClient(transport=fake_model.transport()))`."""
        return HttpxTransport(self._route)  # type: ignore[arg-type]

    def mount(self, *urls: str) -> AbstractContextManager[None]:
        """In the block, requests of httpx2 and httpx clients below one of `urls` reach the fake
        model.

        The default are the URLs of all providers."""
        homes = urls or tuple(dict.fromkeys(record.url for record in providers.records()))
        return mounted(self._route, homes)  # type: ignore[arg-type]

    @property
    def requests(self) -> Sequence[FakeRequest]:
        """The requests so far, in order."""
        if self._transition is None:
            return ()
        history = self._transition.history
        return tuple(_request(history, exchange) for exchange in history.trace.exchanges)

    def verify(self) -> Run:
        """Judge the requests so far and accept no more; return the run, with history and verdict.

        Raises NotAsScripted unless it passes.
        """
        self.is_verified = True
        run = self.judged()
        if run is None:
            raise NotAsScripted(self.unasked)
        if run.verdict.verdict != "pass":
            found = run.verdict.failing or run.verdict.findings
            raise NotAsScripted("\n".join(map(str, found)))
        return run

    def judged(self) -> Run | None:
        """Return the run so far, judged once; None without a request."""
        if self._run is None and self._transition is not None:
            prepare.end(self._transition, End("returned"), self._clock.now_ms())
            self._run = judged_run(self._transition, _TARGET, "supervise", self._out)
        return self._run

    def save(self, path: str | Path) -> Path:
        """Write the test as a scenario that `harness run` plays; return its file.

        Call it after the last request. Questions and results of tools are those of the requests.
        The name of the file is the scenario's. A file that differs is not replaced. Raises
        InputError for that, for several conversations by `when`, and for a cassette.
        """
        file = self.folder / path
        if self._transition is None or self._recorded:
            what = "a cassette is saved already" if self._recorded else self.unasked
            raise InputError(what, str(file))
        turns, bent = self._script.as_scenario()
        save(file, self._transition.history, self._scenario, turns, bent)
        return file

    @property
    def is_owed(self) -> bool:
        """Whether there is a script or a request, and `verify` was not called yet."""
        is_used = not self._script.is_empty or self._recorded or self._transition is not None
        return bool(is_used) and not self.is_verified

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is None and self.is_owed:
            self.verify()

    def _said(self, say: Callable[[LineScript], None]) -> Self:
        if self._transition is not None:
            raise InputError("the script cannot change after the first request", "fake_model")
        if self._recorded:
            raise InputError("a cassette is the whole script: no line joins it", "fake_model")
        say(self._script)
        return self

    def _choose(self, method: str, path: str) -> Dispatcher:
        """Return the run's dispatcher.

        The first request makes it, because its address names the provider.
        """
        with self._lock:
            if self._dispatcher is None:
                try:
                    self._dispatcher = self._begin(self._wire or _wire_at(method, path))
                except InputError as error:
                    self.unasked = str(error)
                    raise
            return self._dispatcher

    def _begin(self, wire: str) -> Dispatcher:
        if self._recorded:
            wire = wire if wire in self._recorded else self._recorded[0]
        scenario = msgspec.structs.replace(self._scenario, wire=wire)
        made = prepare.transition_for if self._recorded else self._script.transition
        self._transition = made(scenario)
        prepare.start(self._transition, _TARGET, "supervise", 0, store=False, seams=("model",))
        return Dispatcher(self._transition, self._clock)


UNASKED = (
    "no request reached the fake model: build the client inside `with fake_model.serve()`, or give "
    "it `fake_model.transport()`, or use the provider's URL inside `with fake_model.mount()`"
)


def _wire_at(method: str, path: str) -> str:
    """Return the provider of an address; the default one for an unknown address."""
    for record in providers.records():
        provider = providers.by_name(record.name)
        knows = isinstance(provider, FactsProvider) and provider.question(method, path)
        if knows or record.is_spoken_at(path):
            return record.name
    return providers.DEFAULT


def _request(history: History, exchange: Exchange) -> FakeRequest:
    asked = exchange.request
    return FakeRequest(
        asked.model, exchange.node.messages, str(history.values.get(asked.system, "")),
        tuple(history.trace.schemas.get(asked.tools, ())), asked.stream, exchange.status,
    )  # fmt: skip


@contextmanager
def environment(named: Mapping[str, str]) -> Iterator[None]:
    """In the block, the environment has these values; afterwards it has its earlier ones."""
    before = {name: os.environ.get(name) for name in named}
    os.environ.update(named)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
