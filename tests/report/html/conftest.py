"""A browser for the page: one a module, in which nothing may fail and nothing may leave."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.html import pages

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a browser; without one a test is skipped, but fails where `CI` is set."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None and os.environ.get("CI"):
        pytest.fail("no browser: install chromium-headless-shell or chromium")
    return path or pytest.skip(f"none of {', '.join(BROWSERS)} is installed")


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """The browser; it ends with the module, for its loop must not run beside other tests."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of this module, by name."""
    folder = tmp_path_factory.mktemp("pages")
    made = {"one": pages.one, "many": pages.played, "hostile": pages.hostile, "long": pages.long,
            "rewritten": pages.rewritten, "swept": pages.swept, "nulls": pages.nulls}  # fmt: skip
    for name, write in made.items():
        (folder / f"{name}.html").write_bytes(write())
    return {name: folder / f"{name}.html" for name in made}


@pytest.fixture
def opened(browser: Any, files: dict[str, Path]) -> Iterator[Open]:
    """Open a page at an address; at the end nothing was said on the console, nothing has left."""
    contexts, wrong = [], []

    def open_page(name: str, address: str = "", width: int = 1440, scheme: str = "light") -> Any:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: wrong.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        url = files[name].as_uri()
        page.on("request", lambda sent: sent.url.startswith(url) or wrong.append(sent.url))
        page.goto(f"{url}{address}")
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
