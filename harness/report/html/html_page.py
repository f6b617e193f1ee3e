"""The HTML file: the data of the runs, the style and the code, in one stream of bytes.

The data in the page is deflated base64, so no text of a model or tool can end its element. A policy
in the page forbids every request, and every script except the one whose hash it names.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from harness.checks.judge import rule_of
from harness.core.history.history import History
from harness.core.values.messages import Json
from harness.core.values.table_file import package_text
from harness.core.values.verdict import VerdictWord
from harness.core.values.visible_text import visible_line
from harness.redaction import encoder
from harness.redaction.encoder import encoded, json_bytes
from harness.report.command_summary import cause_title, headline, headline_of
from harness.report.html.page_runs import TEXT_MAX, PageRun, page_run, run_details
from harness.report.reach_lines import reach_lines
from harness.verdicts.command_events import Matrix
from harness.verdicts.reach import Reach
from harness.verdicts.result import Result, lacks, reach_of
from harness.verdicts.tallies import CauseTally

if TYPE_CHECKING:
    from jinja2 import Template

RUN_MAX_BYTES = 1_500_000
"""The most bytes of one run's details; the texts of a larger run are cut shorter."""

PAGE_MAX_BYTES = 24_000_000
"""The most bytes of details in a page; later runs are listed without their events."""

SCRIPTS = (
    "dom.js", "data.js", "diff.js", "matrices.js", "overview.js", "lanes.js", "exchange.js",
    "run.js", "page.js",
)  # fmt: skip
"""The code files, in the order in which they are joined into one module."""

ORDER: tuple[VerdictWord, ...] = ("fail", "unknown", "pass", "not_applicable")
"""The verdicts in the order in which their details go into the page."""


class PagePart(msgspec.Struct, frozen=True):
    """A run for a page: its summary, and its packed details, "" without details."""

    run: Result
    details: str = ""


def page_part(run: Result, history: History | None = None) -> PagePart:
    """Return a run for a page, with its events if there is a history."""
    return PagePart(run, _details(history) if history is not None else "")


def _details(history: History) -> str:
    """Return the packed details of a run, with texts cut until they fit."""
    text_max, packed = TEXT_MAX, pack(run_details(history))
    while len(packed) > RUN_MAX_BYTES and text_max > 50:
        text_max //= 8
        packed = pack(run_details(history, text_max))
    return packed if len(packed) <= RUN_MAX_BYTES else ""


def pack(value: Json) -> str:
    """Return a value as deflated JSON in base64. Secrets are removed, because users share pages."""
    return b64encode(zlib.compress(json_bytes(value), 9)).decode()


def page(
    title: str,
    parts: Iterable[PagePart],
    matrices: Sequence[Matrix] = (),
    reach: Reach | None = None,
) -> Iterator[bytes]:
    """Yield the page, piece by piece; only the summaries of the runs stay in memory.

    Without a `reach`, that of the runs is shown.
    """
    runs: list[Result] = []
    style, code = asset("page.css"), "\n".join(map(asset, SCRIPTS))
    pieces = template("page.html.jinja").generate(
        title=shown(title), style=style, code=code,
        style_hash=digest_of(style), code_hash=digest_of(code),
        details=_kept(parts, runs),
        index=lambda: pack(_index(title, runs, matrices, reach or reach_of(runs))),
        totals=lambda: Counter(run.word for run in runs), causes=lambda: _causes(runs),
        headline=lambda: _headline(runs),
    )  # fmt: skip
    return map(encoded, pieces)


def _kept(parts: Iterable[PagePart], runs: list[Result]) -> Iterator[tuple[int, str]]:
    """Yield the details with the position of their run, while there is room; keep the summaries."""
    size = 0
    for part in parts:
        size += len(part.details)
        if part.details and size <= PAGE_MAX_BYTES:
            yield len(runs), part.details
        runs.append(part.run)


def _index(title: str, runs: list[Result], matrices: Sequence[Matrix], reached: Reach) -> Json:
    """Return the data of the first page."""
    lost = [{"missing": x.name, "reason": x.reason, "runs": x.runs, "remedy": x.remedy}
            for x in lacks(runs)]  # fmt: skip
    shown: list[PageRun] = [page_run(run) for run in runs]
    tables: Json = msgspec.to_builtins(matrices)
    reach = list(reach_lines(reached))
    return {
        "title": title,
        "headline": _headline(runs),
        "runs": shown,
        "advice": {code: _advice(code) for code in _codes(runs)},
        "lacks": lost,
        "reach": reach,
        "matrices": tables,
    }


def _codes(runs: Iterable[Result]) -> list[str]:
    found = (each.code for run in runs for each in (*run.verdict.findings, *run.verdict.known))
    return list(dict.fromkeys(found))


def _advice(code: str) -> dict[str, Json]:
    """What to change for a finding of this code, why, and who reported it, as far as we know."""
    row = headline_of(code)
    told: dict[str, Json] = {"step": row.step, "keys": list(row.keys)} if row else {}
    try:
        rule = rule_of(code)
    except LookupError:  # what is about the run, and a plug-in's finding, has no row
        return told
    return {**told, "reason": rule.reason, "source": rule.source}


def _headline(runs: list[Result]) -> list[str]:
    words = Counter(run.word for run in runs)
    return [shown(line) for line in headline(CauseTally.of(runs), words)]


def _causes(runs: list[Result]) -> list[tuple[str, int, str, str]]:
    """Return the causes for a reader without JavaScript: title, runs, message, a run."""
    return [
        (shown(cause_title(group)), group.runs, shown(group.finding.message), shown(group.example))
        for group in CauseTally.of(runs).groups()
    ]


def shown(text: str) -> str:
    """Return an outside text for a page: on one line, without secrets."""
    return visible_line(encoder.shown(text))


def in_order(runs: Iterable[Result]) -> list[Result]:
    """Return the runs in page order: failing ones first, because the room is limited."""
    return sorted(runs, key=lambda run: ORDER.index(run.word))


@cache
def asset(name: str) -> str:
    """Return a file of the page."""
    return package_text(__package__, name)


@cache
def template(name: str) -> Template:
    """Return a template of the page; its values are inserted as text, never as HTML."""
    from jinja2 import Environment, StrictUndefined

    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return made.from_string(asset(name))


def digest_of(text: str) -> str:
    """Return the hash by which a policy allows a script or a style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
