"""Any JSON in place of a recorded request or answer: nothing raises."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import providers
from harness.core.values.messages import side
from harness.providers.shared.codec import Unreadable
from harness.providers.shared.json_fields import RecordedApi, RecordedRequest
from harness.recordings import apis
from harness.recordings.apis import APIS, answer
from harness.recordings.transcript_counts import counts
from harness.recordings.transcripts import Transcript, encodable
from tests.recordings.cassettes import sse

_SOURCES = [
    *Path(apis.__file__).parent.glob("*.py"),
    *Path(providers.__file__).parent.glob("*/*.py"),
]
_WORDS = sorted(
    {
        word
        for path in _SOURCES
        for word in re.findall(r'"([A-Za-z_.]{2,40})"', path.read_text("utf-8"))
    }
    | {"index", "content_block", "message", "usage", "citations", "citations_delta", "citation"}
    | {"message_start", "content_block_start", "content_block_delta", "message_delta"}
)
"""The names that the readers look for, so that what is drawn reaches all of their code."""

_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 2), st.text(max_size=2), st.sampled_from(_WORDS)
)
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(_WORDS), inner, max_size=5),
    ),
    max_leaves=12,
)
_LISTS = {"messages", "contents", "input"}


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
@given(items=st.lists(_JSON, max_size=3), rest=st.dictionaries(st.sampled_from(_WORDS), _JSON))
def test_any_request_is_read(api: RecordedApi, items: list[Any], rest: dict[str, Any]) -> None:
    asked = api.request(rest | dict.fromkeys(_LISTS, items))
    assert isinstance(asked, RecordedRequest)
    messages = tuple(map(encodable, asked.messages))
    found = counts(Transcript(name="t", messages=messages, tools=asked.tools))
    assert found["messages"] == sum(side(message) != "system" for message in messages)
    assert all(isinstance(message.role, str) for message in messages)


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
@given(values=st.lists(_JSON, max_size=3), kind=st.sampled_from(["json", "event-stream", "x"]))
def test_any_answer_is_read(api: RecordedApi, values: list[Any], kind: str) -> None:
    events = [value if isinstance(value, dict) else {"type": "message_start"} for value in values]
    body = sse(*events, names=False) if kind == "event-stream" else json.dumps(values[:1]).encode()
    parsed = answer(api, body, kind)
    assert parsed.message is None or isinstance(parsed.message.blocks, tuple)
    assert parsed.error is None or isinstance(parsed.error.message, str)


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
@given(value=st.dictionaries(st.sampled_from(_WORDS), _JSON), data=st.binary())
def test_any_object_and_any_bytes_are_read(api: RecordedApi, value: Any, data: bytes) -> None:
    assert answer(api, json.dumps(value).encode(), "application/json") is not None
    try:
        parsed = answer(api, data, "application/vnd.amazon.eventstream")
    except Unreadable:
        return
    assert parsed.stop is None or isinstance(parsed.stop, str)
