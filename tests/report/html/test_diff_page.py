"""The page of a diff: text from outside is text, nothing leaves it, secrets stay out."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import msgspec

from harness.report.html.diff_page import diff_page
from harness.results.run_diff import Diff, NotCompared
from tests.report.fabricated import run_diff

HOSTILE = "a/<script>alert(1)</script>\x1b[31m"


def whole(diff: Diff) -> str:
    """The page as text."""
    return b"".join(diff_page(diff)).decode()


def test_the_page_names_what_differs() -> None:
    text = whole(Diff("one", "two", (run_diff(),), (NotCompared("x", "missing", "only in A"),)))
    assert "<h1>one → two: 1 run compared: it differs; 1 not compared</h1>" in text
    assert '<code class="c-defect">no_progress_stop.repeats</code>' in text
    assert "run.undelivered</code>" not in text
    assert "<td>tool memory: amount 1500 → 15</td>" in text
    assert "<tr><td>x</td><td>only in A</td></tr>" in text


def test_text_of_strangers_is_no_html_and_no_secret() -> None:
    run = run_diff(HOSTILE, "<b>.x")
    secret = "sk-ant-api03-" + "a1B2" * 23
    run = msgspec.structs.replace(run, beside=(f"model: m → {secret}",))
    text = whole(Diff("<one>", "two", (run,)))
    for mark in ("<script", "<b>", "<one>", "\x1b", secret):
        assert mark not in text


def test_the_policy_allows_the_style_alone() -> None:
    text = whole(Diff("one", "two", (run_diff(),)))
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    assert f"style-src 'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" in text
    assert "default-src 'none'; style-src" in text
