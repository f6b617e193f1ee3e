"""The HTML file: the data of the runs, the style and the code, in one stream of bytes.

Data stands in the page deflated, in base64, so no text of a model or tool can end its element.
A policy in the page forbids every request, and every script but the one whose hash it names.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from harness.cassettes.redaction import mask, mask_line
from harness.core.history.history import History
from harness.core.values.messages import Json, printable
from harness.core.values.table_file import package_text
from harness.core.values.verdict import VerdictWord
from harness.core.values.visible_text import visible_line
from harness.report.cause_tally import CauseTally
from harness.report.html.page_runs import PageRun, page_run
from harness.report.html.run_details import TEXT_MAX, run_details
from harness.report.run_summary import RunSummary, lacks

if TYPE_CHECKING:
    from jinja2 import Template

RUN_MAX_BYTES = 1_500_000
"""The most bytes of one run's details; the texts of a larger run are cut shorter."""

PAGE_MAX_BYTES = 24_000_000
"""The most bytes of details in a page; what comes after them is named without its events."""

SCRIPTS = (
    "dom.js", "data.js", "diff.js", "overview.js", "lanes.js", "exchange.js", "run.js", "page.js",
)  # fmt: skip
"""The code, in the order in which it is put together to one module."""

ORDER: tuple[VerdictWord, ...] = ("fail", "unknown", "pass", "not_applicable")
"""Whose details go into the page first."""


class PagePart(msgspec.Struct, frozen=True):
    """A run for a page: its summary, and its details as they stand in the file, "" without."""

    run: RunSummary
    details: str = ""


def page_part(run: RunSummary, history: History | None = None) -> PagePart:
    """A run for a page, with its events where the history is at hand."""
    return PagePart(run, _details(history) if history is not None else "")


def _details(history: History) -> str:
    """The details of a run, their texts cut until all of them fit."""
    text_max, packed = TEXT_MAX, pack(run_details(history))
    while len(packed) > RUN_MAX_BYTES and text_max > 50:
        text_max //= 8
        packed = pack(run_details(history, text_max))
    return packed if len(packed) <= RUN_MAX_BYTES else ""


def pack(value: Json) -> str:
    """A value as deflated JSON in base64, without secrets: a page is made to be shown around."""
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        data = msgspec.json.encode(printable(value))
    return b64encode(zlib.compress(mask_line(data), 9)).decode()


def page(title: str, parts: Iterable[PagePart]) -> Iterator[bytes]:
    """The page, piece by piece; only the summaries of the runs stay in memory."""
    runs: list[RunSummary] = []
    style, code = asset("page.css"), "\n".join(map(asset, SCRIPTS))
    pieces = template("page.html.jinja").generate(
        title=shown(title), style=style, code=code,
        style_hash=digest_of(style), code_hash=digest_of(code),
        details=_kept(parts, runs), index=lambda: pack(_index(title, runs)),
        totals=lambda: Counter(run.word for run in runs), causes=lambda: _causes(runs),
    )  # fmt: skip
    return (piece.encode("utf-8", "backslashreplace") for piece in pieces)


def _kept(parts: Iterable[PagePart], runs: list[RunSummary]) -> Iterator[tuple[int, str]]:
    """Yield the details with the place of their run, while there is room; keep the summaries."""
    size = 0
    for part in parts:
        size += len(part.details)
        if part.details and size <= PAGE_MAX_BYTES:
            yield len(runs), part.details
        runs.append(part.run)


def _index(title: str, runs: list[RunSummary]) -> Json:
    """What the first page is drawn from."""
    lost = [{"missing": x.name, "reason": x.reason, "runs": x.runs, "remedy": x.remedy}
            for x in lacks(runs)]  # fmt: skip
    shown: list[PageRun] = [page_run(run) for run in runs]
    return {"title": title, "runs": shown, "lacks": lost}


def _causes(runs: list[RunSummary]) -> list[tuple[str, int, str, str]]:
    """The causes for a reader without JavaScript: title, runs, message, a run."""
    return [
        (shown(group.title), group.runs, shown(group.finding.message), shown(group.example))
        for group in CauseTally.of(runs).groups()
    ]


def shown(text: str) -> str:
    """Text of strangers as it stands in a page: on one line, without secrets."""
    return visible_line(mask(text))


def in_order(runs: Iterable[RunSummary]) -> list[RunSummary]:
    """The runs as a page takes them: what fails first, for there may not be room for all."""
    return sorted(runs, key=lambda run: ORDER.index(run.word))


@cache
def asset(name: str) -> str:
    """A file of the page."""
    return package_text(__package__, name)


@cache
def template(name: str) -> Template:
    """A file of the page into which values are put, as text and never as HTML."""
    from jinja2 import Environment, StrictUndefined

    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return made.from_string(asset(name))


def digest_of(text: str) -> str:
    """The name by which a policy allows a script or a style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
