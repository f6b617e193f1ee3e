"""How Sphinx builds the site: `make docs`. The pages are the Markdown files of this repository.

The navigation is `docs/index.md`: each heading there is a part, and each link below it is a page.
Pages load nothing from another host: the theme brings its fonts, styles and scripts.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

project = "loop-harness"
copyright = "loop-harness contributors"
extensions = ["myst_parser"]

# The root of the repository is the root of the site, so that a link between pages works in both.
root_doc = "docs/index"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**"]
exclude_patterns = [
    ".*",
    *(p.name for p in Path(__file__).parents[1].iterdir() if p.is_dir() and p.name != "docs"),
]

myst_heading_anchors = 5
myst_enable_extensions = ["deflist"]
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "loop-harness"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"footer_icons": [], "top_of_page_buttons": []}


def navigate(app: Sphinx, page: str, source: list[str]) -> None:
    """Make the navigation from the links of the index."""
    if page == root_doc:
        parts = re.split(r"^## ", source[0], flags=re.MULTILINE)[1:]
        source[0] += "".join(_tree(*part.split("\n", 1)) for part in parts)


def _tree(caption: str, text: str) -> str:
    pages = re.findall(r"\]\(([^)#]+)\.md\)", text)
    return "\n".join(["\n```{toctree}", f":caption: {caption}", ":hidden:", "", *pages, "```\n"])


def begin(app: Sphinx, error: Exception | None) -> None:
    """Lead from the folder of the site to its first page."""
    page = '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html">'
    (Path(app.outdir) / "index.html").write_text(page + "\n", "utf-8")


def setup(app: Sphinx) -> None:
    """Register the two steps of our own."""
    app.connect("source-read", navigate)
    app.connect("build-finished", begin)
