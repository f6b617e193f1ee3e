"""The ledger: a run waits for a capability until a run of its command has used it."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.profile import CAPABILITIES, NO_CONNECTIONS, Capability, Connections
from harness.core.values.verdict import Verdict
from harness.runner.capability_ledger import CapabilityLedger, settled


class Made(msgspec.Struct, frozen=True):
    """A run as the ledger sees it."""

    name: int
    connections: Connections = NO_CONNECTIONS
    verdict: Verdict = Verdict("fail")
    wire: str = "anthropic"


def made(
    name: int, needs: tuple[Capability, ...] = (), used: frozenset[Capability] = frozenset()
) -> Made:
    """A run that needs and used these."""
    return Made(name, Connections(needs=needs, used=used))


def on(wire: str, name: int, speaks: bool) -> Made:
    """A run on this wire that called the model or not."""
    return Made(name, Connections(speaks=speaks), wire=wire)


NAMES = st.sampled_from(CAPABILITIES[:3])
RUNS = st.lists(
    st.tuples(st.lists(NAMES, unique=True, max_size=2), st.frozensets(NAMES, max_size=2)),
    max_size=8,
).map(lambda all: [made(n, tuple(d), t) for n, (d, t) in enumerate(all)])


def words(runs: list[Made]) -> dict[int, str]:
    return {run.name: run.verdict.verdict for run in runs}


def test_what_waits_comes_as_soon_as_a_run_uses_it() -> None:
    ledger = CapabilityLedger[Made]()
    waits, other = made(1, ("session",)), made(2)
    assert [*ledger.take(waits)] == []
    assert [*ledger.take(other)] == [other]
    uses = made(3, used=frozenset({"session"}))
    assert [*ledger.take(uses)] == [waits, uses]
    assert [*ledger.take(msgspec.structs.replace(waits, name=4))]
    assert [*ledger.close()] == []


def test_what_no_run_used_is_missing_with_its_reason() -> None:
    ledger = CapabilityLedger[Made]()
    assert [*ledger.take(made(1, ("session", "streaming"), frozenset({"streaming"})))] == []
    (late,) = ledger.close()
    assert late.verdict.verdict == "not_applicable"
    (lack,) = late.verdict.not_applicable
    assert (lack.check, lack.missing, lack.kind) == ("run", "session", "unused")
    assert (
        lack.reason == "needs session: no run of this command showed a seeded message in a request"
    )
    assert [*ledger.close()] == []


@given(RUNS)
def test_each_run_comes_once_and_is_judged_by_all_of_them(runs: list[Made]) -> None:
    ledger = CapabilityLedger[Made]()
    given = [out for run in runs for out in ledger.take(run)] + [*ledger.close()]
    assert sorted(run.name for run in given) == [run.name for run in runs]
    used = frozenset[Capability]().union(*(run.connections.used for run in runs))
    expected = {
        run.name: "fail" if set(run.connections.needs) <= used else "not_applicable" for run in runs
    }
    assert words(given) == expected == words(settled(runs))
    assert [run.name for run in settled(runs)] == [run.name for run in runs]


SAID, ANSWER = "Which three steps renew a passport?", "First, fill in the form."


def test_a_run_that_begins_with_another_one_is_not_judged() -> None:
    first = Made(1, Connections(speaks=True, said=(SAID, ANSWER)))
    mixed = Made(2, Connections(speaks=True, said=("Good morning.",), past=(SAID, ANSWER)))
    prompted = Made(3, Connections(speaks=True, past=("An example of a question.",)))
    again = Made(4, Connections(speaks=True, said=("Hello again.",), past=("Hello again.",)))
    found = settled([first, mixed, prompted, again])
    assert [run.verdict.verdict for run in found] == [
        "fail", "not_applicable", "fail", "not_applicable",
    ]  # fmt: skip
    (lack,) = found[1].verdict.not_applicable
    assert (lack.missing, lack.kind) == ("separate runs", "mixed")


def test_the_facts_of_an_agent_are_one_line() -> None:
    ledger = CapabilityLedger[Made]()
    first = Made(1, Connections(speaks=True, said=(SAID,)))
    assert [*ledger.take(first)] == [first]
    assert ledger.facts == ""
    bare = Made(2, Connections(speaks=True, needs=("tools",), offers=("look_up",)))
    assert [*ledger.take(bare)] == []
    assert [*ledger.take(Made(3, Connections(speaks=True, past=(SAID,))))]
    assert ledger.facts == (
        "it speaks anthropic; of a scenario's tools it offers none, of its own look_up; "
        "its runs are not separate: docs/targets.md#a-session-file"
    )


@pytest.mark.parametrize(
    ("seen", "told"), [([None, False], True), ([False, True], False), ([None], False)]
)
def test_an_agent_that_names_no_message_is_told(seen: list[bool | None], told: bool) -> None:
    ledger = CapabilityLedger[Made]()
    for number, names in enumerate(seen):
        list(ledger.take(Made(number, Connections(speaks=True, names_ids=names))))
    assert ("no message id" in ledger.facts) == told


def test_a_run_that_no_tool_of_the_agent_meets_is_not_applicable() -> None:
    unbound = Made(1, Connections(used=frozenset({"tools"}), unbound="needs tools: no tool"))
    (found,) = settled([unbound])
    assert [n.kind for n in found.verdict.not_applicable] == ["tools"]


@pytest.mark.parametrize("word", ["pass", "unknown", "fail"])
def test_no_verdict_stands_without_its_capability(word: str) -> None:
    run = msgspec.structs.replace(made(1, ("store",)), verdict=Verdict(word))  # type: ignore[arg-type]
    assert words(settled([run])) == {1: "not_applicable"}
    assert settled([run, made(2, used=frozenset({"store"}))])[0] is run


def test_a_wire_that_only_other_runs_speak_is_missing_with_its_reason() -> None:
    deaf, speaks = on("gemini", 1, False), on("anthropic", 2, True)
    ledger = CapabilityLedger[Made]()
    assert [*ledger.take(deaf)] == []
    assert [*ledger.take(speaks)] == [speaks]
    (late,) = ledger.close()
    assert late.verdict.verdict == "not_applicable"
    (lack,) = late.verdict.not_applicable
    assert (lack.kind, lack.missing, lack.reason) == (
        "wire",
        "gemini",
        "needs wire gemini: no run of this command called the model on it",
    )


def test_a_wire_that_another_run_speaks_is_owed() -> None:
    deaf, speaks = on("gemini", 1, False), on("gemini", 2, True)
    assert settled([deaf, speaks]) == [deaf, speaks]


def test_where_no_run_calls_the_model_the_verdicts_stay() -> None:
    runs = [on("gemini", 1, False), on("anthropic", 2, False)]
    assert settled(runs) == runs
