from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.errors import InputError
from harness.files.yaml_text import parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("12:30", "12:30"),
        ("2024-01-02", "2024-01-02"),
        ("1_000", "1_000"),
        ("<<", "<<"),
        ("=", "="),
        ("true", True),
        ("False", False),
        ("TRUE", True),
        ("tRUE", "tRUE"),
        ("null", None),
        ("~", None),
        ("nULL", "nULL"),
        ("''", ""),
        ("'null'", "null"),
        ("12", 12),
        ("-3", -3),
        ("+7", 7),
        ("007", 7),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b1", "0b1"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("|\n  12", "12"),
        (">\n  no", "no"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("-2.5E-1", -0.25),
        ("1.2.3", "1.2.3"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("9" * 30, int("9" * 30)),
        ("\u0661", "\u0661"),
    ],
)
def test_scalars_by_the_core_schema(text: str, value: Any) -> None:
    found, _ = parse(f"key: {text}")
    assert found == {"key": value}
    assert type(found["key"]) is type(value)


def test_keys_are_text_whatever_they_look_like() -> None:
    assert parse("no: 1\n12: 2\nnull: 3\ntrue: 4\n")[0] == {"no": 1, "12": 2, "null": 3, "true": 4}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: 2\n", 2),
        ("\ufeffa: 1\nb: 2", 2),
        ("a: 1\r\nb: 2\r\n", 2),
        ("a: 1\rb: 2", 2),
        ("a: 'x\u2028y\u2029z\u0085'\nb: 2", 2),
        ("# é ü 漢字 😀\na: |\n  x\n  y\nb: 2", 5),
        ("%YAML 1.2\n---\na: 1\nb: 2", 4),
    ],
)
def test_lines_are_those_of_an_editor(text: str, line: int) -> None:
    value, lines = parse(text)
    assert list(value) == ["a", "b"]
    assert lines.find(value, ["b"]) == line


def test_the_line_of_a_path_is_that_of_its_deepest_known_part() -> None:
    value, lines = parse("a:\n  - x: 1\n  -\n    y: 2\n")
    assert lines.find(value, ["a"]) == 1
    assert lines.find(value, ["a", 0, "x"]) == 2
    assert lines.find(value, ["a", 1, "y"]) == 4
    assert lines.find(value, ["a", 1, "z"]) == 4
    assert lines.find(value, ["a", 7]) == 1
    assert lines.find(value, []) == 1


def test_an_alias_is_its_anchor() -> None:
    value, _ = parse("a: &x {b: [1]}\nc: *x\n")
    assert value == {"a": {"b": [1]}, "c": {"b": [1]}}


DEEP = "a0: &a0 x\n" + "".join(
    f"a{n}: &a{n} {'[' * 60}*a{n - 1}{']' * 60}\n" for n in range(1, 200)
)
LAUGHS = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20)
)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: 1\nb: 2\na: 3", "line 3", "duplicate key `a` (first in line 1)"),
        ("v:\n  x: {a: 1, a: 2}", "line 2", "duplicate key `a` (first in line 2)"),
        ("a:\n\tb: 1", "line 2", "not YAML: a tab, and YAML indents by spaces"),
        ("a: [1", "line 1", "not YAML: "),
        ("a: *x", "line 1", "not YAML: found undefined alias"),
        ("a: 1\n---\nb: 2", "line 2", "not YAML: but found another document"),
        ("a: 1\nb: \x01", "line 2", "not YAML: the character 1 is not allowed"),
        ("a: &x [*x]", "line 1", "an alias that contains itself"),
        ("? [a]\n: b", "line 1", "a key must be a plain text"),
        ("!!str a: b", "line 1", "a key must be a plain text"),
        ("a: 1\nb: !!str 12", "line 2", "the tag 'tag:yaml.org,2002:str' is not allowed"),
        ("a: !!python/object/apply:os.system [echo]", "line 1", "is not allowed"),
        ("!!set {a}", "line 1", "is not allowed"),
        ("a: !mine x", "line 1", "the tag '!mine' is not allowed"),
        ("a: 1e999", "line 1", "a number too large"),
        ("a: " + "9" * 5000, "line 1", "a number too large"),
        ("a:\n " + "[" * 150 + "]" * 150, "line 2", "nested too deeply"),
        (DEEP, "line 3", "nested too deeply, aliases included"),
        (LAUGHS, "line 7", "more than 1000000 values, aliases included"),
    ],
)
def test_what_is_refused_with_its_line(text: str, place: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert caught.value.place == place
    assert words in caught.value.what


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name: x\n\tinbox: hi\n", 2),
        ("a:\n  b: 1\n\tc: 2\n", 3),
        ("a:\r\n\tb: 1\r\n", 2),
        ("- a\n-\tb\n", 2),
        ("é:\n  - b: 1\n  \tc: 2\n", 3),
        ("a: |\n  x\n\ty\nb: 1\n", 3),
        ("\tname: x\n", 1),
    ],
)
def test_a_tab_is_named_with_what_to_do(text: str, line: int) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert caught.value.place == f"line {line}"
    assert (
        caught.value.what == "not YAML: a tab, and YAML indents by spaces: put spaces in its place"
    )


@pytest.mark.parametrize("text", ["a: {b: 1,\n\tc: 2}\nd: :\t@\n", "a: 'x\n\ty'\nb: ]\n"])
def test_a_tab_that_is_allowed_is_not_blamed(text: str) -> None:
    assert parse("a:\tb\nc: [1,\n\t2]\n")[0] == {"a": "b", "c": [1, 2]}
    with pytest.raises(InputError) as caught:
        parse(text)
    assert caught.value.place == "line 3"
    assert "tab" not in caught.value.what


@pytest.mark.parametrize("text", ["- " * 50_000 + "x", "[" * 3000 + "]" * 3000])
def test_a_file_deeper_than_the_parser_can_go(text: str) -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        parse(text)


def lines_of_keys(text: str) -> list[int]:
    """The lines of the top keys; none for what is refused."""
    try:
        value, lines = parse(text)
    except InputError:
        return []
    return [lines.find(value, [key]) for key in value] if isinstance(value, dict) else []


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%?, \n\t\r0.\u2028~", max_size=40))
def test_no_text_raises_anything_else(text: str) -> None:
    assert all(1 <= line <= len(text.splitlines()) for line in lines_of_keys(text))
