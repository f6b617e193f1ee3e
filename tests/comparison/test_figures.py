"""The numbers of a run, and of many."""

from __future__ import annotations

from harness.verdicts.run_diff import Figures, figures, total
from tests.comparison import edited, played


def test_the_numbers_of_a_run() -> None:
    history = played("circles")
    found = figures(history)
    assert found.model_calls == len(history.trace.exchanges) > 0
    assert found.tool_calls == len(history.trace.executions) > 0
    assert (found.answers, found.real_s) == (1, 0.0)
    assert found.prompt_tokens == sum(e.called.tokens for e in history.trace.exchanges) > 0


def test_time_is_virtual_in_simulate_and_real_elsewhere() -> None:
    history = edited(played("circles/in-one-batch+stream", "naive"))
    virtual = figures(history)
    assert virtual.virtual_s == history.events[-1].at_ms / 1000 > 0
    real = figures(edited(history, ('"world":"simulate"', '"world":"supervise"')))
    assert (real.virtual_s, real.real_s) == (0.0, virtual.virtual_s)


def test_a_sum() -> None:
    one = Figures(1, 2, 3, 4, 5.0, 6.0)
    assert total([one, one]) == Figures(2, 4, 6, 8, 10.0, 12.0)
    assert total([]) == Figures()
