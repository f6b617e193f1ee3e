"""Nothing that reads a text from outside takes more time than the text is long.

Time is measured as a ratio: four times the text may cost four times as much. A quadratic search
costs sixteen times as much, so the bound is far from both. A time of a few milliseconds is
uncertain on a busy machine, so a doubt is settled by a text four times as long again: a quadratic
search exceeds the bound there too.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from harness.redaction import masking
from harness.redaction.masking import MASK, mask, mask_body, mask_line, mask_value
from harness.redaction.secret_patterns import spans
from harness.redaction.secret_scan import suspects
from tests.redaction.hostile_texts import hostile_texts
from tests.redaction.package_patterns import (
    OF_LOCAL_NAMES,
    PackagePattern,
    package_patterns,
    places,
    unread_files,
)

_SIZES = (24, 400, 2_000, 8_000, 32_000)
_UNNOTICED_S = 0.004
"""A search of 8,000 characters below this is not quadratic: that would be millions of steps."""

_RATIO_MOST = 9.0


def test_the_patterns_of_the_package_are_found() -> None:
    patterns = [one for place in places() for one in package_patterns(place)]
    assert len(patterns) > 350
    assert {one.is_anchored for one in patterns} == {True, False}


def test_a_pattern_of_local_names_is_thought_of() -> None:
    """Which of these read a text from outside? Bound them, and name the file."""
    assert unread_files() <= OF_LOCAL_NAMES


@pytest.mark.timed
@pytest.mark.parametrize("place", places())
def test_the_patterns_of_a_place_are_linear(place: str) -> None:
    for one in package_patterns(place):
        texts = zip(*(hostile_texts(one.pattern, size) for size in _SIZES), strict=True)
        for series in texts:
            given = [_as_of(one, text) for text in series]
            _is_linear(partial(_searched, one), given, one.place)


@pytest.mark.timed
def test_a_quadratic_search_is_noticed() -> None:
    slow = re.compile(r"key\w*=")
    with pytest.raises(AssertionError, match="not linear"):
        _is_linear(slow.findall, ["key" * (size // 3) for size in _SIZES])


def _as_of(one: PackagePattern, text: str) -> Any:
    return text.encode("utf-8", "replace") if isinstance(one.pattern.pattern, bytes) else text


def _searched(one: PackagePattern, text: Any) -> None:
    if one.is_anchored:
        one.pattern.match(text)
        one.pattern.fullmatch(text)
    else:
        for _ in one.pattern.finditer(text):
            pass


def _is_linear(does: Callable[[Any], object], series: list[Any], place: str = "") -> None:
    *usual, longest = series
    for given in usual:
        taken = _cost_s(does, given)
        assert taken < 2, f"{taken:.1f} s for {given[:40]!r}… ({len(given)})"
    if taken > _UNNOTICED_S and _grows(does, *usual[-2:]):
        assert not _grows(does, usual[-1], longest), f"{place} is not linear in {longest[:60]!r}…"


def _grows(does: Callable[[Any], object], shorter: Any, longer: Any) -> bool:
    """Whether the longer text costs far more than its length explains, at the best of three."""
    before = min(_cost_s(does, shorter) for _ in range(3))
    taken = min(_cost_s(does, longer) for _ in range(3))
    return taken > before * len(longer) / len(shorter) / 4 * _RATIO_MOST


def _cost_s(does: Callable[[Any], object], given: Any) -> float:
    masking._known_masked.cache_clear()
    start = time.process_time()
    does(given)
    return time.process_time() - start


def _in_json(depth: int, text: str) -> str:
    for _ in range(depth):
        text = json.dumps({"a": text})
    return text


def _in_pieces(text: str) -> str:
    pieces = (text[n : n + 3] for n in range(0, len(text), 3))
    return "".join(f'data: {{"delta": {json.dumps(piece)}}}\n\n' for piece in pieces)


def _in_base64(text: str) -> str:
    for _ in range(3):
        text = base64.b64encode(text.encode()).decode()
    return text


REPEATED = (
    "token=",
    "token: ",
    "password is ",
    "key=",
    "token=aaaaaaaaaaaa,",
    "password=aaaaaaaa1(",
    "--token ",
    "api key is ",
    "cookie: a=b; ",
    "cookie=",
    "a: token\n",
    "eyJ",
    "eyJa.",
    "sk-",
    "AQ.",
    "basic QUFB ",
    "bearer ",
    "-----BEGIN A PRIVATE KEY-----",
    "-----BEGIN ",
    "://a:",
    "machine a login ",
    "curl -u ",
    "-u a:b ",
    'name="token"\r\n',
    "QUFBQUFBQUFBQUFBQUFBQUFB ",
    "=\n",
    "\\n",
    "\\",
    "%20",
    "a" * 76 + "\n",
    "data: ",
    "data: {}\n\n",
    "[",
    '"',
    "a" * 75 + "\n",
    "QUFB" * 19 + "\n",
    "é",
    "\0",
)


@pytest.mark.timed
@pytest.mark.parametrize("said", REPEATED)
@pytest.mark.parametrize(
    "form",
    [
        lambda text: text,
        lambda text: json.dumps({"messages": [{"content": text}]}),
        lambda text: _in_json(3, text),
        _in_base64,
        lambda text: f"data: {text}",
        _in_pieces,
    ],
    ids=["text", "json", "json-in-json", "base64", "event", "pieces"],
)  # fmt: skip
def test_masking_is_linear(said: str, form: Callable[[str], str]) -> None:
    texts = [form(said * (size // len(said))) for size in (24, 300, 1_200, 4_800, 19_200)]
    _is_linear(lambda text: mask_body(text.encode()), texts)
    _is_linear(lambda text: [*suspects([(1, "body", text)])], texts)


@pytest.mark.timed
def test_many_keys_in_many_pieces_are_linear() -> None:
    def stream(count: int) -> str:
        pieces = "".join(f" glpat-{n:020}" for n in range(count))
        parts = (pieces[n : n + 3] for n in range(0, len(pieces), 3))
        return "".join(f'data: {{"delta": "{part}"}}\n\n' for part in parts)

    texts = [stream(count) for count in (1, 20, 100, 400, 1_600)]
    _is_linear(lambda text: mask_body(text.encode()), texts)


@pytest.mark.timed
def test_a_megabyte_of_names_costs_seconds_at_most() -> None:
    text = "token=" * 170_000
    for does in (mask, lambda said: mask_body(said.encode()), lambda said: mask_value({"a": said})):
        assert _cost_s(does, text) < 20, "quadratic, it took 3 hours"


def test_what_is_not_judged_is_masked() -> None:
    """Behind an endless row of names, even a word counts as a secret."""
    masked = mask("token=innocentwords, " * 30_000)
    assert masked.startswith("token=innocentwords, ")
    assert masked.endswith(f"token={MASK}, ")


def test_what_is_too_long_is_masked_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.redaction.secret_patterns.SEARCHED_MOST_CHARS", 1_000)
    text = "it is a long day " * 100
    assert mask(text) == MASK
    assert [span.kind for span in spans(text)] == ["text too long to be searched"]
    assert mask(text[:900]) == text[:900]


@pytest.mark.parametrize("body", ["[" * 100_000, '{"a":' * 900 + "1" + "}" * 900])
def test_a_deep_body_is_masked(body: str) -> None:
    key = "glpat-" + "a1B2c3D4e5" * 2
    deep = f'{body[: len(body) // 2]} "{key}"'
    for said in (deep, f"data: {deep}", f'data: {{"a": {body}, "b": "{key}"}}'):
        assert key not in mask_body(said.encode()).decode()
        assert key not in mask_line(said.encode()).decode()


def test_a_value_without_an_end_is_masked() -> None:
    value: list[Any] = []
    value.append(value)
    assert MASK in str(mask_value({"a": value, "b": value}))
