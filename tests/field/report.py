"""The report of the field: a page of the documentation, and a comparison as one HTML file.

Both are made of the kept results and of the confirmed findings, by the templates beside this file.
What was seen and not confirmed by hand is counted, and told as no more than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.catalogue import field_findings
from harness.core.values.table_file import package_text
from tests.field import judged, owners, upstream_reports
from tests.field.environments import ROOT, is_same, options_of, played, targets
from tests.field.overview import Overview, overview
from tests.field.playing import CLOSED, SAMPLE_REAL_S
from tests.field.results import Head, Results
from tests.field.templates import template

PAGE = ROOT / "docs" / "field" / "REPORT.md"
COMPARISON = ROOT / "build" / "field.html"


def write(results: Sequence[Results]) -> None:
    """Write the page, the comparison, the page for owners, and a text for each defect."""
    owners.write()
    upstream_reports.write()
    PAGE.write_text(page(results), encoding="utf-8")
    COMPARISON.parent.mkdir(exist_ok=True)
    COMPARISON.write_text(comparison(results), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}, {COMPARISON.relative_to(ROOT)}")


def page(results: Sequence[Results]) -> str:
    """The report as Markdown."""
    return _filled("report.md.jinja", results, is_html=False)


def comparison(results: Sequence[Results]) -> str:
    """The targets beside each other as a page that needs nothing else."""
    style = package_text("harness.report.html", "page.css")
    return _filled("report.html.jinja", results, is_html=True, style=style)


def _filled(name: str, results: Sequence[Results], is_html: bool, **more: Any) -> str:
    view: Overview = overview(results, field_findings(), judged.read())
    return template(name, is_html=is_html).render(
        view=view,
        closed=CLOSED,
        real_s=SAMPLE_REAL_S,
        not_played=sorted(not_played(results)),
        only={name: target.only for name, target in played().items() if target.only},
        left_out=view.left_out(),
        repeat_of=repeat_of,
        played_of=played_of,
        **more,
    )


def played_of(head: Head) -> str:
    """Of which scenarios the runs of a target are."""
    if head.plays == ("scenarios",) and not head.chosen:
        seed = f" (seed {head.seed})" if head.seed != 1 else ""
        return f"{head.drawn}{seed}" if head.drawn else "all"
    return (head.chosen or "all of ") + ", ".join(head.plays)


def not_played(results: Sequence[Results]) -> list[str]:
    """The targets that play scenarios and have no results."""
    return [*played().keys() - {each.head.target for each in results}]


def repeat_of(target: str, scenario: str, agent: str = "") -> str:
    """The command that plays a scenario on a target; "" for one that is not in the data file."""
    name = next((name for name in targets() if is_same(name, target)), "")
    if agent:
        return f"harness run {scenario} --target tests.field.frameworks.{name}:{agent}"
    if not name:
        return ""
    words = ("--target", name) if targets()[name].program else options_of(name)
    return " ".join(("harness run", scenario, *words))
