"""Redaction of texts, headers and URLs: no secret of a known shape is left."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.redaction.masking import MASK, kept_headers, mask, mask_url, mask_value
from harness.redaction.secret_patterns import spans
from harness.transports.access_check import new_token
from tests.redaction.secrets import PLAIN, SECRETS, TEXTS, TOKENS

_json = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(PLAIN, SECRETS, PLAIN)
def test_no_secret_is_left_in_a_text(before: str, secret: str, after: str) -> None:
    masked = mask(f"{before} {secret} {after}")
    assert secret not in masked
    assert MASK in masked


@given(st.lists(SECRETS | TEXTS, max_size=6).map("".join))
def test_masking_twice_is_masking_once(text: str) -> None:
    masked = mask(text)
    assert mask(masked) == masked
    assert spans(masked) == []


@given(PLAIN, TOKENS)
def test_a_bearer_token_of_no_known_shape_is_masked(before: str, token: str) -> None:
    opaque = "q" + token.translate({ord(c): None for c in "-_."})[-24:]
    masked = mask(f"{before} Authorization: Bearer {opaque}")
    assert opaque not in masked
    assert masked.endswith(f"Bearer {MASK}")


@given(_json, SECRETS)
def test_values_are_masked_wherever_they_stand(value: Any, secret: str) -> None:
    masked = mask_value({"a": [value, {"b": secret}], f"{secret}": [[secret]]})
    assert secret not in repr(masked)
    assert masked["a"][1] == {"b": MASK}
    assert mask_value(masked) == masked


@pytest.mark.parametrize("depth", [50, 400, 900])
def test_an_object_that_nests_too_deep_stays_an_object(depth: int) -> None:
    deep: Any = "sk-" + "0" * 32
    for _ in range(depth):
        deep = {"a": deep}
    masked = mask_value({"said": [deep], "token": "e3b0c44298fc1c149afbf4c8996fb924", "b": 1})
    assert masked["said"][0]["a"]["a"]
    assert masked | {"said": []} == {"said": [], "token": MASK, "b": 1}
    assert "sk-" not in str(masked)


def test_a_value_that_holds_itself_twice_is_masked() -> None:
    value: list[Any] = []
    value += [value, value]
    assert mask_value({"a": value}) == {"a": [MASK, MASK]}


def test_the_token_of_our_server_is_not_in_a_url() -> None:
    token = new_token()
    assert mask_url(f"http://127.0.0.1:80/{token}/v1?a=b") == "http://127.0.0.1:80/v1?a=b"
    assert token not in mask_url(f"https://example.com/{token}/v1")


@pytest.mark.parametrize(
    "text",
    [
        "task-oriented-programming-languages-are-fun",
        "risk-management-and-other-long-words",
        "The bearer of this letter",
        "toolu_01tb2zQPNEpNmVBkJemJqeic",
        "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
        "sk-short",
        "req_01f5y7WM8Au9TGcrgNdcN8VY",
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert mask(text) == text


def test_a_key_block_ends_at_its_end() -> None:
    block = "-----BEGIN PRIVATE KEY-----\nMIIabc=\n-----END PRIVATE KEY-----"
    assert mask(f"before {block} after it") == f"before {MASK} after it"


def test_an_unfinished_key_block_is_masked_to_where_it_could_go_on() -> None:
    assert mask('"-----BEGIN RSA PRIVATE KEY-----\\nMIIabc" tail') == f'"{MASK}" tail'


@given(st.dictionaries(TEXTS, SECRETS | TEXTS), SECRETS)
def test_headers_are_kept_by_name_and_masked(others: dict[str, str], secret: str) -> None:
    kept = kept_headers(
        {
            **others,
            "Authorization": f"Bearer {secret}",
            "X-Api-Key": secret,
            "Cookie": secret,
            "Request-Id": secret,
            "Anthropic-RateLimit-Requests-Remaining": "7",
            "Retry-After": "3",
        }
    )
    assert secret not in repr(kept)
    assert not {"authorization", "x-api-key", "cookie"} & kept.keys()
    assert kept["anthropic-ratelimit-requests-remaining"] == "7"
    assert kept["retry-after"] == "3"
    assert kept_headers(kept) == kept


@pytest.mark.parametrize("place", ["user", "path", "query", "name", "fragment", "escaped"])
@given(secret=TOKENS)
def test_no_secret_is_left_in_a_url(place: str, secret: str) -> None:
    escaped = "".join(f"%{ord(c):02X}" for c in secret)
    url = {
        "user": f"https://me:{secret}@api.example.com/v1/messages",
        "path": f"https://api.example.com/{secret}/v1/messages",
        "query": f"https://api.example.com/v1/messages?beta=true&q={secret}",
        "name": f"https://api.example.com/v1/messages?{secret}=1",
        "fragment": f"https://api.example.com/v1/messages#{secret}",
        "escaped": f"https://api.example.com/{escaped}/v1/messages?x={escaped}",
    }[place]
    masked = mask_url(url)
    assert secret not in unquote(masked)
    assert urlsplit(masked).hostname == "api.example.com"
    assert urlsplit(masked).path.endswith("/v1/messages")
    assert mask_url(masked) == masked


@pytest.mark.parametrize("name", ["key", "api_key", "access_token", "sig", "X-Amz-Signature"])
@given(value=st.text(min_size=1, max_size=20).filter(lambda t: t.isprintable()))
def test_values_of_query_keys_are_masked_whatever_they_are(name: str, value: str) -> None:
    url = f"https://api.example.com/v1/messages?{name}={quote(value, safe='')}&beta=true"
    assert dict(parse_qsl(urlsplit(mask_url(url)).query)) == {name: "REDACTED", "beta": "true"}


def test_a_url_that_cannot_be_taken_apart_is_masked_whole() -> None:
    assert mask_url("https://user:pass@[x/v1/messages") == "REDACTED"


def test_a_url_without_keys_stays() -> None:
    url = "https://api.anthropic.com/v1/messages?beta=true&x=%C3%A9"
    assert mask_url(url) == url


@pytest.mark.parametrize("end", ["", ".", "…", "...", "…,", " …"])
def test_a_whole_secret_before_the_mark_of_a_cut_is_masked(end: str) -> None:
    assert mask(f"VENDOR_KEY=e3b0c44298fc1c149afbf4c8996fb924{end}").startswith(
        f"VENDOR_KEY={MASK}"
    )
