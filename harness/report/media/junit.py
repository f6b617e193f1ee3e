"""Runs as JUnit XML: a suite is a scenario, a case is a run.

The schema of Jenkins has properties only for suites, so the facts of a run are in `system-out`.
`time` is real time, because CI servers add and compare it. The time of the run's own clock is
`virtual_s` in `system-out`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from harness.checks.judge import rules
from harness.core.values.visible_text import visible
from harness.redaction.encoder import Encoded, shown
from harness.report.run_report import block
from harness.verdicts.command_events import CommandStarted
from harness.verdicts.result import Result

WIDTH = 100
_NO_XML = re.compile("[\ufffe\uffff]")
"""The characters that XML forbids, beside the control characters."""


def junit(results: Sequence[Result], command: CommandStarted) -> Iterator[str]:
    """Runs as JUnit XML, for CI servers: a suite is a scenario, a case is a run."""
    yield Encoded(document(results).decode())


def document(runs: Sequence[Result]) -> bytes:
    """Return the document of these runs, in the order of their scenarios."""
    root = ElementTree.Element("testsuites", {"name": "harness", **_numbers(runs, skipped=False)})
    suites: dict[str, list[Result]] = {}
    for run in runs:
        suites.setdefault(run.scenario, []).append(run)
    for scenario, played in suites.items():
        _suite(root, scenario, played)
    ElementTree.indent(root)
    data: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return data


def _numbers(runs: Sequence[Result], skipped: bool = True) -> dict[str, str]:
    words = [run.word for run in runs]
    numbers = {
        "tests": len(runs),
        "failures": words.count("fail"),
        "errors": words.count("unknown"),
    }
    if skipped:
        numbers["skipped"] = words.count("not_applicable")
    said = {name: str(number) for name, number in numbers.items()}
    return said | {"time": _seconds(sum(run.real_s for run in runs))}


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _suite(root: ElementTree.Element, scenario: str, runs: Sequence[Result]) -> None:
    values = {"name": xml_text(scenario), **_numbers(runs)}
    suite = ElementTree.SubElement(root, "testsuite", values)
    first = runs[0]
    if first.file:
        suite.set("file", xml_text(first.file))
    properties = ElementTree.SubElement(suite, "properties")
    for name in ("title", "target", "world"):
        value = xml_text(str(getattr(first, name)))
        ElementTree.SubElement(properties, "property", name=name, value=value)
    for run in runs:
        _case(suite, run)


def _case(suite: ElementTree.Element, run: Result) -> None:
    name, scenario = xml_text(run.label), xml_text(run.scenario)
    case = ElementTree.SubElement(
        suite, "testcase", name=name, classname=scenario, time=_seconds(run.real_s)
    )
    verdict = run.verdict
    if run.word == "fail":
        first = verdict.failing[0]
        _end(case, "failure", first.code, first.message, block(run, WIDTH))
    elif run.word == "unknown":
        _end(case, "error", "unknown", "; ".join(verdict.doubts), block(run, WIDTH))
    elif run.word == "not_applicable":
        reasons = [each.reason for each in verdict.not_applicable if each.check == "run"]
        _end(case, "skipped", "not_applicable", "; ".join(reasons), "")
    ElementTree.SubElement(case, "system-out").text = xml_text("\n".join(_facts(run)))


def _end(case: ElementTree.Element, tag: str, kind: str, message: str, text: str) -> None:
    values = {"type": xml_text(kind), "message": xml_text(" ".join(message.split()))}
    ElementTree.SubElement(case, tag, values).text = xml_text(text) or None


def _facts(run: Result) -> list[str]:
    """Return the facts of a run for which a JUnit case has no field."""
    facts = {
        "wire": run.wire,
        "stream": str(run.stream).lower() if run.wire else "",
        "seed": str(run.seed) if run.world else "",
        "outcome": run.verdict.outcome,
        "checks": _asked(run),
        "virtual_s": _seconds(run.virtual_s) if run.world == "simulate" else "",
        "history": run.history,
        "repeat": run.repeat,
    }
    return [f"{name}: {value}" for name, value in facts.items() if value]


def _asked(run: Result) -> str:
    """Return how many checks passed, and how many met nothing to judge; "" for a run not played."""
    lacks = run.verdict.not_applicable
    left = [n for n in lacks if n.kind == "unasked" and n.check not in rules()]
    passed = len(run.verdict.passed)
    return f"{passed} passed, {len(left)} not asked" if passed or left else ""


def xml_text(text: str) -> str:
    """Return a text with the characters that XML forbids written as escapes."""
    return _NO_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(shown(text)))
