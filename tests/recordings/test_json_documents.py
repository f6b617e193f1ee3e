"""The value of a document is shared by those who ask for it, and kept no longer than its file."""

from __future__ import annotations

import pytest

from harness.core.values.errors import InputError
from harness.recordings import json_documents
from harness.recordings.recognition import read

_CHAT = b'[{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]'


def test_recognisers_and_the_reader_share_one_value() -> None:
    data = b'{"a": [1]}'
    assert json_documents.load(data) is json_documents.peek(data, b'"a"')
    json_documents.forget()


def test_a_file_leaves_no_value_behind() -> None:
    before = json_documents.load(_CHAT)
    read(_CHAT, "chat.json")
    assert json_documents.load(_CHAT) is not before
    json_documents.forget()


@pytest.mark.parametrize("document", [b'{"a": ', b"[" * 100_000, b'{"a": "\xff"}'])
def test_a_document_that_is_no_json_is_refused_each_time(document: bytes) -> None:
    for _ in range(2):
        with pytest.raises(InputError):
            json_documents.load(document)
