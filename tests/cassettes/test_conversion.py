"""Conversions: what is written says the same, and is read by those whose format it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.cassette_file import load_cassette, parse_cassette, read_cassette
from harness.cassettes.conversion import FORMATS, convert, format_for, written
from harness.core.values.errors import InputError
from harness.recordings.http_interaction import Cassette, Interaction
from harness.redaction.masking import MASK
from harness.transports.access_check import new_token
from tests.cassettes.interactions import cassettes
from tests.cassettes.recorded import URI, cassette, interaction
from tests.cassettes.test_headline import FOLDER


@given(cassettes, st.permutations(sorted(FORMATS)))
def test_any_way_round_says_the_same(made: Cassette, formats: list[str]) -> None:
    found = made
    for name in (*formats, formats[0]):
        found = parse_cassette(written(found, name))
    assert list(found.interactions) == list(made.interactions)
    assert found.metadata == made.metadata


def test_vcrpy_reads_what_is_written_for_it() -> None:
    from vcr.serialize import deserialize  # type: ignore[import-untyped]
    from vcr.serializers import yamlserializer  # type: ignore[import-untyped]

    timing = {"loop-harness": {"exchanges": [{"exchange": 1, "at_ms": 0, "pieces": "5@1"}]}}
    made = Cassette(
        parse_cassette(cassette(interaction(), interaction(answer=b"\xff"))).interactions, timing
    )
    text = written(parse_cassette(written(made, "compact")), "vcr").decode()
    requests, responses, metadata = deserialize(text, yamlserializer)
    assert [request.uri for request in requests] == [URI, URI]
    assert responses[1]["body"]["string"] == b"\xff"
    assert metadata == timing


def test_cassetter_gets_json_as_yaml() -> None:
    data = written(parse_cassette(cassette(interaction(answer='{"a":[1,"x"]}'))), "cassetter")
    (item,) = yaml.safe_load(data)["interactions"]
    assert item["response"]["body"] == {"type": "json", "content": {"a": [1, "x"]}}
    assert item["response"]["status"] == 200
    assert item["request"]["body"]["type"] == "text", "its spaces would be lost"


def test_recordings_of_ours_are_smaller_and_the_same(tmp_path: Path) -> None:
    for path in sorted(FOLDER.glob("*.yaml")):
        small, back = tmp_path / f"{path.stem}.jsonl", tmp_path / path.name
        done = convert(path, small)
        assert (done.format, done.after_bytes < done.before_bytes) == ("compact", True)
        convert(small, back)
        assert list(load_cassette(back).interactions) == list(load_cassette(path).interactions)


@pytest.mark.parametrize(
    ("name", "to", "format"),
    [
        ("x.jsonl", "", "compact"),
        ("x.yaml", "", "vcr"),
        ("x.yml", "", "vcr"),
        ("x.yaml", "cassetter", "cassetter"),
        ("x", "compact", "compact"),
    ],
)
def test_the_format_is_said_or_told_by_the_name(name: str, to: str, format: str) -> None:
    assert format_for(Path(name), to) == format


@pytest.mark.parametrize(("name", "to"), [("x.json", ""), ("x", ""), ("x.yaml", "cassette")])
def test_a_format_that_nobody_knows_is_an_error(name: str, to: str) -> None:
    with pytest.raises(InputError, match=r"known|cassetter"):
        format_for(Path(name), to)


def test_a_file_that_is_there_stays_unless_forced(tmp_path: Path) -> None:
    source, target = tmp_path / "a.yaml", tmp_path / "b.jsonl"
    source.write_bytes(cassette(interaction()))
    target.write_text("precious")
    with pytest.raises(InputError, match="--force replaces it"):
        convert(source, target)
    assert target.read_text() == "precious"
    assert convert(source, target, force=True).interactions == 1


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_what_cannot_be_said_is_an_error(name: str) -> None:
    odd = Interaction(method="POST", uri="u", status=200, more={"request": {"uri": "other"}})
    with pytest.raises(InputError, match="cannot say") as refused:
        written(Cassette([odd], {"a": float("inf")} if name == "compact" else {}), name)
    assert refused.value.place in ("metadata", "interaction 1")


@pytest.mark.parametrize("name", ["vcr", "cassetter"])
def test_half_a_surrogate_pair_in_a_header_is_an_error_of_the_file(name: str) -> None:
    odd = Interaction(
        method="POST", uri="u", status=200, response_headers={"x-request-id": ["\ud800"]}
    )
    with pytest.raises(InputError, match="cannot say"):
        written(Cassette([odd]), name)
    assert b"\\ud800" in FORMATS[name](Cassette([odd]))


def test_json_with_half_a_surrogate_pair_stays_a_text() -> None:
    body = b'{"text":"\\ud800"}'
    one = Interaction(method="POST", uri="u", status=200, response_body=body)
    data = written(Cassette([one]), "cassetter")
    assert parse_cassette(data).interactions[0].response_body == body


def test_nothing_is_written_that_cannot_be_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "a.yaml", tmp_path / "b.jsonl"
    source.write_bytes(cassette(interaction()))
    monkeypatch.setitem(FORMATS, "compact", lambda made: b"")
    with pytest.raises(InputError, match=r"a\.yaml: .*the file is empty"):
        convert(source, target)
    assert not target.exists()


@pytest.mark.parametrize("place", ["metadata", "interaction"])
@pytest.mark.parametrize("name", ["b.jsonl", "b.yaml"])
def test_what_nests_too_deep_to_be_searched_is_masked(
    tmp_path: Path, place: str, name: str
) -> None:
    held = yaml.safe_load(cassette(interaction()))
    deep = json.loads('{"a":' * 400 + "1" + "}" * 400)
    (held if place == "metadata" else held["interactions"][0])["metadata"] = {"note": deep}
    (tmp_path / "a.json").write_text(json.dumps(held))
    convert(tmp_path / "a.json", tmp_path / name)
    (item,) = load_cassette(tmp_path / name).interactions
    assert item.uri == URI
    assert MASK in (tmp_path / name).read_text()


@pytest.mark.parametrize("name", ["b.jsonl", "b.yaml"])
def test_the_token_of_a_server_of_ours_is_written_nowhere(tmp_path: Path, name: str) -> None:
    token = new_token()
    url = f"http://127.0.0.1:8000/{token}/v1/messages"
    (tmp_path / "a.json").write_bytes(cassette({**interaction(), "request": {
        **interaction()["request"], "uri": url}}))  # fmt: skip
    assert [one.path for one in read_cassette(tmp_path / "a.json")] == ["/v1/messages"]
    convert(tmp_path / "a.json", tmp_path / name)
    assert token not in (tmp_path / name).read_text()
    (item,) = load_cassette(tmp_path / name).interactions
    assert item.uri == "http://127.0.0.1:8000/v1/messages"
