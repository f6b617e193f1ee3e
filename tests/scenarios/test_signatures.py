"""Agents that the provider lets be: all thoughts left out, another model in each turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle

import pytest

from harness.agent import build
from harness.agent.conversation.projection import project
from harness.agent.models.anthropic_model import AnthropicModel
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Thinking
from harness.runner import run
from tests.scenarios.all_runs import named

RUNS = ("signature-lost", "signature-lost/signed-before-the-run+stream", "thinking-changed")


def keeps_no_thoughts(brief: Brief) -> None:
    """Leaves out the thinking of every turn."""

    def spoken(rows: Sequence[Message]) -> list[Message]:
        said = [
            Message(m.role, tuple(b for b in m.blocks if not isinstance(b, Thinking)))
            for m in project(rows)
        ]
        return [message for message in said if message.blocks]

    build(brief, projection=spoken).run()


class Switching:
    """One model after the other, by the SDK."""

    def __init__(self, brief: Brief) -> None:
        client, stream = brief.anthropic(), bool(brief.options.get("stream"))
        names = ("claude-opus-5-5", "claude-haiku-5-5", "claude-fable-5-1")
        self._models = cycle([AnthropicModel(client, stream, name) for name in names])

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The answer of the model whose turn it is."""
        return next(self._models).query(query, show)


def switches_models(brief: Brief) -> None:
    """Asks another model each time, some of which cannot read what the one before thought."""
    build(brief, model=Switching(brief)).run()


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("agent", [keeps_no_thoughts, switches_models])
def test_an_agent_that_the_api_lets_be_passes(name: str, agent: Callable[[Brief], None]) -> None:
    verdict = run(named(name), agent).verdict
    assert [finding.code for finding in verdict.findings] == []
    assert verdict.verdict == "pass"
