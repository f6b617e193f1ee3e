"""The provider seam of the transition: token counts and model facts, apart from replies.

These calls are not turns of the script. They have their own seam, so the call numbers of scripts,
limits and other faults do not change. Faults reach it with `on: provider`.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.core.transition.answer_event import record_answer
from harness.core.transition.arming import ArmedFault, Stage, bend_all
from harness.core.transition.limits import STOP, over_limit
from harness.core.transition.ports import (
    Endpoint,
    FactsProvider,
    IssuedThinking,
    Provider,
    Reader,
    SigningReader,
)
from harness.core.values.calls import Call, ProviderRequest, Received
from harness.core.values.draws import Draws
from harness.core.values.plans import Answer, ApiError, Facts, Plan, Step, until_timeout


class ProviderSeam:
    """Answers the provider's side endpoints of one run."""

    def __init__(
        self,
        scenario: Scenario,
        wire: Provider,
        history: History,
        draws: Draws,
        faults: Sequence[ArmedFault],
        issued: IssuedThinking | None,
    ) -> None:
        self._scenario, self._history, self._draws = scenario, history, draws
        self._provider, self._wire = wire, wire if isinstance(wire, FactsProvider) else None
        self._faults, self._issued = faults, issued
        self._readers: dict[str, Reader] = {}

    def question(self, method: str, path: str) -> ProviderRequest | None:
        """The request for facts at an endpoint; None if there is no such endpoint."""
        return self._wire.question(method, path) if self._wire is not None else None

    def call(
        self, asked: ProviderRequest, received: Received, session: str
    ) -> tuple[Call, Facts | ApiError]:
        """Record a request for facts; return the call and the provider's facts."""
        assert self._wire is not None
        reader = self._readers.get(session)
        window = self._scenario.window_tokens
        if reader is None:
            reader = self._provider.reader(self._scenario.dialect, window)
            if self._issued is not None and isinstance(reader, SigningReader):
                reader.expect(self._issued)
            self._readers[session] = reader
        asked, value = self._wire.facts(asked, received.body, reader, window)
        return self._called(asked, received, session), value

    def answer(
        self, call: Call, facts: Facts | ApiError, limit: str, endpoint: Endpoint | None = None
    ) -> Plan:
        """The plan for a call, recorded; `limit` names the exceeded limit, "" for none."""
        if limit:
            over = over_limit(limit, self._scenario.limits, self._history.past, self._provider)
            plan = self._written((STOP,) if over is None else (Answer(over),), call.key)
            return record_answer(self._history, call, plan, error=f"limit.{limit}")
        bent, by_value = self._bend("value", call, (Answer(facts),))
        plan, by_bytes = self._bend("bytes", call, self._written(bent, call.key))
        plan = until_timeout(plan, call.timeout_ms)
        plan = endpoint.sent(plan) if endpoint is not None else plan
        faults = by_value + by_bytes
        said = next((step.value for step in bent if isinstance(step, Answer)), None)
        told = said.body if isinstance(said, Facts) else None
        wait_ms = self._provider.headers.wait_ms
        return record_answer(self._history, call, plan, faults=faults, value=told, wait_ms=wait_ms)

    def _called(self, asked: ProviderRequest, received: Received, session: str) -> Call:
        past = self._history.past
        n = past.next_index(session, "provider")
        key, turn = f"{session}/provider#{n}", past.turn(session)
        self._history.called(
            at_ms=received.at_ms, session=session, turn=turn, key=key, seam="provider",
            request=asked, bytes=len(received.body), tokens=asked.tokens,
        )  # fmt: skip
        return Call(
            key, "provider", n, session, turn, received.at_ms, asked, timeout_ms=received.timeout_ms
        )

    def _bend(self, stage: Stage, call: Call, plan: Plan) -> tuple[Plan, tuple[str, ...]]:
        return bend_all(self._faults, stage, call, self._history, self._draws, plan)

    def _written(self, plan: Plan, key: str) -> Plan:
        assert self._wire is not None
        steps: list[Step] = []
        for step in plan:
            if isinstance(step, Answer):
                assert isinstance(step.value, (Facts, ApiError))
                steps.extend(self._wire.write_facts(step.value, key, self._draws))
            else:
                steps.append(step)
        return tuple(steps)
