"""The last look: what masking does not know, seen with other eyes, named and never shown."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.errors import InputError
from harness.redaction.masking import mask, mask_body
from harness.redaction.secret_scan import digest, refuse, secrets_of, suspects
from tests.redaction.secrets import PLAIN, SECRETS, TEXTS, TOKENS

KEY = "sk-ant-api03-" + "a1B2" * 8
DRAWN = "Xk29fLq8ZtR4vWc7Yb1N"


def _kinds(text: str, *known: str) -> set[str]:
    return {suspect.kind for suspect in suspects([(1, "body", text)], known)}


@given(PLAIN, SECRETS, PLAIN)
def test_a_secret_is_seen_and_a_masked_one_is_not(before: str, secret: str, after: str) -> None:
    text = f"{before} {secret} {after}"
    assert _kinds(text)
    assert _kinds(mask(text)) == set()


@given(
    st.recursive(TEXTS | TOKENS, lambda x: st.lists(x, max_size=3), max_leaves=5), st.integers(0, 3)
)
def test_what_was_masked_as_a_body_passes(value: object, depth: int) -> None:
    for _ in range(depth):
        value = {"text": json.dumps(value)}
    assert _kinds(mask_body(json.dumps(value).encode()).decode()) == set()


@pytest.mark.parametrize(
    "text",
    [
        f'{{"a": "{KEY}"}}',
        json.dumps(json.dumps({"a": KEY})).replace("-", "\\u002d"),
        json.dumps(json.dumps({"a": KEY}).replace("-", "\\u002d")),
        f"?next={quote(f'https://me:{DRAWN}@x.com', safe='')}",
        base64.b64encode(f"it is {KEY}".encode()).decode(),
        base64.urlsafe_b64encode(f"???{KEY}".encode()).decode(),
        "".join(f'data: {{"parts": [{{"words": "{KEY[n : n + 3]}"}}]}}\n' for n in range(0, 45, 3)),
        f"client_token = {DRAWN}",
        f'{{\\"x-goog-credential-value\\": \\"{DRAWN}\\"}}',
    ],
)
def test_every_way_of_writing_is_read(text: str) -> None:
    assert _kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"max_tokens": 4096, "token_count": 12345678901234567890}',
        "tool_use_id=toolu_01tb2zQPNEpNmVBkJemJqeic",
        "cache_key: 7f9c24e8-3a1d-4b8e-9f00-aa12bb34cc56",
        "secret: the-butler-did-it-in-the-library",
        f"it is {DRAWN}, says the log",
        '{"signature": "Xk29fLq8ZtR4vWc7Yb1NXk29fLq8ZtR4vWc7Yb1N"}',
    ],
)
def test_what_is_none_passes(text: str) -> None:
    assert _kinds(text) == set()


def test_keys_of_the_environment_are_found_wherever_they_stand() -> None:
    key = "correct horse"
    assert _kinds(f"so {key} it is", key) == {"a key of this process's environment"}
    wrapped = base64.b64encode(f"so {key} it is now".encode()).decode()
    assert _kinds(wrapped, key) == {"a key of this process's environment"}
    assert _kinds("so it is", key) == set()
    assert _kinds("short", "short") == set(), "too short to be a key"


def test_names_say_what_is_secret_in_an_environment() -> None:
    environment = {
        "ANTHROPIC_API_KEY": "value-of-one",
        "GH_TOKEN": "value-of-two",
        "DB_PASSWORD": "value-of-three",
        "SSH_KEY": "/home/me/.ssh/id",
        "KEYBOARD": "value-of-four",
        "MY_KEY": "short",
        "PATH": "/usr/bin:/bin",
    }
    assert secrets_of(environment) == {"value-of-one", "value-of-two", "value-of-three"}


def test_the_error_names_the_place_and_not_the_secret() -> None:
    found = list(suspects([(3, "answer's body", f"key: {KEY}")]))
    with pytest.raises(InputError) as error:
        refuse(found, (), "x.yaml")
    first, place, *others = error.value.lines()
    assert "x.yaml: not written" in first
    assert place == f"exchange 3, answer's body: Anthropic (digest {digest(KEY)})"
    assert "--allow DIGEST" in others[-1]
    assert KEY[:12] not in "".join(error.value.lines())


def test_a_false_alarm_is_allowed_by_its_digest() -> None:
    found = list(suspects([(1, "URL", KEY), (2, "URL", KEY)]))
    refuse(found, [digest(KEY)], "x.yaml")
    with pytest.raises(InputError) as error:
        refuse(suspects([(n, "URL", KEY) for n in range(8)]), ["000000000000"], "x.yaml")
    assert "and 3 more" in error.value.lines()
