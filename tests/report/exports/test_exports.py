"""All forms: no secret in any of them, and one run gives one document, byte for byte."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import pytest

from harness.core.values.messages import ToolUse
from harness.core.values.verdict import Finding, Verdict
from harness.report.exports import FORMATS, OF_ONE_RUN, export
from harness.report.exports.exported_run import ExportedRun, numbered
from tests.report.exports.made_runs import RunMaker, failing_run

SECRET = "sk-ant-api03-" + "Zx81kQpw7LmN2vBt" * 3
WORD = "hunter2-Kestrel-99"


def _with_secrets() -> ExportedRun:
    """A run in which the user, the model, a tool, the agent and a finding say a secret."""
    made = RunMaker(target=f"agent?key={SECRET}")
    made.comes("main", 1, f"Use {SECRET}.")
    use = ToolUse("t1", "login", {"password": WORD, "key": SECRET})
    made.asks("main", 1, use, say=f"I use {SECRET}.")
    made.runs("main", 1, use, f"welcome, {SECRET}", fails=True)
    made.asks("main", 1, ToolUse("t2", "login", [SECRET]))
    made.tells("main", 1, f"I used {SECRET}.")
    found = Finding("key_kept.told", f"the reply holds {SECRET}", (5,), "defect")
    return made.ended(Verdict("fail", "completed", (found,), doubts=(f"seen {SECRET}",)))


@pytest.mark.parametrize("form", FORMATS)
def test_no_form_holds_a_secret(form: str) -> None:
    data = export([_with_secrets()], form)
    assert SECRET.encode() not in data
    assert WORD.encode() not in data


def test_the_archive_holds_none_either() -> None:
    with ZipFile(BytesIO(export([_with_secrets()], "inspect", archive=True))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    assert [name for name, data in members.items() if SECRET.encode() in data] == []
    assert [name for name, data in members.items() if WORD.encode() in data] == []
    assert not any(SECRET in name for name in members)


@pytest.mark.parametrize("form", FORMATS)
def test_two_exports_are_equal_and_another_run_is_not(form: str) -> None:
    run = failing_run()
    (again,) = numbered([(run.history, run.verdict)])
    data = export([run], form)
    assert export([again], form) == data
    assert export([_with_secrets()], form) != data


@pytest.mark.parametrize("form", sorted(set(FORMATS) - OF_ONE_RUN))
def test_two_runs_are_more_than_one(form: str) -> None:
    both = export([failing_run(), _with_secrets()], form)
    assert b"made/variant" in both
    assert both.count(b"key_kept.told") > export([failing_run()], form).count(b"key_kept.told")


def test_runs_of_equal_content_keep_apart_and_their_ids_are_stable() -> None:
    run = failing_run()
    one, other = numbered([(run.history, run.verdict)] * 2)
    assert one.trace_id("main") == run.trace_id("main") != other.trace_id("main")
    assert (len(one.trace_id("main")), len(one.span_id("main", 1))) == (32, 16)
