"""The reference agent with drawn constants, its profile, and the scenario as its model plays it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from harness.agent import IdenticalFailureGuard, RepeatGuard, Watch, build
from harness.agent.agent_loop import Loop
from harness.agent.composition import (
    is_on,
    standard_model,
    standard_overflow,
    standard_projection,
    standard_store,
)
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.agent.conversation.history_size import estimate_tokens
from harness.agent.gateway import Gateway
from harness.agent.guards import EmptyInputGuard, Guard
from harness.agent.guards.guard_protocol import needed_by
from harness.agent.models.model_call import LanguageModel, ModelAnswer, Query
from harness.agent.sessions.transcript import RetryingStore
from harness.agent.tool_environment import tools_for_model
from harness.agent.toolbox import Toolbox
from harness.agent.turn_policy import Policy
from harness.core.scenario.scenario import Scenario, Turn
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, ToolSpec
from harness.core.values.profile import Capabilities, Profile
from harness.runner import Run, run
from tests.policies import variant_parts as variants
from tests.policies.constants import Constants

STORE_WAITS_S = (0.1, 1.0, 10.0)
DELIVERY_WAITS_S = (1.0, 5.0, 25.0)


def play(scenario: Scenario, drawn: Constants) -> Run:
    """The run of a scenario with the agent of these constants.

    Where the window fits the size of the requests, there is no room for one more tool: turns end
    by a text there.
    """
    if scenario.window_tokens:
        drawn = Constants({name: v for name, v in drawn.changed.items() if name != "end"})
    if drawn.end == "tool":
        scenario = _for_tools(scenario)
    profile = profile_of(drawn)
    options = {"inbound": profile.inbound} if profile.inbound else {}
    return run(scenario, agent_of(drawn), profile=profile, options=options)


def agent_of(drawn: Constants) -> Callable[[Brief], None]:
    """The agent of these constants."""

    def agent(brief: Brief) -> None:
        build(brief, **parts_of(drawn, brief)).run()

    return agent


def profile_of(drawn: Constants) -> Profile:
    """What is to be said of such an agent."""
    endings = (variants.FINAL_ANSWER,) if drawn.end == "tool" else ()
    results: Any = drawn.results
    has = Capabilities(sub_agents=False)
    inbound: Any = None if drawn.inbound == "none" else drawn.inbound
    return Profile(turn_ending_tools=endings, results=results, capabilities=has, inbound=inbound)


def parts_of(drawn: Constants, brief: Brief) -> dict[str, Any]:
    """The parts to be replaced for a brief."""
    tools = Toolbox(tools_for_model(brief.tools), drawn.tool_s, ask=brief.ask)
    parts: dict[str, Any] = {
        "model": _model(drawn, brief),
        "tools": variants.with_final_answer(tools) if drawn.end == "tool" else tools,
        "store": _store(drawn, brief),
        "guards": partial(_guards, drawn),
        "watch": partial(Watch, refusals=drawn.refusals),
        "overflow": partial(
            standard_overflow(brief),
            stages=drawn.shrinks.split(),
            rebuild_tokens=(drawn.rebuild_tokens, drawn.rebuild_tokens * 3 // 10),
        ),
        "compaction": _compaction(drawn, brief),
        "turn": _turn(drawn),
        "gateway": partial(_Gateway, tries=drawn.delivery_tries),
        "policy": _policy(drawn),
    }
    if drawn.results == "text":
        parts["projection"] = variants.with_text_results(standard_projection(brief))
    if drawn.failed_turn == "dropped" and not is_on(brief, "archive"):
        parts["transcript"] = variants.dropping_failed_turns()
    return parts


def _policy(drawn: Constants) -> Policy:
    return Policy(
        max_model_calls=drawn.model_calls,
        max_tokens=drawn.tokens,
        max_turn_s=drawn.turn_s,
        max_woken_tokens=drawn.woken_tokens,
        max_pauses=drawn.pauses,
        max_empty_answers=drawn.empty_answers,
        max_failures=drawn.failures,
        max_attempts=drawn.begins,
        max_depth=drawn.depth,
        max_tasks=drawn.tasks,
        retries={"broken_stream": drawn.broken_streams},
    )


def _model(drawn: Constants, brief: Brief) -> LanguageModel:
    def adapt(client: Any) -> Any:
        if not hasattr(client, "with_options"):
            return client
        client = client.with_options(max_retries=drawn.attempts - 1)
        if "timeout_s" in drawn.changed:
            client = client.with_options(timeout=float(drawn.timeout_s))
        if "retry_after_s" in drawn.changed and hasattr(client, "with_middleware"):
            client = client.with_middleware(variants.waiting_at_most(drawn.retry_after_s))
        return client

    return standard_model(brief, adapt)


def _store(drawn: Constants, brief: Brief) -> Any:
    retrying = standard_store(brief)
    waits_s = (*STORE_WAITS_S, *[STORE_WAITS_S[-1]] * 6)[: drawn.store_tries - 1]
    return RetryingStore(retrying._store, brief.clock.sleep, waits_s)  # type: ignore[attr-defined]


def _guards(drawn: Constants, tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (
        EmptyInputGuard(needed_by(tools), drawn.empty_inputs),
        IdenticalFailureGuard(tool_limit=drawn.tool_failures),
        RepeatGuard(period_max=drawn.circle),
    )


def _compaction(drawn: Constants, brief: Brief) -> Any:
    project = standard_projection(brief)

    def saves(compacted: Compacted, messages: Sequence[Message]) -> bool:
        after = project([compacted.summary, *messages[-compacted.keep :]])
        return estimate_tokens(after) <= drawn.saving * estimate_tokens(project(messages))

    def compaction(messages: Sequence[Message], budget: int, ask: Ask) -> Compacted | None:
        def ask_so_long(query: Query) -> ModelAnswer:
            return ask(msgspec.structs.replace(query, timeout_s=float(drawn.summary_s)))

        return compact(messages, budget, ask_so_long, saves_enough=saves)

    return compaction


def _turn(drawn: Constants) -> type[Loop]:
    turn: type[Loop] = variants.InThreads if drawn.tools == "parallel" else Loop
    if drawn.end == "tool":
        turn = variants.ending_by_a_tool(turn)
    return turn if drawn.last_word == "asked" else variants.saying_nothing_more(turn)


class _Gateway(Gateway):
    """A gateway that tries a reply so often."""

    def __init__(self, *parts: Any, tries: int) -> None:
        super().__init__(*parts)
        waits_s = (*DELIVERY_WAITS_S, *[DELIVERY_WAITS_S[-1]] * 2)
        self.delivery_waits_s = waits_s[: tries - 1]


def _for_tools(scenario: Scenario) -> Scenario:
    """The scenario whose model ends its turns by calling the tool.

    A turn that is played once the tools are withdrawn keeps its words.
    """
    if not isinstance(scenario.script, tuple):
        return scenario
    return msgspec.structs.replace(scenario, script=tuple(map(_by_tool, scenario.script)))


def _by_tool(turn: Turn) -> Turn:
    if turn.say is None or not turn.say.strip() or turn.purpose != "main" or turn.when == "ended":
        return turn
    if turn.think or turn.use or turn.blocks or turn.stop:
        return turn
    calling = {"say": None, "use": variants.FINAL_ANSWER, "input": {"text": turn.say}}
    return msgspec.structs.replace(turn, **calling)
