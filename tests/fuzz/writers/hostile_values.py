"""What agents, models, tools and files may say, by class: texts, and values that hold them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

SECRET = "sk-ant-api03-" + "Zq7Lm2Xc9Vb4Np6Rt8Yw3Ks5Hd1Gf0Ja" * 3
"""No output may hold this, nor the half of it that a cut would leave."""

LARGE_CHARS = 1_000_000
LEVELS = 10_000


class Case(NamedTuple):
    """What is said: its class, a text of it, and a value, which need not be JSON."""

    kind: str
    text: str
    value: Any


class RaisesAll:
    """An object of which nothing can be asked."""

    def _no(self, *_: object) -> Any:
        raise ValueError("no")

    __str__ = __repr__ = __eq__ = __bool__ = __len__ = __iter__ = __format__ = _no
    __hash__ = None  # type: ignore[assignment]


class RaisesInHash(RaisesAll):
    """A key whose hash works and whose text does not."""

    def __hash__(self) -> int:
        return 7


class OddText(str):
    """A text whose own methods raise, as a framework's lazy text may."""

    def _no(self, *_: object) -> Any:
        raise ValueError("no")

    split = encode = __str__ = __len__ = __format__ = _no


_SURROGATES = ("\ud800", "half \udfff", "\ude00\ud83d", "a\ud83d b", "\udc80" * 40)
_CONTROLS = ("\0", "\x07\b\x7f", "a\rb", "\x0b\x0c\x1c\x85", "\x9b31m", "tab\there", "\n\n✓ forged")
_ANSI = ("\x1b[2J", "\x1b]0;owned\x07", "\x1b[31mred\x1b[0m", "\x1bP\x1b\\", "\r\x1b[K")
_MARKS = ("\u202eevil", "\u2066a\u2069", "\u200f", "\u061c", "\u2028line", "\u2029", "\ufeff")
_XML = ("]]>", "--", "-->", "<!--", "<![CDATA[", "</script>", "&amp;&#0;", "<b onload=x>", "\ufffe",
        "'\"><img src=x onerror=alert(1)>", "{{7*7}}", "{% x %}", "</details>")  # fmt: skip
_MARKDOWN = ("```", "`a", "``", "@someone", "[x](http://y)", "~~~\n```\n<script>", "| a | b |",
             "![x](y)", "<details>", "#123", "- [ ]")  # fmt: skip
_WORKFLOW = ("::error::forged", " ::add-mask::x", "##[error]forged", "%0A::error::x", "a,b:c\n::x")
_YAML = ("a: b", "- x", "!!python/object:os.system", "'", '"', "#no", "yes", "1e3", "null", "*a",
         "<<: x", "%YAML", "a\n  b\n c", "  x", "\t", "? x", '"""', "'''", "\\u12")  # fmt: skip
_NUMBERS = (
    float("nan"),
    float("inf"),
    -float("inf"),
    10**400,
    -(1 << 63) - 1,
    1 << 64,
    -0.0,
    1e308,
)
_WIDE = ("😀", "é", "漢字", "e\u0301" * 30, "\U000e0001", "a\u200bb", "ﷺ", "𓀀")


def _nested(levels: int, draws: Random) -> Any:
    value: Any = draws.choice(("x", SECRET, "\ud800", 1))
    for _ in range(levels):
        value = [value] if draws.randrange(2) else {"a": value}
    return value


def _cycle(draws: Random) -> Any:
    box: Any = draws.choice(([], {}))
    box.append(box) if isinstance(box, list) else box.update(me=box)
    return draws.choice((box, {"a": [box]}, [1, {"b": box}]))


def _large(draws: Random) -> str:
    piece = draws.choice(
        ("token=", "token=\n", "key: ", "x", "a ", "password", "\x1b[2J", "-->", "]]>", "\ud800",
         "A1b2", "é", "`", '"', "\\", "&", "::", "\n", "%3D", "=======k", "eyJ", "sk-", "bearer ")
    )  # fmt: skip
    chars = LARGE_CHARS if not draws.randrange(10) else draws.choice((30_000, 100_000))
    return piece * (chars // len(piece))


def _secret(draws: Random) -> str:
    beside_a_cut = 19_970 if not draws.randrange(30) else 55
    pad = "p" * draws.choice((0, 20, 40, 52, 58, 75, 95, 130, 480, beside_a_cut))
    in_base64 = base64.b64encode(f"u:{SECRET}".encode()).decode()
    forms = (
        SECRET, f"key {SECRET} end", f"export ANTHROPIC_API_KEY={SECRET}", f"token: {SECRET}, ",
        f"https://x/?key={SECRET}", f'{{"api_key": "{SECRET}"}}', in_base64,
    )  # fmt: skip
    return f"{pad} {draws.choice(forms)}"


def _keys(draws: Random, text: str) -> Any:
    keys = (1, 2.5, None, True, (1, 2), b"k", float("nan"), text, RaisesInHash(), frozenset({1}))
    return {draws.choice(keys): text, "a": {draws.choice(keys): [text]}}


def _object(draws: Random) -> Any:
    made: tuple[Any, ...] = (
        RaisesAll(), RaisesInHash(), object(), OddText("x"), {1, 2}, 1j, iter(()), type, len,
        bytearray(b"x"), memoryview(b"x"), ...,
    )  # fmt: skip
    return draws.choice(made)


def _deep(draws: Random) -> Case:
    return Case("", "deep", _nested(draws.choice((150, 300, 480, 900, 990, LEVELS)), draws))


def _number(draws: Random) -> Case:
    number = draws.choice(_NUMBERS)
    return Case("", str(number), {"n": number, "m": [draws.choice(_NUMBERS)]})


def _bytes(draws: Random) -> Case:
    return Case("", "bytes", draws.choice((b"\xff\0", {"a": b"\xff"}, [bytearray(b"a")])))


def _of(texts: tuple[str, ...]) -> Callable[[Random], Case]:
    def draw(draws: Random) -> Case:
        text = "".join(draws.choice((*texts, "word ")) for _ in range(draws.choice((1, 1, 2, 5))))
        if draws.randrange(3) == 0:
            text = f"{'w' * draws.choice((10, 55, 59, 80, 119))}{text}"
        return Case("", text, {text: [text, {"a": text}]})

    return draw


def _spoken(text: str) -> Case:
    return Case("", text, {"text": text, "of": [text], text[:9]: None})


CLASSES: dict[str, Callable[[Random], Case]] = {
    "surrogates": _of(_SURROGATES), "controls": _of(_CONTROLS), "ansi": _of(_ANSI),
    "directions": _of(_MARKS), "markup": _of(_XML), "markdown": _of(_MARKDOWN),
    "workflow": _of(_WORKFLOW), "yaml": _of(_YAML), "wide": _of(_WIDE),
    "secret": lambda draws: _spoken(_secret(draws)),
    "large": lambda draws: _spoken(_large(draws)),
    "deep": _deep, "numbers": _number, "bytes": _bytes,
    "cycles": lambda draws: Case("", "cycle", _cycle(draws)),
    "keys": lambda draws: Case("", "key", _keys(draws, draws.choice(("x", "\ud800", SECRET)))),
    "objects": lambda draws: Case("", "object", [_object(draws), {"a": _object(draws)}]),
}  # fmt: skip
"""The classes of what is said."""

RARE = {"large": 12, "deep": 3}
"""The classes that cost more are drawn once in a given number of times."""


def drawn(draws: Random) -> Case:
    """A case of a class that is drawn."""
    while True:
        kind = draws.choice(tuple(CLASSES))
        if not draws.randrange(RARE.get(kind, 1)):
            return CLASSES[kind](draws)._replace(kind=kind)


def texts_of(case: Case, draws: Random) -> Iterator[str]:
    """Endlessly the text of a case, or one of another class; a large one is said rarely."""
    while True:
        is_said = not draws.randrange(15) if len(case.text) > 9_999 else draws.randrange(4)
        yield case.text if is_said else drawn_text(draws)


def drawn_text(draws: Random) -> str:
    """A short text of any class."""
    return CLASSES[draws.choice(_SHORT)](draws).text


_SHORT = tuple(kind for kind in CLASSES if kind not in ("large", "deep", "cycles", "objects"))
