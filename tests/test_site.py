"""The site that `make docs` builds loads nothing from another host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.documents import ROOT

SITE = ROOT / "build" / "site"
APART = ("decisions", "reports")
"""Folders whose pages no reader walks through: a page, or a table, names each of them."""

LOADED = ("src", "srcset", "data", "poster")
"""Attributes whose address a browser loads by itself."""

_ELSEWHERE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_IN_STYLE = re.compile(r"(?:@import\s*|url\(\s*)[\"']?((?:https?:)?//[^\"')\s;]+)")
_IN_SCRIPT = re.compile(r"(?:import|fetch|importScripts|Worker)\s*\(?\s*[\"'`](https?://[^\"'`]+)")


class _Loads(HTMLParser):
    """The addresses that a page loads by itself; a link that a reader follows does not."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            loads = name in ("src", "srcset", "data", "poster") or (
                tag == "link" and name == "href"
            )
            if loads and value and _ELSEWHERE.match(value):
                self.found.append(value)


def loads(path: Path) -> list[str]:
    """What a file of the site asks of other hosts."""
    text = path.read_text("utf-8", "replace")
    found = _IN_STYLE.findall(text) + _IN_SCRIPT.findall(text)
    if path.suffix == ".html":
        page = _Loads()
        page.feed(text)
        found += page.found
    return found


def _files() -> Iterator[Path]:
    for suffix in ("html", "css", "js", "svg"):
        yield from SITE.rglob(f"*.{suffix}")


def test_each_form_of_a_request_is_seen(tmp_path: Path) -> None:
    forms = {
        "a.html": '<script src="https://a.example/x.js"></script>',
        "b.html": '<link rel="stylesheet" href="//a.example/x.css">',
        "c.html": "<style>@import 'https://a.example/x.css'</style>",
        "d.css": "p { background: url( https://a.example/x.png ) }",
        "e.js": 'const a = await fetch("https://a.example/x.json")',
        "f.html": '<img srcset="https://a.example/x.png 2x">',
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text, "utf-8")
        assert loads(tmp_path / name), name
    page = tmp_path / "link.html"
    page.write_text('<a href="https://a.example">read</a><img src="../a.png">', "utf-8")
    assert loads(page) == []


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    left = [str(p) for p in pages if f"({p})" not in index and p.parent.name not in APART]
    assert left == ["index.md"], "the navigation of the site is made of the links of docs/index.md"


@pytest.mark.skipif(not SITE.exists(), reason="make docs builds the site, and runs this test")
def test_the_site_asks_no_other_host() -> None:
    pages = list(_files())
    assert any(page.suffix == ".html" for page in pages)
    assert {str(page.relative_to(SITE)): loads(page) for page in pages if loads(page)} == {}
