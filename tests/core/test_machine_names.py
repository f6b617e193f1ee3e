"""Names of this machine: which URLs hold a token of ours."""

from __future__ import annotations

import pytest

from harness.core.values.machine_names import without_token
from harness.transports.access_check import new_token


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8000", "http://[::1]:1", "HTTP://Localhost"])
@pytest.mark.parametrize("rest", ["", "/", "/v1/messages", "/v1/models/%2F?a=b#c", "?a", "#a"])
def test_the_token_of_a_server_is_taken_out(origin: str, rest: str) -> None:
    assert without_token(f"{origin}/{new_token()}{rest}") == origin + rest


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/v1/messages", "http://127.0.0.1:8000/v1/TOKEN/messages",
        "http://127.0.0.1:8000/TOKEN0/messages", "http://127.0.0.1:8000/?TOKEN",
        "https://api.anthropic.com/TOKEN/v1/messages", "/TOKEN/v1/messages", "http://[::1/TOKEN",
        "http://127.0.0.1.example.com/TOKEN/v1", "",
    ],
)  # fmt: skip
def test_any_other_url_stays(url: str) -> None:
    given = url.replace("TOKEN", new_token())
    assert without_token(given) == given
