"""Statements 72 to 74, 77, 78, 85, 91: summaries, and what stands behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.agent.context_overflow import compact
from harness.agent.models.model_call import ModelAnswer
from harness.agent.sessions.jsonl_conversation import (
    Chain,
    messages_of,
    transcript_of,
    without_program_entries,
)
from harness.agent.sessions.session_archive import Watermark
from harness.core.values.messages import Thinking, ToolResult, ToolUse, assistant, results, user
from harness.stores.sqlite import SqliteStore
from tests.seeds.transcript_lines import (
    TALK,
    answer,
    archive_in,
    archived,
    assert_caught,
    file_of,
    lines_of,
    noise,
    parents,
    said,
)

FLAG = {"isCompactSummary": True}
TWO = file_of(
    said("a", "Hi"),
    said("s", "First", "a", **FLAG),
    answer("b", "Ho", parent="s"),
    said("t", "Second", "b", **FLAG),
    answer("c", "On we go", parent="t", id="msg_2"),
)


@pytest.mark.seed(72)
def test_the_last_summary_and_what_follows_is_told() -> None:
    assert [m.text for m in messages_of(TWO)] == ["Second", "On we go"]


@pytest.mark.seed(72, kind="mutant")
def test_an_agent_that_uses_the_first_summary_is_caught() -> None:
    assert_caught("archive_first_summary_wins")


@pytest.mark.seed(73)
def test_without_a_summary_or_a_file_there_is_nothing_and_the_list_stays(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    assert messages_of(transcript_of(TALK)) == list(TALK)
    assert messages_of(b"") == []
    assert archive.read("main") == (b"", Watermark())
    archive.paths("main")[0].mkdir(parents=True)
    assert archive.read("main") == (b"", Watermark())
    chain = Chain()
    chain.replace(TWO)
    assert not chain.replace(b"")
    assert chain.export() == TWO


@pytest.mark.seed(74)
@pytest.mark.parametrize(
    "nothing",
    [file_of(noise("p"), noise("q", "p", "file-history-snapshot")), b"{torn\n\x00\n", b"\n\n"],
    ids=["strippable", "corrupt", "blank"],
)
def test_a_replacement_by_nothing_leaves_the_list(nothing: bytes) -> None:
    chain = Chain()
    chain.append(user("Hi"))
    before = chain.export()
    assert not chain.replace(nothing)
    assert chain.export() == before


@pytest.mark.seed(74, kind="mutant")
def test_a_list_that_is_emptied_first_is_caught() -> None:
    assert_caught("archive_swaps_before_building")


@pytest.mark.seed(77)
@pytest.mark.parametrize("kind", ["summary", "user"])
def test_a_flagged_summary_survives_export_load_and_export(kind: str) -> None:
    flagged = said("s", "Until here", "a", **FLAG) | {"type": kind}
    data = file_of(said("a", "Hi"), flagged, answer("b", "Ho", parent="s"))
    first, second = Chain(), Chain()
    assert first.replace(data)
    assert second.replace(first.export())
    assert second.export() == data
    assert [m.text for m in messages_of(second.export())] == ["Until here", "Ho"]


@pytest.mark.seed(77)
def test_a_summary_of_our_own_survives_too(tmp_path: Path) -> None:
    chain = Chain()
    for message in TALK:
        chain.append(message)
    chain.summarise(user("Oslo"), keep=1)
    again = Chain()
    assert again.replace(chain.export())
    assert [row.message for row in again.rows()] == [user("Oslo"), TALK[-1]]


@pytest.mark.seed(77, kind="mutant")
def test_an_agent_that_loses_the_flag_is_caught() -> None:
    assert_caught("archive_loses_summary_flag")


@pytest.mark.seed(78)
def test_a_summary_without_the_flag_is_stripped_and_its_children_linked_anew() -> None:
    for flag in ({}, {"isCompactSummary": False}, {"isCompactSummary": "yes"}):
        title = noise("s", "a", "summary", summary="A title", **flag)
        data = file_of(said("a", "Hi"), title, answer("b", "Ho", parent="s"))
        assert parents(without_program_entries(data)) == [("a", ""), ("b", "a")]
        assert messages_of(data) == [user("Hi"), assistant("Ho")]


@pytest.mark.seed(85)
def test_a_file_of_the_current_program_is_loaded_with_all_its_new_types() -> None:
    data = file_of(
        {"type": "queue-operation", "operation": "enqueue"},
        said("a", "Hi", isSidechain=False, version="2.1.329"),
        noise("n1", "a", "attachment", attachment={"type": "todo"}),
        answer("b", "Ho", parent="n1"),
        noise("bound", "b", "system", subtype="compact_boundary", logicalParentUuid="b"),
        said("s", "Until here", "bound", **FLAG),
        noise("n2", "s", "api-request-blob", blob=[None, {"x": 1}]),
        said("side", "Not for you", "n2", isSidechain=True),
        said("meta", "Caveat", "n2", isMeta=True),
        answer("c", "On we go", parent="n2", id="msg_2"),
        {"type": "last-prompt", "lastPrompt": "Hi"},
        {"type": "cost-state"},
        {"no": "type"},
    )
    assert [m.text for m in messages_of(data)] == ["Until here", "On we go"]
    chain = Chain()
    assert chain.replace(data)
    chain.append(user("More"))
    last = lines_of(chain.export())[-1]
    assert last["parentUuid"] == "c"


@pytest.mark.seed(91)
def test_a_compaction_leaves_the_last_answer_and_what_follows_but_for_the_links() -> None:
    call = ToolUse("t", "look", {"at": "\u2028"})
    last = (assistant(Thinking("Hm", "signed"), call), results(ToolResult("t", "seen")))
    chain = Chain()
    for message in (*TALK, *last):
        chain.append(message)
    before = lines_of(chain.export())[-2:]
    chain.summarise(user("Oslo"), keep=2)
    data = chain.export()
    after = lines_of(data)[-2:]
    links = ("uuid", "parentUuid")
    assert [{k: v for k, v in line.items() if k not in links} for line in after] == [
        {k: v for k, v in line.items() if k not in links} for line in before
    ]
    assert messages_of(data) == [user("Oslo"), *last]
    assert [p for _, p in parents(data)] == ["", *(name for name, _ in parents(data)[:-1])]


@pytest.mark.seed(91)
def test_a_summary_stands_for_nothing_of_the_last_answer() -> None:
    """An answer of two rows, a result and a word of the user: the four last messages stay."""
    long = "all work and no play " * 100
    call = ToolUse("t", "look", {})
    last = [assistant("wait"), assistant(call), results(ToolResult("t", "seen")), user("And?")]
    made = compact(
        [user(long), assistant(long), user(long), *last],
        10_000,
        lambda query: ModelAnswer(assistant("Short."), "end_turn"),
    )
    assert made is not None
    assert made.keep == len(last)


@pytest.mark.seed(77)
def test_an_empty_store_is_filled_from_the_archive(tmp_path: Path) -> None:
    from harness.agent.sessions.turn_outcome import Outcome
    from harness.core.values.calls import Inbound

    first = archived(tmp_path, SqliteStore(tmp_path / "old.db"))
    assert first.open(Inbound("m1", text="Hi"))
    first.close(Inbound("m1", text="Hi"), Outcome("ok", assistant(Thinking("Hm", "s"), "Ho")))
    assert archive_in(tmp_path).read("main")[0]
    second = archived(tmp_path, SqliteStore(tmp_path / "new.db"))
    assert second.open(Inbound("m2", text="And?"))
    assert [m.text for m in second.messages] == ["Hi", "Ho", "And?"]
