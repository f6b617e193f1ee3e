"""YAML of cassettes: what vcrpy writes comes back, and nothing is built that a file asks for."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.vcr_yaml import DEPTH_MAX, parse
from harness.core.errors import InputError

_texts = st.text(st.characters(exclude_categories=["Cs"]))
_values = st.recursive(
    st.none() | _texts | st.binary() | st.integers(0, 10**9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=10,
)


def _without_lines(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_lines(v) for k, v in value.items() if k is not None}
    return [_without_lines(item) for item in value] if isinstance(value, list) else value


@given(_values)
def test_what_vcrpys_dumper_writes_comes_back(value: Any) -> None:
    assert _without_lines(parse(yaml.dump(value, Dumper=yaml.CDumper).encode())) == value


def test_a_mapping_knows_its_line() -> None:
    assert parse(b"a: 1\nb:\n  c: 2\n")["b"][None] == 3


def test_aliases_share_what_they_name() -> None:
    value = parse(b"- &x [1]\n- *x\n")
    assert value == [[1], [1]]
    assert value[0] is value[1]


def test_a_file_cannot_grow_in_memory() -> None:
    lines = [b"- &a0 [x]"]
    lines += [b"- &a%d [%s]" % (n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 60)]
    assert len(parse(b"\n".join(lines))) == 60


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "the file is empty"),
        (b"# nothing\n", "the file is empty"),
        (b"a: [1", "line 2: not YAML"),
        (b"a: 1\n\tb: 2", "line 2: not YAML"),
        (b"\xff\xfe\x00", "not YAML"),
        (b"a: 1\n---\nb: 2\n", "more than one document"),
        (b"- *nowhere\n", "no anchor &nowhere"),
        (b"- 1\n- !!python/object/apply:os.system [ls]\n", "line 2: the tag '!!python/object"),
        (b"!!python/name:os.system ''", "line 1: the tag '!!python/name:os.system'"),
        (b"!custom {a: 1}", "line 1: the tag '!custom'"),
        (b"a: !!binary 'x'", "line 1: binary that is no base64"),
        (b"[" * (DEPTH_MAX + 1), f"nests more than {DEPTH_MAX} levels"),
        (b"[" * 200_000, f"nests more than {DEPTH_MAX} levels"),
    ],
)
def test_what_is_refused(data: bytes, what: str) -> None:
    with pytest.raises(InputError) as refused:
        parse(data)
    assert what in str(refused.value)
    assert "\n" not in str(refused.value)


def _said(data: bytes) -> str:
    try:
        return repr(parse(data))
    except InputError as error:
        return str(error)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_one_line(data: bytes) -> None:
    assert "\n" not in _said(data)
