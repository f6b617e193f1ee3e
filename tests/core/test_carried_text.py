"""Whether a text that is sent on holds what was said: a lost part is named."""

from __future__ import annotations

import html
import json
import time
import unicodedata
from collections.abc import Callable

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.core.values.carried_text import Spelt, is_asked, lost_parts

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=40)
TEXTS = st.one_of(
    WORDS,
    st.lists(st.sampled_from(["cat", "the", "9007199254740993", "1.50", "-4", "ß", "\U0001f63a",
                              "قطة", "猫が食べる", "<b>", "&amp;", "a\\nb", '"', "None", "\n", "\t",
                              "\u0065\u0301", "ﬁn", "C:\\new", "\\u00e9"])).map(" ".join),
)  # fmt: skip
SCALARS = st.one_of(
    st.integers(), st.booleans(), WORDS, st.floats(-1e6, 1e6).map(lambda n: round(n, 3))
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
    "compatible": lambda text: unicodedata.normalize("NFKC", text),
    "colours": _as_ansi,
}


@pytest.mark.parametrize("name", WRITINGS)
@given(said=TEXTS)
def test_a_text_is_carried_in_every_writing(name: str, said: str) -> None:
    assert lost_parts(said, WRITINGS[name](said)) == ()


@given(said=ROWS)
def test_a_value_is_carried_in_every_writing(said: dict[str, object]) -> None:
    text = json.dumps(said)
    assert lost_parts(text, yaml.safe_dump(said, allow_unicode=True)) == ()
    assert lost_parts(text, json.dumps(said, sort_keys=True, indent=2)) == ()
    assert lost_parts(text, repr(dict(reversed(said.items())))) == ()
    assert (
        lost_parts(text, "| a | b |\n" + "".join(f"| {k} | {v} |\n" for k, v in said.items())) == ()
    )


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
    ],
)  # fmt: skip
def test_a_look_alike_is_carried(said: str, sent: str) -> None:
    assert lost_parts(said, sent) == ()


OTHERS = ["OK", "99 pears", "None", "null", "[object Object]", "undefined", "", "The tool ran."]


@pytest.mark.parametrize("sent", OTHERS)
@given(said=TEXTS)
def test_a_replaced_text_is_lost(sent: str, said: str) -> None:
    assume(is_asked(said) and not {*Spelt(said).words} <= {*Spelt(sent).words})
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
