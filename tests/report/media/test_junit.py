"""JUnit XML that CI servers read: the shape of Jenkins' schema, read back by another library."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from junitparser import JUnitXml

from harness.core.values.verdict import Finding, Verdict
from harness.report.media.junit import document as junit
from harness.report.media.junit import xml_text
from tests.report.fabricated import RUNS
from tests.report.fabricated import summary as run

SHAPE = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "time", "skipped", "file"},
        {"properties", "testcase"},
    ),
    "properties": (set(), {"property"}),
    "property": ({"name", "value"}, set()),
    "testcase": ({"name", "time", "classname"}, {"failure", "error", "skipped", "system-out"}),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
    "skipped": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}
"""The attributes and children of each element, of those that Jenkins' schema allows."""


def test_each_run_is_a_case_of_its_scenario() -> None:
    read = JUnitXml.fromstring(junit(RUNS))
    assert (read.tests, read.failures, read.errors) == (5, 1, 1)
    suites = {suite.name: suite for suite in read}
    assert [*suites] == ["empty-inputs", "identical-failures"]
    cases = {case.name: case for case in suites["identical-failures"]}
    assert [*cases] == ["baseline", "varying-arguments+stream", "overloaded", "slow"]
    (failure,) = cases["varying-arguments+stream"].result
    assert failure.type == "no_progress_stop.repeats"
    assert failure.message.startswith("the call memory")
    assert "repeat:  harness run" in failure.text
    assert not cases["baseline"].result
    assert cases["overloaded"].result[0].message == "check x crashed"
    assert cases["slow"].result[0].message == "needs virtual time"
    said = {p.name: p.value for p in suites["identical-failures"].properties()}
    assert said["target"] == "my.agent:agent"
    assert "seed: 7" in cases["baseline"].system_out


def test_real_time_is_the_time_and_virtual_time_a_fact() -> None:
    timed = msgspec.structs.replace(RUNS[0], real_s=1.25, virtual_s=3600.0)
    (suite,) = JUnitXml.fromstring(junit([timed]))
    (case,) = suite
    assert case.time == suite.time == 1.25
    assert "virtual_s: 3600.000" in case.system_out


def test_runs_of_a_scenario_that_are_apart_are_one_suite() -> None:
    read = JUnitXml.fromstring(junit([RUNS[1], RUNS[0], RUNS[3]]))
    assert [suite.tests for suite in read] == [2, 1]


@given(st.text(), st.text())
def test_any_text_makes_a_document_of_the_schema(name: str, message: str) -> None:
    found = Verdict("fail", findings=(Finding("a.b", message),))
    made = msgspec.structs.replace(run("x", found), name=name, scenario=name, title=message)
    root = ElementTree.fromstring(junit([made]))
    for element in root.iter():
        attributes, children = SHAPE[element.tag]
        assert set(element.attrib) <= attributes
        assert {child.tag for child in element} <= children
        assert re.fullmatch(r"\d+\.\d{3}", element.get("time", "0.000"))
    assert root[0].get("name") == xml_text(name)
