"""Whether a text that is sent on holds what was said: a lost part is named."""

from __future__ import annotations

import html
import json
import textwrap
import time
import unicodedata
from collections.abc import Callable

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from harness.core.values.carried_text import Spelt, is_asked, lost_parts

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=40)
TEXTS = st.one_of(
    WORDS,
    st.lists(st.sampled_from(["cat", "the", "9007199254740993", "1.50", "-4", "ß", "\U0001f63a",
                              "قطة", "猫が食べる", "<b>", "&amp;", "a\\nb", '"', "None", "\n", "\t",
                              "\u0065\u0301", "ﬁn", "C:\\new", "\\u00e9"])).map(" ".join),
)  # fmt: skip
# The `<` of one value and the `>` of the next read as a tag where a space stands between them.
SCALARS = st.one_of(
    st.integers(),
    st.booleans(),
    WORDS.filter(lambda text: "<" not in text),
    st.floats(-1e6, 1e6).map(lambda n: round(n, 3)),
)
ROWS = st.dictionaries(st.text("abcdefgh", min_size=4, max_size=8), SCALARS, min_size=1, max_size=6)


def _as_ansi(text: str) -> str:
    return "".join(f"\x1b[31m{word}\x1b[0m " for word in text.split(" "))


WRITINGS: dict[str, Callable[[str], str]] = {
    "JSON": json.dumps,
    "JSON of Unicode": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON twice": lambda text: json.dumps(json.dumps(text)),
    "JSON in a field": lambda text: json.dumps({"ok": True, "result": text}),
    "Python": repr,
    "HTML": html.escape,
    "HTML twice": lambda text: html.escape(html.escape(text)),
    "words around": lambda text: f"The tool says:\n{text}\n(end)",
    "a tag": lambda text: f"<result>{text}</result>",
    "other line ends": lambda text: text.replace("\n", "\r\n"),
    "collapsed": lambda text: " ".join(text.split()),
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "colours": _as_ansi,
}


@pytest.mark.parametrize("name", WRITINGS)
@given(said=TEXTS)
def test_a_text_is_carried_in_every_writing(name: str, said: str) -> None:
    assert lost_parts(said, WRITINGS[name](said)) == ()


@given(said=ROWS)
@example(said={"aaaaa": "", "aaaa": ""})
@example(said={"aaaaa": 0, "aaaa": "\\\U00011200"})
@example(said={"aaaa": "{0'0"})
@example(said={"aaaa": ">0", "aaaaa": "<A"})
def test_a_value_is_carried_in_every_writing(said: dict[str, object]) -> None:
    text = json.dumps(said)
    assert lost_parts(text, yaml.safe_dump(said, allow_unicode=True)) == ()
    assert lost_parts(text, json.dumps(said, sort_keys=True, indent=2)) == ()
    assert lost_parts(text, repr(dict(reversed(said.items())))) == ()
    assert (
        lost_parts(text, "| a | b |\n" + "".join(f"| {k} | {v} |\n" for k, v in said.items())) == ()
    )


@given(said=st.text(st.sampled_from("ﬁﬀＡ５ｶﻉ… \u00a0abc"), min_size=4, max_size=20))
def test_a_ligature_and_a_wide_letter_are_carried_as_their_letters(said: str) -> None:
    assert lost_parts(said, unicodedata.normalize("NFKC", said)) == ()


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ("half \ud83d of a cat", "half of a cat"),
        ("half \\ud83d of a cat", "half \ufffd of a cat"),
        ("a\x00b is here", "ab is here"),
        ('{"level": 1.0, "cats": [{"name": "Tom"}]}', "level: 1\ncats:\n- name: Tom\n"),
        ('{"level": 1.0, "name": "Tom the cat"}', '{"name": "Tom the cat", "level": 1}'),
        ("name,age\nTom,7", '[{"name": "Tom", "age": 7}]'),
        ("“Tom” — the cat…", '"Tom" - the cat...'),
        ("1,000,000 pears", "1000000 pears"),
        ('{"a":[100,200,-3]}', "a:\n- 100\n- 200\n- -3\n"),
        ('{"a":[100,200,-3],"b":1e3}', "{'b': 1000.0, 'a': [100, 200, -3]}"),
        ('{"at":"10:30","re":"\\\\d+"}', "re: \\d+\nat: '10:30'"),
        ("total: 1.50\nname: Tom", '{"name": "Tom", "total": 1.5}'),
        ("name,age\nTom,7\nAda,8", '[{"age": 7, "name": "Tom"}, {"age": 8, "name": "Ada"}]'),
        ("# Cats\n\n- **Tom**: 7 kg\n- _Ada_", "<h1>Cats</h1><li><b>Tom</b>: 7 kg<li>Ada"),
        ("这是**重要**的事情", "这是重要的事情"),
        ("don\u2019t go, it is 5\u20137 km", "don't go, it is 5-7 km"),
    ],
)  # fmt: skip
def test_a_look_alike_is_carried(said: str, sent: str) -> None:
    assert lost_parts(said, sent) == ()


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ("min_value is", "minvalue is"), ("it is -40", "it is 40"), ("1.5 kg", "15 kg"),
        ("10² m²", "102 m2"), ("a b here", "ab here"), ("C++ code", "C code"),
        ("x>=5 here", "x5 here"), ("tom@cats.org", "tom cats.org"), ("/etc/a.b", "etc/a.b"),
        ("2026-11-26", "20261126"), ("2026-11-26", "2026-11-25"), ("at 10:30", "at 10 30"),
        ("version 1.2.3", "version 1.2"), ("1e-5 m", "1e5 m"), ("100% of it", "100 of it"),
        ("€40 is due", "40 is due"), ("$40 is due", "40 is due"), ("résumé", "resume"),
        ("The Cat", "the cat"), ("3 - 4 is -1", "3 + 4 is -1"), ("git log --all", "git log all"),
        ("\\d+ digits", "d+ digits"), ("x<5 is so", "x5 is so"), ("a[i] is", "ai is"),
        ('{"version": "1.10"}', '{"version": "1.1"}'), ('{"id": "007"}', '{"id": 7}'),
        ("[3, 1, 2, 4]", "[1, 2, 3, 4]"), ("[1, 1, 1, 2]", "[1, 2]"),
        ('{"a": "one", "a": "two"}', '{"a": "two"}'),
        ('{"a": {"b": "deep"}}', '{"a": "[Object]"}'), ('{"n": 3.14159}', '{"n": 3.14}'),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "| a |\n|---|\n| 1 |\n| 3 |"),
        ("name,age\nTom,7\nAda,8", "name,age\nAda,8\nTom,7"), ("café au lait", "cafÃ© au lait"),
        ("<p>cats</p> eat", "cats eat"), ("one\none\ntwo", "one\ntwo"), ("level 1", "level 1.5"),
        ("level 12", "level 123"), ('{"missing": {}, "found": []}', "found: []"),
    ],
)  # fmt: skip
def test_a_lost_sign_is_not_carried(said: str, sent: str) -> None:
    assert lost_parts(said, sent) == ("whole",)


NAMES = st.text("abcdefghij", min_size=3, max_size=8)
JOINTS = st.sampled_from([".", "-", "_", "/", "@", "->", "::", ">=", "+", "==", "#", "%", "&"])
NUMBERS = st.builds("{}{}{}".format, st.sampled_from(["-", "$", "€", "+", "~", ""]),
         st.integers(100, 99999), st.sampled_from(["%", "²", "€", ".25", "e-7", ""]))  # fmt: skip
TOKENS = st.one_of(NAMES, NUMBERS, st.builds("{}{}{}".format, NAMES, JOINTS, NAMES))
LINES = st.lists(st.lists(TOKENS, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=12)
SMALL = settings(max_examples=60, deadline=None)


@SMALL
@given(st.data(), LINES)
def test_a_character_that_is_dropped_or_replaced_is_lost(
    data: st.DataObject, lines: list[str]
) -> None:
    text = "\n".join(lines)
    assume(is_asked(text))
    at = data.draw(st.sampled_from([n for n, letter in enumerate(text) if not letter.isspace()]))
    for other in ("", "z" if text[at].isalpha() else "7"):
        assume(other != text[at])
        sent = text[:at] + other + text[at + 1 :]
        assume(sent.split() != text.split())
        assert lost_parts(text, sent, least=2)


@SMALL
@given(st.data(), st.lists(LINES.map(" ".join), min_size=3, max_size=9, unique=True))
def test_a_line_that_is_dropped_or_moved_is_lost(data: st.DataObject, lines: list[str]) -> None:
    assume(not any(one in other for one in lines for other in lines if one is not other))
    at = data.draw(st.integers(0, len(lines) - 2))
    text = "\n".join(lines)
    assert lost_parts(text, "\n".join(lines[:at] + lines[at + 1 :]))
    swapped = [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
    assert lost_parts(text, "\n".join(swapped))
    assert lost_parts("\n".join([*lines, lines[at]]), text)


LAYOUTS: dict[str, Callable[[list[str]], str]] = {
    "line numbers": lambda lines: "\n".join(f"{n:4d}\t{line}" for n, line in enumerate(lines, 1)),
    "quoted": lambda lines: "\n".join(f"> {line}" for line in lines),
    "bullets": lambda lines: "\n".join(f"- {line}" for line in lines),
    "one line": " ".join,
    "reflowed": lambda lines: textwrap.fill(
        " ".join(lines), 40, break_on_hyphens=False, break_long_words=False
    ),
    "HTML": lambda lines: "".join(f"<p>{html.escape(line)}</p>" for line in lines),
    "a table": lambda lines: "\n".join(f"| {n} | {line} |" for n, line in enumerate(lines)),
    "a list of JSON": json.dumps,
    "YAML": lambda lines: yaml.safe_dump(lines, allow_unicode=True),
    "emphasis": lambda lines: "\n".join(f"**{line}**" for line in lines),
}


@pytest.mark.parametrize("name", LAYOUTS)
@SMALL
@given(lines=LINES)
def test_the_lines_of_a_text_are_carried_in_every_layout(name: str, lines: list[str]) -> None:
    assert lost_parts("\n".join(lines), LAYOUTS[name](lines)) == ()


OTHERS = ["OK", "99 pears", "None", "null", "[object Object]", "undefined", "", "The tool ran."]


@pytest.mark.parametrize("sent", OTHERS)
@given(said=TEXTS)
def test_a_replaced_text_is_lost(sent: str, said: str) -> None:
    assume(is_asked(said) and {*Spelt(said).words}.isdisjoint(Spelt(sent).words))
    assert lost_parts(said, sent) == ("whole",)


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ("9007199254740993", "9007199254740992"),
        ("9007199254740993", "9.007199254740992e15"),
        ('{"id": 9007199254740993}', '{"id": 9007199254740992}'),
        ("the bowl is full", "the bowl is empty"),
        ("level 1 of 3", "level 21 of 33"),
        ('{"name": "Tom", "level": 1}', "[object Object]"),
        ("Die Schüssel ist voll", "Die Schssel ist voll"),
        ("cats: \U0001f63a\U0001f63a", "cats: \ufffd"),
    ],
)
def test_another_text_is_not_carried(said: str, sent: str) -> None:
    assert lost_parts(said, sent) == ("whole",)


NUMBERED = " ".join(f"row-{n}" for n in range(100))


@pytest.mark.parametrize(
    ("sent", "lost"),
    [
        (NUMBERED[:100], ("middle", "end")),
        (NUMBERED[-100:], ("head", "middle")),
        (NUMBERED[200:500], ("head", "end")),
        (f"{NUMBERED[:40]} [...] {NUMBERED[-40:]}", ("middle",)),
        (NUMBERED[60:], ("head",)),
        (NUMBERED[:-60], ("end",)),
        ("rows", ("whole",)),
    ],
)
def test_the_lost_part_of_a_long_text_is_named(sent: str, lost: tuple[str, ...]) -> None:
    assert lost_parts(NUMBERED, sent) == lost
    assert lost_parts(json.dumps(NUMBERED), sent) == lost


def test_one_long_word_has_pieces_too() -> None:
    word = "".join(map(str, range(200)))
    assert lost_parts(word, f" {word}\n") == ()
    assert lost_parts(word, word[:250]) == ("middle", "end")
    assert lost_parts(word, word[:20] + word[-20:]) == ("middle",)


@pytest.mark.parametrize("said", ["", "ok", "{}", "---", "\x00\x00\x00\x00", "\ud83d", "1.0"])
def test_a_short_text_is_not_asked(said: str) -> None:
    assert not is_asked(said)
    assert lost_parts(said, "something else") == ()


HOSTILE = [
    "\\",
    "\\u",
    "&amp;",
    "\x1b[",
    "\x1b]",
    "1.0",
    ".1",
    "\u0301\u0323",
    "[31",
    "a ",
    "{",
    "&#",
    "0",
]


@pytest.mark.timed
@pytest.mark.parametrize("unit", HOSTILE)
def test_the_cost_is_linear(unit: str) -> None:
    def cost_s(size: int) -> float:
        text = unit * (size // len(unit))
        least = float("inf")
        for _ in range(3):
            begun_s = time.process_time()
            lost_parts("the cat " + text, text + "!")
            least = min(least, time.process_time() - begun_s)
        return least

    assert cost_s(80_000) < max(0.02, 9 * cost_s(20_000))
