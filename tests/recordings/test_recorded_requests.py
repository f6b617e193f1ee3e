"""A request that is read beside the last one says what it says when it is read alone."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.providers.shared.codec import Unreadable
from harness.providers.shared.json_fields import RecordedApi, RecordedRequest
from harness.recordings.apis import APIS
from harness.recordings.model_exchange import RecordedRequests

_TEXTS = st.sampled_from(["", "a", "ä\U0001f600", "\ud83d", 'a "quoted" \\ text'])
_BLOCKS = st.lists(
    st.one_of(
        st.builds(lambda text: {"type": "text", "text": text}, _TEXTS),
        st.just({"type": "tool_use", "id": "t1", "name": "read", "input": {"n": 1}}),
        st.just({"type": "tool_use", "id": "t1", "name": " "}),
        st.just({"type": "tool_result", "tool_use_id": "t1", "content": "found"}),
        st.just({"toolUse": {"toolUseId": "t1", "name": "read", "input": {}}}),
    ),
    max_size=2,
)
_ENTRIES = st.one_of(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["user", "assistant", "system", "tool"]),
        st.one_of(_TEXTS, _BLOCKS),
    ),
    st.just({"role": "assistant", "parts": [{"type": "step-start"}, {"type": "text"}]}),
    st.just({"role": "tool", "tool_call_id": "t1", "content": "x"}),
    st.sampled_from(["a", None, {}]),
)
_FRAMES = st.fixed_dictionaries(
    {"model": st.sampled_from(["m", "n"])},
    optional={
        "max_tokens": st.just(9),
        "system": _TEXTS,
        "tools": st.just([{"name": "read", "function": {"name": "read"}}]),
        "stream": st.booleans(),
    },
)
_WRITTEN = st.sampled_from([(",", ":"), (", ", ": ")])


@st.composite
def _bodies(draw: st.DrawFn) -> list[bytes]:
    """The bodies of a loop that continues, restarts, or changes its earlier messages."""
    entries: list[Any] = []
    bodies = [b"no JSON", b'["a list"]', b'{"messages":"no list"}'][: draw(st.integers(0, 3))]
    frame = draw(_FRAMES)
    for _ in range(draw(st.integers(1, 5))):
        entries = [*entries[: draw(st.integers(0, len(entries)))], *draw(st.lists(_ENTRIES))]
        frame = draw(st.one_of(st.just(frame), _FRAMES))
        fields = draw(st.permutations([*frame.items(), ("messages", entries)]))
        text = json.dumps(dict(fields), separators=draw(_WRITTEN), ensure_ascii=draw(st.booleans()))
        bodies.append(text.encode("utf-8", "surrogatepass"))
    return bodies


def _read(requests: RecordedRequests, api: RecordedApi, body: bytes) -> RecordedRequest | str:
    try:
        return requests.read(api, body)
    except Unreadable as error:
        return str(error)


@pytest.mark.parametrize("name", [api.name for api in APIS.values() if api.field == "messages"])
@given(_bodies())
def test_what_is_remembered_of_the_last_request_changes_nothing(
    name: str, bodies: list[bytes]
) -> None:
    api, kept = APIS[name], RecordedRequests()
    whole = msgspec.structs.replace(api, apart=False)
    for body in bodies:
        assert _read(kept, api, body) == _read(RecordedRequests(), whole, body)


def test_what_stood_in_the_last_request_is_the_same_object() -> None:
    requests, api = RecordedRequests(), APIS["anthropic"]
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    first = requests.read(api, msgspec.json.encode({"model": "m", "messages": said[:1]}))
    second = requests.read(api, msgspec.json.encode({"model": "m", "messages": said}))
    assert second.messages[0] is first.messages[0]
