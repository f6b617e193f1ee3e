"""Statements 88 to 90 and 97: thinking that has gone stale, and texts cut in the middle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.conversation.history_size import BYTES_PER_TOKEN, clip, clip_bytes
from harness.agent.conversation.projection import project
from harness.agent.sessions.jsonl_conversation import (
    messages_of,
    read_entries,
    without_stale_thinking,
)
from harness.core.values.messages import Message, Thinking
from tests.seeds.transcript_lines import Line, answer, file_of, lines_of, said

THINK = {"type": "thinking", "thinking": "Hm", "signature": "signed"}
HIDDEN = {"type": "redacted_thinking", "data": "x"}


def _talk(*ids: str) -> bytes:
    """An answer of one entry for each id, with a question before the first of each."""
    lines: list[Line] = []
    for n, id in enumerate(ids):
        parent = lines[-1]["uuid"] if lines else ""
        if not n or id != ids[n - 1]:
            lines.append(said(f"u{n}", "And?", parent))
            parent = f"u{n}"
        lines.append(answer(f"a{n}", THINK, HIDDEN, f"Answer {n}", parent=parent, id=id))
    return file_of(*lines)


def _kept(data: bytes) -> list[int]:
    """How many thinking blocks each entry of the assistant has."""
    blocks = [e.message.blocks for e in read_entries(data) if e.is_assistant and e.message]
    return [sum(isinstance(b, Thinking) for b in found) for found in blocks]


@pytest.mark.seed(88)
def test_all_entries_of_the_last_answer_keep_their_thinking_and_older_ones_lose_it() -> None:
    data = without_stale_thinking(_talk("m1", "m2", "m2", "m3", "m3", "m3"))
    assert _kept(data) == [0, 0, 0, 2, 2, 2]
    assert without_stale_thinking(data) == data


def _by_position(data: bytes) -> list[int]:
    """The wrong way: only the very last entry counts as the last answer."""
    kept = _kept(data)
    return [0] * (len(kept) - 1) + kept[-1:]


@pytest.mark.seed(88, kind="mutant")
def test_the_last_entry_alone_is_not_the_last_answer() -> None:
    data = _talk("m1", "m2", "m2")
    assert _by_position(data) != _kept(without_stale_thinking(data)) == [0, 2, 2]
    assert _kept(data) == [2, 2, 2]


@given(st.lists(st.sampled_from(["m1", "m2", "m3"]), min_size=1, max_size=8))
@pytest.mark.seed(88)
def test_only_the_last_id_keeps_anything(ids: list[str]) -> None:
    assert _kept(without_stale_thinking(_talk(*ids))) == [2 * (id == ids[-1]) for id in ids]


@pytest.mark.seed(89)
def test_without_ids_only_the_last_entry_keeps_it() -> None:
    assert _kept(without_stale_thinking(_talk("", "", ""))) == [0, 0, 2]


@pytest.mark.seed(89)
def test_without_an_assistant_nothing_is_changed() -> None:
    for data in (b"", b"{torn\n", file_of(said("a", "Hi"), said("b", "Hello?", "a"))):
        assert without_stale_thinking(data) == data
    odd = {"type": "assistant", "uuid": "a", "message": "not an object"}
    assert without_stale_thinking(file_of(odd, odd)) == file_of(odd, odd)


@pytest.mark.seed(90)
def test_an_entry_that_only_thought_does_not_reach_the_wire_empty() -> None:
    data = without_stale_thinking(
        file_of(
            said("a", "Hi"),
            answer("b", THINK, parent="a"),
            said("c", "Hello?", "b"),
            answer("d", "Here.", parent="c", id="msg_2"),
            said("e", "Good.", "d"),
        )
    )
    assert lines_of(data)[1]["message"]["content"] == []
    messages = messages_of(data)
    assert messages[1] == Message("assistant", ())
    wire = project(messages)
    assert all(message.blocks for message in wire)
    assert [m.role for m in wire] == ["user", "assistant", "user"]
    assert [b.text for b in wire[0].blocks] == ["Hi", "Hello?"]  # type: ignore[union-attr]


@given(st.text(max_size=200), st.integers(0, 60))
@pytest.mark.seed(97)
def test_a_text_cut_in_the_middle_is_never_longer_than_its_limit(text: str, most: int) -> None:
    cut = clip(text, most)
    assert len(cut) <= most
    assert cut == text if len(text) <= most else len(cut) == most
    assert clip(cut, most) == cut


def _upstream(text: str, most: int) -> str:
    """The wrong way: a note and at least a character at each end, for any limit."""
    half = max(most // 2, 1)
    return text if len(text) <= most else f"{text[:half]} ... {text[-half:]}"


@pytest.mark.seed(97, kind="mutant")
@pytest.mark.parametrize("tokens", [0, 1, 2, 3])
def test_limits_of_a_few_tokens_hold(tokens: int) -> None:
    for text in ("abcdefghij" * 20, "日本語の文" * 20, "😀" * 40, "\ud83d" * 40, "a😀" * 40):
        most = tokens * BYTES_PER_TOKEN
        cut = clip_bytes(text, most)
        assert len(cut.encode("utf-8", "surrogatepass")) <= most
        assert len(_upstream(text, most).encode("utf-8", "surrogatepass")) > most
        assert clip_bytes(text, 0) == ""


@given(st.text(max_size=300), st.integers(-3, 400))
@pytest.mark.seed(97)
def test_a_text_cut_to_a_number_of_bytes_never_has_more(text: str, most: int) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    cut = clip_bytes(text, most)
    assert len(cut.encode("utf-8", "surrogatepass")) <= max(most, 0)
    assert (cut == text) == (size <= max(most, 0))
    assert not text.isascii() or cut == clip(text, most)


@pytest.mark.seed(97)
def test_beginning_and_end_stay() -> None:
    cut = clip("beginning " + "x" * 5_000 + " end", 200)
    assert len(cut) == 200
    assert cut.startswith("beginning ")
    assert cut.endswith(" end")
    assert "characters and more left out" in cut
