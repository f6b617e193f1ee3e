"""A cassette that is played: requests put to it, and what was answered."""

from __future__ import annotations

import json
from typing import Any

from harness.cassettes.cassette_player import CassettePlayer
from harness.cassettes.request_index import CassetteIndex
from harness.core.history.events import Answered
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.core.transition.transition import Transition
from harness.core.values.calls import Received
from harness.core.values.plans import Send
from harness.providers import by_name
from tests.cassettes.recorded import ASK, cassette
from tests.recordings.imports import exchanges_in


class Played:
    """A cassette behind a transition, and what its answers were."""

    def __init__(self, *interactions: dict[str, Any], faults: Any = ()) -> None:
        self.script = CassettePlayer(CassetteIndex(exchanges_in(cassette(*interactions))))
        self.history = History()
        self.transition = Transition(
            Scenario(name="played"),
            by_name("anthropic"),
            self.script,
            self.history,
            faults=faults,
        )

    def ask(self, request: dict[str, Any] | None = None, **headers: str) -> Any:
        """The answer to a request: parsed JSON."""
        plan = self.transition.model(
            Received("/v1/messages", headers, encoded(ASK if request is None else request), 0)
        )
        return json.loads(b"".join(step.data for step in plan if isinstance(step, Send)))

    @property
    def last(self) -> Answered:
        """The last answered event."""
        return next(e for e in reversed(self.history.events) if isinstance(e, Answered))

    @property
    def unplayed(self) -> list[str]:
        """What is owed."""
        return list(self.script.unplayed(self.history.past))


def encoded(request: Any) -> bytes:
    """The body of a request, without blanks."""
    return json.dumps(request, separators=(",", ":")).encode()


def run_requests(count: int, path: str = "x") -> list[dict[str, Any]]:
    """The requests of a run with `count` calls, each the one before and a little more."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    requests = []
    for n in range(count):
        requests.append({**ASK, "messages": list(messages)})
        use = {"type": "tool_use", "id": f"toolu_{n}", "name": "read", "input": {"path": path}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": f"text {n}"}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return requests
