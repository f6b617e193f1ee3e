"""Interactions as Hypothesis draws them: any bytes, and the bodies that calls to a model have."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from harness.recordings.http_interaction import Cassette, Interaction

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_name = st.text("abcxyz-", min_size=1, max_size=8)
_headers = st.dictionaries(_name, st.lists(_text, min_size=1, max_size=2), max_size=3)
_floats = st.floats(allow_nan=False, allow_infinity=False)
_value = st.recursive(
    st.none() | st.booleans() | st.integers() | _floats | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=6,
)
_message = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": _text})


@st.composite
def request_bodies(draw: st.DrawFn) -> bytes:
    """A request as clients write it: messages among other fields, in any style of JSON."""
    body: dict[str, Any] = draw(st.dictionaries(_text, _value, max_size=3))
    body[draw(st.sampled_from(["messages", "input", "contents"]))] = draw(
        st.lists(_message, max_size=4)
    )
    style: dict[str, Any] = draw(
        st.sampled_from(
            [{}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"indent": 1}],
        )
    )
    return json.dumps(body, **style).encode()


def _stream(events: list[str]) -> bytes:
    return "".join(f"event: x\ndata: {json.dumps(event)}\n\n" for event in events).encode()


bodies = st.one_of(
    st.binary(max_size=30),
    _text.map(str.encode),
    request_bodies(),
    st.lists(_text, min_size=1, max_size=3).map(_stream),
)

interactions = st.builds(
    Interaction,
    method=st.sampled_from(["POST", "GET"]),
    uri=st.just("https://api.anthropic.com/v1/messages?beta=true"),
    request_headers=_headers,
    request_body=bodies,
    status=st.integers(100, 599),
    reason=st.sampled_from(["OK", "", "Nobody Knows"]),
    response_headers=_headers,
    response_body=bodies,
    more=st.dictionaries(st.sampled_from(["recorded_at", "id"]), _text, max_size=2),
)

cassettes = st.builds(
    Cassette,
    interactions=st.lists(interactions, max_size=4),
    metadata=st.dictionaries(_name, _value, max_size=2),
)
