"""What an address says in place of the body, and how it gets there."""

from __future__ import annotations

import json

import pytest

from harness import providers
from harness.providers.shared.record import Address, with_fields

STREAM = Address("/models/{model}:stream", (("alt", "sse"),), {"stream": True})


@pytest.mark.parametrize(
    ("path", "query", "fields"),
    [
        ("/v9/models/g-1:stream", "alt=sse", {"model": "g-1", "stream": True}),
        ("/any/prefix/models/g-1:stream", "key=k&alt=sse", {"model": "g-1", "stream": True}),
        ("/v9/models/g-1:stream", "", None),
        ("/v9/models/g-1:stream", "alt=json", None),
        ("/v9/models/:stream", "alt=sse", None),
        ("/v9/models/a/b:stream", "alt=sse", None),
        ("/v9/models/g-1:stream/more", "alt=sse", None),
    ],
)
def test_an_address_says_the_segments_that_it_names(
    path: str, query: str, fields: dict[str, object] | None
) -> None:
    assert STREAM.fields(path, query) == fields


@pytest.mark.parametrize("body", [b"{}", b"{ }", b' {"a": 1} ', b'{"model": "other"}\n'])
def test_the_fields_of_an_address_win_over_the_body(body: bytes) -> None:
    assert json.loads(with_fields(body, {"model": "m"})) == {**json.loads(body), "model": "m"}


@pytest.mark.parametrize("body", [b"", b"[1]", b'"}"', b'{"a": [', b"null"])
def test_what_is_no_object_stays_as_it_came(body: bytes) -> None:
    assert with_fields(body, {"model": "m"}) == body


def test_a_body_that_is_torn_stays_torn() -> None:
    with pytest.raises(ValueError, match="delimiter"):
        json.loads(with_fields(b'{"a": [{"b": 1}', {"model": "m"}))


@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "openai-responses"])
def test_an_api_with_all_in_the_body_leaves_it_alone(name: str) -> None:
    provider, body = providers.by_name(name), b'{"model": "m"}'
    assert provider.complete_body(provider.paths()[0], "beta=true", body) is body
