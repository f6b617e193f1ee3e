"""Statements 79 to 81, 86, 87, 92 to 94: lines, their links, and the way there and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from harness.agent.context_overflow import compact
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions.jsonl_conversation import (
    Chain,
    messages_of,
    problem,
    read_entries,
    transcript_of,
    without_program_entries,
)
from harness.core.values.messages import Message, Text, ToolResult, assistant, user
from harness.recordings.readers.claude_code import claude_code
from harness.stores.sqlite import SqliteStore
from tests.seeds.transcript_lines import (
    MESSAGES,
    TALK,
    answer,
    archived,
    assert_caught,
    file_of,
    lines_of,
    noise,
    parents,
    said,
)


@pytest.mark.seed(79)
def test_a_chain_of_stripped_parents_ends_at_the_first_that_is_kept() -> None:
    data = file_of(
        said("a", "Hi"),
        noise("p", "a"),
        noise("q", "p", "queue-operation"),
        answer("b", parent="q"),
    )
    assert parents(without_program_entries(data)) == [("a", ""), ("b", "a")]


@pytest.mark.seed(79)
@pytest.mark.parametrize("circle", [["p"], ["p", "q"], ["p", "q", "r"]])
def test_a_circle_of_stripped_parents_makes_a_root(circle: list[str]) -> None:
    ring = [noise(name, circle[n - 1]) for n, name in enumerate(circle)]
    assert parents(without_program_entries(file_of(*ring, said("a", "Hi", circle[0])))) == [
        ("a", "")
    ]
    circular = file_of(said("a", "Hi", "b"), answer("b", "Ho", parent="a"))
    assert [m.text for m in messages_of(circular)] == ["Hi", "Ho"]


@pytest.mark.seed(80)
def test_what_need_not_be_linked_anew_is_kept_byte_for_byte() -> None:
    odd = b'{ "uuid":"a",  "type":"user", "n": 1.50, "message":{"role":"user","content":"\\u00e9"}}'
    torn = b'{"type": "assis'
    data = file_of(odd, torn, b"", answer("b", "Ho", parent="a"), noise("p", "b"))
    assert without_program_entries(data) == file_of(odd, torn, b"", answer("b", "Ho", parent="a"))
    assert without_program_entries(without_program_entries(data)) == without_program_entries(data)


@given(MESSAGES)
@pytest.mark.seed(80)
def test_a_file_without_noise_is_its_own_stripped_form(messages: list[Message]) -> None:
    data = transcript_of(messages)
    assert without_program_entries(data) == data


@pytest.mark.seed(81)
def test_the_message_on_which_a_compaction_ended_is_told_once(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    store.seed("main", TALK)
    transcript = archived(tmp_path, store)
    transcript._rows = transcript.load()
    transcript.compact(user("Summary"), keep=1)
    transcript.append(user("Thanks."))
    assert [m.text for m in transcript.messages] == ["Summary", "In May.", "Thanks."]
    assert [row.message for row in transcript._chain.rows()] == list(transcript.messages)


@given(MESSAGES, MESSAGES)
@pytest.mark.seed(86)
def test_every_parent_is_the_name_before_also_after_a_replacement(
    before: list[Message], after: list[Message]
) -> None:
    chain = Chain()
    loaded = chain.replace(transcript_of(before))
    for message in after:
        chain.append(message)
    chain.summarise(user("Summary"), keep=2)
    chain.append(user("More"))
    assert loaded == bool(before)
    links = parents(chain.export())
    assert [parent for _, parent in links] == ["", *(name for name, _ in links[:-1])]
    assert len({name for name, _ in links}) == len(links)


@pytest.mark.seed(86, kind="mutant")
def test_a_chain_that_breaks_after_a_load_is_caught() -> None:
    assert_caught("archive_chain_begins_anew")


@pytest.mark.seed(87)
def test_entries_of_one_answer_share_an_id_and_the_next_answer_has_another() -> None:
    rows = [user("a"), assistant("b"), assistant("c"), user("d"), assistant("e"), assistant("f")]
    ids = [line["message"].get("id") for line in lines_of(transcript_of(rows))]
    assert ids[0] is None
    assert ids[3] is None
    assert ids[1] == ids[2] != ids[4] == ids[5]
    chain = Chain()
    chain.replace(transcript_of(rows))
    chain.append(assistant("g"))
    assert lines_of(chain.export())[-1]["message"]["id"] == ids[5]


@given(MESSAGES)
@pytest.mark.seed(92)
def test_messages_come_back_as_they_went(messages: list[Message]) -> None:
    assert messages_of(transcript_of(messages)) == messages


@pytest.mark.seed(92)
def test_size_nul_and_rows_of_one_role_come_back() -> None:
    rows = [
        user("\x00" * 1000),
        user('"' * 100_000),
        assistant("\u2028"),
        assistant("\u0386\U0001f600"),
    ]
    assert messages_of(transcript_of(rows)) == rows
    assert messages_of(transcript_of([user("half \ud83d")])) == [user("half \ufffd")]


@pytest.mark.seed(92)
def test_the_reader_of_recordings_reads_what_is_exported() -> None:
    [read] = claude_code(transcript_of(TALK).splitlines(keepends=True)).transcripts
    assert read.messages == TALK


@pytest.mark.seed(92, 93, kind="mutant")
def test_lines_that_end_inside_a_text_are_caught() -> None:
    assert_caught("archive_splits_at_u2028")


_BAD = [b'{"type": "user", "mess', b"\x00\x00", b"[1]", b"null", b"\xff\xfe{}", b"[" * 20_000]


@pytest.mark.seed(93)
@pytest.mark.parametrize("bad", _BAD, ids=["torn", "nul", "list", "null", "bytes", "deep"])
def test_malformed_lines_are_skipped_when_read_and_refused_when_checked(bad: bytes) -> None:
    good = file_of(said("a", "Hi"), answer("b", "Ho", parent="a"))
    data = good.replace(b"\n", b"\n" + bad + b"\n", 1)
    assert messages_of(data) == messages_of(good) == [user("Hi"), assistant("Ho")]
    assert problem(data) == "line 2 is not a JSON object"


@pytest.mark.seed(93)
def test_blank_lines_do_no_harm_and_entries_without_a_role_say_nothing() -> None:
    rootless = {"type": "user", "uuid": "x", "parentUuid": "b", "message": {"content": "?"}}
    good = file_of(said("a", "Hi"), b"", b"  ", answer("b", "Ho", parent="a"), rootless)
    assert problem(good) == ""
    assert messages_of(good) == [user("Hi"), assistant("Ho")]
    assert problem(b"") == problem(file_of(said("a", "Hi"))) == "no entry is of the assistant"


_IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "A" * 99},
}


@pytest.mark.seed(94)
@pytest.mark.parametrize(
    "content", [None, [], [_IMAGE], [{"type": "text", "text": "ok"}, _IMAGE], 7]
)
def test_any_content_of_a_result_is_read_and_no_image_is_told(content: object) -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": content}
    call = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
    line = said("b", "", "a") | {"message": {"role": "user", "content": [result]}}
    data = file_of(
        said("0", "Look"), answer("a", call, parent="0"), line, answer("c", "Seen", parent="b")
    )
    messages = messages_of(data)
    [read] = messages[2].tool_results
    assert isinstance(read, ToolResult)
    assert "AAA" not in read.text
    asked: list[Query] = []
    compact([*messages, user("And?")], 10_000, lambda query: _summary(query, asked))
    told = asked[0].messages[0].text
    assert "AAA" not in told
    assert "[tool_use" not in told
    assert "called look" in told


def _summary(query: Query, asked: list[Query]) -> ModelAnswer:
    asked.append(query)
    return ModelAnswer(Message("assistant", (Text("Short."),)), "end_turn")


@pytest.mark.seed(94, kind="mutant")
def test_placeholders_that_stand_for_calls_are_caught() -> None:
    assert_caught("archive_writes_placeholders")


@pytest.mark.seed(86)
def test_an_abandoned_branch_is_not_told_and_results_of_parallel_calls_are() -> None:
    def call(id: str) -> dict[str, object]:
        return {"type": "tool_use", "id": id, "name": "look", "input": {}}

    def result(uuid: str, id: str, parent: str) -> dict[str, object]:
        blocks = [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]
        return said(uuid, "", parent) | {"message": {"role": "user", "content": blocks}}

    data = file_of(
        said("a", "Hi"),
        answer("old", "Forget me", parent="a", id="msg_0"),
        answer("b", call("1"), parent="a"),
        result("r", "1", "b"),
        answer("c", call("2"), parent="b"),
        result("s", "2", "c"),
        answer("d", "Seen", parent="s", id="msg_2"),
    )
    messages = messages_of(data)
    assert "Forget me" not in [m.text for m in messages]
    assert [r.id for m in messages for r in m.tool_results] == ["1", "2"]
    assert len(read_entries(data)) == 7
    assert len(messages) == 6
