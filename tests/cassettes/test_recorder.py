"""What a recorder writes is VCR's YAML: it reads back as it was, and vcrpy reads it."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from vcr.serialize import deserialize  # type: ignore[import-untyped]
from vcr.serializers import yamlserializer  # type: ignore[import-untyped]

from harness.cassettes.cassette_file import parse_cassette
from harness.cassettes.recorder import vcr_file
from harness.recordings.http_interaction import BASE64, Interaction
from tests.cassettes.interactions import interactions
from tests.cassettes.recorded import URI

TIMING = {"loop-harness": {"exchanges": [{"exchange": 1, "at_ms": 0, "pieces": "5@1"}]}}


@given(st.lists(interactions, max_size=3))
def test_what_is_written_reads_back(made: list[Interaction]) -> None:
    plain = [msgspec.structs.replace(one, more={}) for one in made]
    found = parse_cassette(vcr_file(plain, TIMING))
    assert list(found.interactions) == plain
    assert found.metadata == TIMING


def test_vcrpy_reads_what_is_written() -> None:
    bodies = (b"hello", b"\xff", "grüße".encode(), BASE64.encode() + b"eA==")
    made = [Interaction(method="POST", uri=URI, status=200, response_body=b) for b in bodies]
    requests, responses, metadata = deserialize(vcr_file(made, TIMING).decode(), yamlserializer)
    assert [request.uri for request in requests] == [URI] * 4
    assert [response["body"]["string"] for response in responses] == list(bodies)
    assert metadata == TIMING


def test_half_a_surrogate_pair_becomes_its_escape() -> None:
    odd = {"x-request-id": ["\ud800"]}
    one = Interaction(method="POST", uri="u", status=200, response_headers=odd)
    assert b"\\ud800" in vcr_file([one])
