"""A foreign agent's file of messages."""

from __future__ import annotations

from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import Message, assistant, user
from harness.stores.store_readers import MessageLines


def _written(path: Path, *messages: Message) -> MessageLines:
    path.write_bytes(b"".join(msgspec.json.encode(m) + b"\n" for m in messages))
    return MessageLines(path)


def test_a_file_that_is_not_there_yet_has_no_rows(tmp_path: Path) -> None:
    assert MessageLines(tmp_path / "session.jsonl").read() == []


@given(texts=st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1)))
def test_rows_come_back_in_order(tmp_path_factory: object, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("rows") / "session.jsonl"  # type: ignore[attr-defined]
    messages = [user(text) for text in texts]
    rows = _written(path, *messages).read()
    assert [message for _, message in rows] == messages
    assert [row.id for row, _ in rows] == [str(n) for n in range(1, len(texts) + 1)]


def test_the_inbound_id_is_kept_and_a_torn_tail_is_not(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    _written(path, assistant("hello"))
    whole = b'{"role":"user","blocks":[{"type":"text","text":"a\xe2\x80\xa8b"}],"id":"m1"}\n'
    path.write_bytes(path.read_bytes() + whole + b'{"role":"assistant","bl')
    (first, _), (second, message) = MessageLines(path).read()
    assert (first.inbound, second.inbound) == ("", "m1")
    assert message.text == "a\u2028b"
