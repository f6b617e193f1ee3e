"""Statement 130: tools that race for their environment make one.

Hermes makes a container when it sees that there is none. Ours holds a lock for each task, so the
second tool waits for the container of the first.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent import build
from harness.agent.tool_environment import Environments, EnvironmentSpec, from_section
from harness.core.values.messages import Json
from harness.runner import run
from tests import mutants
from tests.mutants.environments import AtOnce
from tests.scenarios.all_runs import named
from tests.seeds.caught import caught
from tests.seeds.environments import CONFIGURED, SECTIONS, TOOLS, Recording, created


@pytest.mark.seed(130)
@given(racers=st.lists(st.sampled_from(TOOLS), min_size=2, max_size=6), section=SECTIONS)
def test_tools_that_race_make_one_container_in_full(
    racers: list[str], section: dict[str, Json]
) -> None:
    backend, start = Recording(), Barrier(len(racers))
    environments = Environments(backend, lambda: from_section(section))

    def use(tool: str) -> Any:
        start.wait()
        return environments.ready("task", tool)

    with ThreadPoolExecutor(len(racers)) as pool:
        assert list(pool.map(use, racers)) == [1] * len(racers)
    assert backend.asked == [from_section(section)]


@pytest.mark.seed(130)
def test_a_second_tool_waits_while_the_first_still_makes_the_container() -> None:
    """The backend lets the other racer begin before it is done; no luck is needed."""
    began, asked = Barrier(2, timeout=20), []

    class Slow:
        def create(self, spec: EnvironmentSpec, /) -> str:
            asked.append(spec)
            began.wait()
            return "container"

    environments = Environments(Slow(), EnvironmentSpec)

    def second() -> Any:
        began.wait()
        return environments.ready("task", "file")

    with ThreadPoolExecutor(2) as pool:
        racers = [pool.submit(environments.ready, "task", "terminal"), pool.submit(second)]
        assert [racer.result() for racer in racers] == ["container"] * 2
    assert asked == [EnvironmentSpec()]


@pytest.mark.seed(130, kind="mutant")
def test_without_a_lock_each_racer_makes_one() -> None:
    assert created(caught("two_containers_at_once")) == [CONFIGURED] * 2
    locked = run(named(mutants.named("two_containers_at_once").mutant.scenario), _at_once)
    assert locked.verdict.findings == ()
    assert created(locked) == [CONFIGURED]


def _at_once(brief: Any) -> None:
    """The mutant's loop with the reference agent's environments."""
    build(brief, turn=AtOnce).run()
