from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.cassettes.cassette_file import calls, parse_cassette, passed_over
from harness.cassettes.recorder import excerpt
from harness.recordings.http_interaction import Cassette, Interaction, address_of
from tests.cassettes.recorded import cassette, interaction


@given(st.text(max_size=30))
@example("https://[x/v1/messages")
def test_any_text_has_an_address(url: str) -> None:
    assert isinstance(address_of(url).path, str)


def test_an_entry_without_a_url_is_passed_over() -> None:
    odd = Interaction(method="POST", uri="https://[x/v1/messages", status=200)
    ((number, why),) = passed_over(Cassette([odd]))
    assert number == 1
    assert "POST" in why.what


@pytest.mark.parametrize("uri", ["https[[[api.openai.com/v1/messages", "x[/v1/messages"])
def test_an_excerpt_keeps_the_path_behind_the_host(uri: str) -> None:
    kept = excerpt(calls(parse_cassette(cassette(interaction(uri=uri)))))
    (one,) = parse_cassette(kept).interactions
    assert one.uri == f"https://api.anthropic.com/{uri}"
