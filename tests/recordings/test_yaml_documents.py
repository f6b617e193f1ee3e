"""YAML from outside: tags build nothing, and hostile documents are refused in one line."""

from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.errors import InputError
from harness.recordings.yaml_documents import parse


def test_tags_are_ignored() -> None:
    text = b"""
? !!python/object/apply:multidict._multidict.istr
- Accept
: !!python/object/apply:os.system [echo]
a: !ruby/object {x: !!python/name:os.system ''}
b: !!binary aGk=
c: !binary |-
  aGk=
"""
    assert parse(text) == {"Accept": ["echo"], "a": {"x": ""}, "b": b"hi", "c": b"hi"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-01-01", "2024-01-01"),
        ("12:30", "12:30"),
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("~", None),
        ("", None),
        ("-3", -3),
        ("1.5e+3", 1500.0),
        ("1e3", "1e3"),
        ("08", "08"),
        (".inf", math.inf),
        ("'3'", "3"),
        ("null", None),
        ("- ", [None]),
        ("123456789012345678901", 123456789012345678901),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_plain_scalars(text: str, value: object) -> None:
    shown = f"a:\n  {text}" if text.startswith("-") else f"a: {text}"
    assert parse(shown.encode()) == {"a": value}


def test_aliases_are_followed_and_merge_keys_are_keys() -> None:
    assert parse(b"a: &x [1]\n<<: *x\n") == {"a": [1], "<<": [1]}


def test_keys_are_text() -> None:
    assert parse(b"1: a\ntrue: b\n") == {"1": "a", "True": "b"}


_BOMB = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 20)}]" for n in range(1, 12))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{a: " * 100_000,
        "- " * 100_000,
        "? " * 100_000,
        f"a0: &a0 [1]\n{_BOMB}",
        "a: &x [*x]",
        "a: !!binary z",
        "a: 1\n---\nb: 2",
        "a: *x",
        "a: b: c",
        "\0",
        "a: [",
    ],
)
def test_hostile_documents_are_refused_with_a_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text.encode())
    assert caught.value.place.startswith("line ")
    assert "\n" not in str(caught.value)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner),
)


@given(_VALUES)
def test_what_the_dumper_wrote_reads_back(value: object) -> None:
    assert parse(yaml.safe_dump({"v": value}).encode()) == {"v": value}


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = parse(data)
    except InputError:
        return
    assert value is None or isinstance(value, (str, int, float, bytes, list, dict))
