"""Statements 82 to 84: several compactions in one query, and those of another program."""

from __future__ import annotations

import pytest

from harness.agent import agent as reference
from harness.agent.sessions.jsonl_conversation import Chain
from harness.core.history.history import History
from harness.core.values.messages import assistant, user
from harness.runner import run
from tests.scenarios.all_runs import named
from tests.seeds.transcript_lines import assert_caught, lines_of


@pytest.mark.seed(82)
def test_two_compactions_in_one_query_are_both_kept_and_the_last_one_counts() -> None:
    chain = Chain()
    for n in (1, 2):
        chain.append(user(f"Question {n}"))
        chain.append(assistant(f"Answer {n}"))
        chain.summarise(user(f"Summary {n}"), keep=1)
    assert [row.message.text for row in chain.rows()] == ["Summary 2", "Answer 2"]
    assert sum("isCompactSummary" in line for line in lines_of(chain.export())) == 2


@pytest.mark.seed(82, kind="mutant")
def test_an_agent_that_compacts_once_is_caught() -> None:
    assert_caught("archive_compacts_once")


def _played() -> History:
    return run(named("second-compaction"), reference).history


@pytest.mark.seed(83, kind="not ours")
def test_the_agent_tells_the_begin_and_the_end_of_its_own_compactions() -> None:
    """No other program compacts for this agent, so no hook announces a compaction and no heartbeat
    has to come before its end. It asks for each summary itself, and tells both around it."""
    trace = _played().trace
    asked = [exchange for exchange in trace.exchanges if exchange.purpose == "compact"]
    told = [s.request.status for s in trace.sendings if s.request.kind == "compaction"]
    assert len(asked) > 1
    assert told == ["started", "ended"] * len(asked)


@pytest.mark.seed(84, kind="not ours")
def test_a_compaction_names_no_file_that_a_later_query_could_read() -> None:
    """Without announcements there are no pending paths: the summary is an answer of the model, and
    stands in the request after it."""
    trace = _played().trace
    for asked in (e for e in trace.exchanges if e.purpose == "compact"):
        assert asked.reply is not None
        later = next(e for e in trace.exchanges if e.n > asked.n and e.purpose == "main")
        assert asked.reply.text in later.node.messages[0].text
