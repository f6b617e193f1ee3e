"""The summary for a pull request: bounded, and hostile text stays text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness.core.values.verdict import Finding, Verdict
from harness.core.values.visible_text import visible_line
from harness.report.media.markdown import COMMENT_MAX
from harness.report.media.markdown import document as markdown
from tests.report.fabricated import RUNS
from tests.report.fabricated import summary as run

HOSTILE = (
    "` ``` </details><img src=x onerror=alert(1)> | **bold** [a](javascript:b) @octocat #1\n# x"
)
OUR_HTML = ("<details>", "<summary>", "</summary>", "</details>", "<br>")


def failing(message: str, name: str = "a") -> object:
    """A failing run with this message."""
    return run(name, Verdict("fail", findings=(Finding("a.b", message),)))


def tokens(found: Sequence[Token]) -> Iterator[Token]:
    """All tokens of a document."""
    for token in found:
        yield token
        yield from tokens(token.children or ())


def parsed(text: str) -> list[Token]:
    """The tokens as GitHub sees them, nearly."""
    return list(tokens(MarkdownIt("gfm-like", {"linkify": False}).parse(text)))


@given(st.text(max_size=60) | st.just(HOSTILE))
def test_text_of_strangers_is_code_or_escaped(text: str) -> None:
    found = failing(text, name="x")
    made = msgspec.structs.replace(found, name=f"x/{text}", target=text, repeat=text)  # type: ignore[type-var]
    said = parsed(markdown([made]))
    html = "".join(t.content for t in said if t.type in ("html_inline", "html_block"))
    for tag in OUR_HTML:
        html = html.replace(tag, "")
    assert "<" not in html
    assert not {t.type for t in said} & {"link_open", "image", "em_open", "table_open", "s_open"}
    codes = [t.content for t in said if t.type == "code_inline"]
    assert " ".join(text.split()) == "" or any(visible_line(text).strip() in c for c in codes)
    assert not any("octocat" in t.content for t in said if t.type == "text")


def test_what_it_says() -> None:
    text = markdown(RUNS)
    assert text.startswith("## ✗ harness: 5 runs: 2 passed, 1 failed, 1 unknown, 1 not applicable")
    assert "- **1 run** `no_progress_stop.repeats`: `the call memory" in text
    assert text.count("<details>") == text.count("</details>") == 2


def test_all_pass() -> None:
    assert markdown(RUNS[:1]).startswith("## ✓ harness: 1 run: 1 passed\n")


@given(st.integers(1, 40), st.integers(0, 9000), st.sampled_from("aé😀`|"))
def test_it_is_bounded_and_says_what_is_cut(number: int, long: int, letter: str) -> None:
    runs = [failing(f"{n}{letter * long}", f"a/{n}") for n in range(number)]
    text = markdown(runs)  # type: ignore[arg-type]
    assert len(text) <= len(text.encode()) <= COMMENT_MAX
    shown = text.count("<details>")
    assert shown == number or "**Cut:** " in text
    assert text.count("<details>") == text.count("</details>")
