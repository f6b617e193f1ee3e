"""A model that a test scripts in line, for code that builds its own client.

A scenario plays a whole agent: its inbox, tools and store. Here the test calls its own code, so
only the model is ours. Everything that the requests show is judged as in a run.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Literal, Self

import msgspec

from harness import providers
from harness.clock import RealClock
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.scenario.scenario import Limits, Scenario, Turn
from harness.core.transition.ports import FactsProvider
from harness.core.transition.transition import Transition
from harness.core.values.errors import HarnessError, InputError
from harness.core.values.messages import Json, Message
from harness.core.values.verdict import FindingClass
from harness.files.mistakes import class_named, mistakes_in
from harness.runner import prepare
from harness.runner.inline_script import LineScript
from harness.runner.run import Run, judged_run
from harness.targets import End, TargetSpec
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport
from harness.transports.model_route import ModelRoute, serving
from harness.transports.mount import mounted
from harness.transports.sdk_clients import model_environment

_CALLS_MOST = 200
"""No test in line makes so many requests; an endless loop ends here with a finding. Each request of
a loop holds all before it, so the time grows with the square of this."""

_TARGET = TargetSpec("fake_model", "http")


class NotAsScripted(HarnessError, AssertionError):
    """The requests are not those of the script, or a finding stands; the text says which."""


class FakeRequest(msgspec.Struct, frozen=True):
    """A request that the fake model was sent.

    `messages`, `system` and `tools` are read from any provider's form; `tools` are the names that
    were offered. `status` is that of the answer, None while there is none.
    """

    model: str
    messages: tuple[Message, ...]
    system: str
    tools: tuple[str, ...]
    stream: bool
    status: int | None


class FakeModel:
    """A scripted model: answers and faults in the order in which they are said.

        fake_model.says("Let me see.").calls("book", {"seats": 4}).says("Booked for four.")

    One answer is what can stand in one: thinking, then a text, then a call. What cannot stand
    behind the last part begins the next answer. The provider is the one whose client asks first;
    `wire` fixes it. Answers are plain or streamed, as each request asks. An illegal request gets
    the provider's 400, and a request past the script a 400 of ours. `verify` judges: what was not
    played fails, and so does each finding from the class `fail_on` on. As a context manager it
    verifies at the end of a block that raises nothing.

    `checks` are settings of checks, `dialect` and `window_tokens` those of a scenario. `out` keeps
    the history below that folder. Methods raise InputError for a name or value that cannot be used,
    and once the first request has come.
    """

    def __init__(
        self,
        name: str = "fake_model",
        *,
        wire: str = "",
        dialect: str = "",
        window_tokens: int | None = None,
        seed: int = 0,
        checks: Mapping[str, dict[str, Json]] | None = None,
        fail_on: FindingClass | None = None,
        out: Path | None = None,
    ) -> None:
        scenario = Scenario(
            name=name, wire=wire or providers.DEFAULT, dialect=dialect, seed=seed,
            window_tokens=window_tokens, checks=dict(checks or {}),
            limits=Limits(model_calls=_CALLS_MOST),
        )  # fmt: skip
        self._scenario, self._wire, self._out = scenario.failing_on(fail_on), wire, out
        self._script, self._clock, self._lock = LineScript(), RealClock(), threading.Lock()
        self._dispatcher: Dispatcher | None = None
        self._transition: Transition | None = None
        self._route = ModelRoute(self._choose, self._clock)
        self._run: Run | None = None
        self.is_verified = False
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

    def says(self, text: str) -> Self:
        """The model says a text."""
        return self._said(lambda script: script.says(text))

    def thinks(self, text: str) -> Self:
        """The model thinks before its answer, where the provider shows that."""
        return self._said(lambda script: script.thinks(text))

    def calls(self, tool: str, input: Json = None) -> Self:
        """The model calls a tool, with `{}` where no input is given."""
        return self._said(lambda script: script.calls(tool, {} if input is None else input))

    def also_calls(self, tool: str, input: Json = None) -> Self:
        """The model calls one tool more in the same answer, to be run in parallel."""
        return self._said(lambda script: script.also_calls(tool, {} if input is None else input))

    def stops(self, reason: str) -> Self:
        """The last answer ends with this stop reason: `max_tokens`, `refusal`, `pause_turn`."""
        return self._said(lambda script: script.changes(stop=reason))

    def times(self, number: int | Literal["forever"]) -> Self:
        """The last answer or fault comes so many times; `forever`: whenever it is asked for."""
        return self._said(lambda script: script.repeats(number))

    def turn(self, turn: Turn) -> Self:
        """Any turn of a scenario, as a value."""
        return self._said(lambda script: script.turn(turn))

    def fails(
        self,
        status: int = 529,
        *,
        retry_after: float | None = None,
        message: str = "",
        type: str = "",
    ) -> Self:
        """The next request gets an error status in its provider's form; the one after it goes on.

        `retry_after` is a header, in seconds. `type` and `message` are the provider's by default.
        """
        given = {"status": status, "retry_after": retry_after, "message": message, "type": type}
        return self.fault("http.status", **{k: v for k, v in given.items() if v not in (None, "")})

    def fault(self, kind: str, **settings: Any) -> Self:
        """The answer to the next request meets a fault: `fault("sse.ends_early")`.

        The kinds are those of docs/faults.md. An answer that did not arrive whole comes again.
        """
        return self._said(lambda script: script.fault(kind, settings))

    @contextmanager
    def serve(self) -> Iterator[dict[str, str]]:
        """In the block a server answers on loopback, and the environment names it for all SDKs.

        The value holds the names and values that were set; `url` is the server's.
        """
        with serving(self._route) as url:
            self.url = url
            named = model_environment(url)
            with _environment(named):
                yield named

    def transport(self) -> Any:
        """A transport for a `Client` or an `AsyncClient` of httpx2 or httpx, in this process:
        `Anthropic(http_client=DefaultHttpxClient(transport=fake_model.transport()))`."""
        return HttpxTransport(self._route)  # type: ignore[arg-type]

    def mount(self, *urls: str) -> AbstractContextManager[None]:
        """In the block every client of httpx2 and httpx that asks below one of `urls` reaches the
        fake model; by default the URLs of all providers."""
        homes = urls or tuple(dict.fromkeys(record.url for record in providers.records()))
        return mounted(self._route, homes)  # type: ignore[arg-type]

    @property
    def requests(self) -> Sequence[FakeRequest]:
        """What was asked so far, in order."""
        if self._transition is None:
            return ()
        history = self._transition.history
        return tuple(_request(history, exchange) for exchange in history.trace.exchanges)

    def verify(self) -> Run:
        """Judge what was asked so far, and take no more; the run, with its history and verdict.

        Raises NotAsScripted unless it passes.
        """
        self.is_verified = True
        run = self.judged()
        if run is None:
            raise NotAsScripted(UNASKED)
        if run.verdict.verdict != "pass":
            found = run.verdict.failing or run.verdict.findings
            raise NotAsScripted("\n".join(f"{f.code}: {f.message}" for f in found))
        return run

    def judged(self) -> Run | None:
        """The run as far as it came, judged once; None if nothing was asked."""
        if self._run is None and self._transition is not None:
            prepare.end(self._transition, End("returned"), self._clock.now_ms())
            scenario, history = self._transition.scenario, self._transition.history
            self._run = judged_run(scenario, _TARGET, "supervise", history, self._out)
        return self._run

    @property
    def is_owed(self) -> bool:
        """Whether something was scripted or asked, and `verify` was not called yet."""
        is_used = not self._script.is_empty or self._transition is not None
        return is_used and not self.is_verified

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is None and self.is_owed:
            self.verify()

    def _said(self, say: Callable[[LineScript], None]) -> Self:
        if self._transition is not None:
            raise InputError("the first request has come, and the script stands", "fake_model")
        say(self._script)
        return self

    def _choose(self, method: str, path: str) -> Dispatcher:
        """The run's dispatcher, which the first request makes: its address names the provider."""
        with self._lock:
            if self._dispatcher is None:
                self._dispatcher = self._begin(self._wire or _wire_at(method, path))
            return self._dispatcher

    def _begin(self, wire: str) -> Dispatcher:
        scenario = msgspec.structs.replace(self._scenario, wire=wire)
        self._transition = self._script.transition(scenario)
        prepare.start(self._transition, _TARGET, "supervise", 0, store=False, seams=("model",))
        return Dispatcher(self._transition, self._clock)


UNASKED = (
    "no request reached the fake model: build the client inside `with fake_model.serve()`, or give "
    "it `fake_model.transport()`, or ask the provider's URL inside `with fake_model.mount()`"
)


def _wire_at(method: str, path: str) -> str:
    """The provider that is asked at an address; the default one where no provider answers."""
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
def _environment(named: Mapping[str, str]) -> Iterator[None]:
    """In the block the environment has these values; behind it those that it had before."""
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
