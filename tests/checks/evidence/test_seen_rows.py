"""Rows that name their session, and rows that may come as often as the calls that they answer."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.checks.stored_session import reload_equivalence
from harness.core.history.events import StoredRow
from harness.core.values.messages import ToolResult, assistant, results, user
from harness.core.values.plans import Close, Sent
from tests.checks.histories import Story, codes, use


@pytest.mark.parametrize(
    ("refused", "found"), [("main", []), ("side", ["reload_equivalence.gone"])]
)
def test_a_refusal_for_size_counts_for_the_rows_of_its_session(
    refused: str, found: list[str]
) -> None:
    story = Story(stores=False).turn("one")
    kept = StoredRow("main/1", story.history.note(user("old"), story.at_ms), session="main")
    story.history.stored(**story._where(), store="jsonl", added=(kept,))
    story.of("side").turn("two").of(refused).fail(400, "V23", too_large=True).of("main")
    story.history.stored(**story._where(), store="jsonl", gone=("main/1",))
    story.of("side").reply("y").final().of("main").reply("x").final()
    told = codes(reload_equivalence(story.end()))
    assert [code for code in told if code.endswith("gone")] == found


def test_rows_may_be_shortened_after_a_refusal_that_the_network_broke_off() -> None:
    broken: Any = {"faults": ("transport.answered_before_read",), "steps": (Sent(1, 63), Close())}
    story = Story().turn("one").reply("x").final().turn("two").fail(413, **broken)
    story.change("r1", user("o"))
    assert codes(reload_equivalence(story.reply("y").final().end())) == []


@pytest.mark.parametrize(
    ("second", "found"), [("main", []), ("side", ["reload_equivalence.duplicate"])]
)
def test_two_sessions_may_store_the_same_words(second: str, found: list[str]) -> None:
    story = Story(stores=False).of("side").turn("one")
    rows = [StoredRow(f"{n}", story.history.note(user("one"), 0), session="side") for n in (1, 2)]
    story.history.stored(**story._where(), store="jsonl", added=(rows[0],))
    story.reply("1").final().of(second).turn("two")
    again = msgspec.structs.replace(rows[1], session=second)
    story.history.stored(**story._where(), store="jsonl", added=(again,))
    told = codes(reload_equivalence(story.reply("2").final().of(second).turn("x").end()))
    assert [code for code in told if code.endswith("duplicate")] == found


@pytest.mark.parametrize(("named", "found"), [(("m1", "m2"), []), (("m1",), ["main"])])
def test_two_messages_of_a_turn_may_be_answered_in_the_same_words(
    named: tuple[str, ...], found: list[str]
) -> None:
    story = Story(stores=False).turn("one").row(user("one")).take("two", "m2", reader=True)
    story.row(user("two")).reply(use("list"))
    for name in ("m1", "m2"):
        story.row(assistant("I stop."))
        story._name = name
        story = story.say("I stop.", "error", "failed") if name in named else story
    told = [f for f in reload_equivalence(story.end()) if f.code.endswith("duplicate")]
    assert ["main" for finding in told if "stores the reply" in finding.message] == found


@pytest.mark.parametrize(("calls", "found"), [(2, []), (1, ["reload_equivalence.duplicate"])])
def test_two_stored_calls_of_one_id_have_two_results(calls: int, found: list[str]) -> None:
    answer = results(ToolResult("old", "lost"))
    story = Story(stores=False).row(*[assistant(use("list", id="old"))] * calls).turn("one")
    story.row(answer, answer, user("one")).reply("x").row(assistant("x")).final()
    assert codes(reload_equivalence(story.end())) == found
