"""Where the APIs are: addresses from the environment or given, and the paths under them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.core.values.errors import InputError
from harness.transports.upstream import ProviderAccess, provider_access
from tests.transports.recording import HELLO, post, proxy
from tests.transports.upstreams import upstream, whole


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/api/v1/", "/api/v1/chat/completions"),
        ("/gateway", "/gateway/v1/chat/completions"),
    ],
)
def test_a_base_may_end_with_the_version(base: str, path: str) -> None:
    heard: list[bytes] = []
    with upstream(whole(HELLO), heard=heard) as url, proxy(url + base) as (server, _):
        post(server, "/s/agent-2/v1/chat/completions")
    assert heard[0].startswith(f"POST {path}\r\n".encode())


def test_providers_come_from_the_environment() -> None:
    found = provider_access({"OPENAI_BASE_URL": "https://x.example/v1", "ANTHROPIC_API_KEY": "k"})
    assert found["anthropic"] == ProviderAccess("https://api.anthropic.com", "k")
    assert found["openai"] == ProviderAccess("https://x.example/v1", "")
    both = provider_access({"OPENAI_BASE_URL": "https://x.example"}, "http://127.0.0.1:1")
    assert {p.url for p in both.values()} == {"http://127.0.0.1:1"}


@pytest.mark.parametrize("make", [lambda: provider_access({}, "api.x.com"),
                                  lambda: provider_access({"OPENAI_BASE_URL": "x"})])  # fmt: skip
def test_what_is_no_url_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InputError, match="no URL of an API"):
        make()
