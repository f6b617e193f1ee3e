"""Changes the runs of a file for a test: another wire, another kind of agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import msgspec

from harness import providers
from harness.adapters import text_function
from harness.comparison.writings import courses
from harness.core.values.errors import InputError
from harness.core.values.profile import Capabilities, Profile
from harness.targets.spec import TargetSpec

if TYPE_CHECKING:
    from harness.core.scenario.scenario import Scenario
    from harness.runner import Run


def spoken(
    runs: Sequence[Scenario], wires: Sequence[str], stream: bool | None
) -> Sequence[Scenario]:
    """Return the runs on these wires, streamed or not; without any, the runs changed to these.

    A run that is changed for several wires gets the first. Raises InputError for an unknown wire.
    """
    if wires:
        for wire in wires:
            providers.record(wire)
        runs = [run for run in runs if run.wire in wires] or _once(runs, wire=wires[0])
    if stream is not None:
        runs = [run for run in runs if run.stream is stream] or _once(runs, stream=stream)
    return runs


def on_one_wire(runs: Sequence[Scenario], run_one: Callable[[Scenario], Run]) -> Iterator[Run]:
    """Play each scenario once, on the first of its wires on which the agent calls the model.

    An agent that calls it on none says so on the first wire.
    """
    spoken = ""
    for others in courses(runs):
        played = []
        for run in sorted(others, key=lambda run: run.wire != spoken):
            played.append(run_one(run))
            if played[-1].connections.speaks is not False:
                spoken = run.wire
                break
        yield played[0] if played[-1].connections.speaks is False else played[-1]


def _once(runs: Sequence[Scenario], **fields: Any) -> list[Scenario]:
    """Return the runs with these fields, each name once."""
    made = [msgspec.structs.replace(run, **fields) for run in runs]
    return list({run.run_name: run for run in made}.values())


def beside_any_loop(play: Callable[[], list[Run]]) -> list[Run]:
    """Play here; in an `async def` test in a thread, because a run has its own event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return play()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(play).result()


def agent_of(agent: object, chat: Callable[[str], object] | None) -> Any:
    """Return the agent, or the one made of `chat`. Raises InputError for both, and for none."""
    if (agent is None) == (chat is None):
        what = "give an agent or chat=, not both" if agent else "give an agent or chat="
        raise InputError(what, "play")
    if chat is None:
        assert agent is not None
        return agent
    if not callable(chat):
        what = f"chat is a function from text to text, not {type(chat).__name__}"
        raise InputError(what, "play")
    name = getattr(chat, "__qualname__", type(chat).__name__)
    made = text_function(chat)
    session = Capabilities(session=made.profile.declares("session"))
    texts = Profile(replies="text", capabilities=session)
    return TargetSpec(name, "python", made, options={"mount": True}, profile=texts)
