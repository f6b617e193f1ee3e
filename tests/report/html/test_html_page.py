"""The file: nothing in it is taken for code, nothing leaves it, it stays small."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import msgspec
import pytest

from harness.checks.judge import rule_of
from harness.core.history.history import History
from harness.core.values.messages import user
from harness.core.values.verdict import Finding, Verdict
from harness.report.html import html_page
from harness.report.html.html_page import SCRIPTS, asset, in_order, page, page_part
from tests.report.fabricated import RUNS, history, summary
from tests.report.html.pages import HOSTILE, hostile, long_talk, many, unpacked

SCRIPT = re.compile(rb"<script\b([^>]*)>(.*?)</script>", re.DOTALL)


def test_the_policy_allows_the_one_script_and_the_one_style() -> None:
    data = many()
    (code,) = (body for kind, body in SCRIPT.findall(data) if b"module" in kind)
    (style,) = re.findall(rb"<style>(.*?)</style>", data, re.DOTALL)
    policy = re.search(rb'Content-Security-Policy" content="([^"]*)"', data)
    assert policy is not None
    said = policy[1].decode()
    assert said.startswith("default-src 'none'; ")
    for part in (code, style):
        assert f"'sha256-{b64encode(sha256(part).digest()).decode()}'" in said
    assert "unsafe" not in said


def test_no_text_of_a_run_stands_in_the_page_as_html() -> None:
    data = hostile()
    kinds = [kind.split(b" id=")[0] for kind, _ in SCRIPT.findall(data)]
    assert sorted(set(kinds)) == [b' type="module"', b' type="text/plain"']
    assert data.count(b"<script") == data.count(b"</script>") == 3
    for mark in ("<img", "onerror='", "<!-- ", "\u202e", "\u2028", "\x1b", "\x00"):
        assert mark.encode() not in data, mark
    assert unpacked(data, "index")["runs"][0]["name"] == HOSTILE


def test_the_code_never_reads_text_as_html_or_as_code() -> None:
    for name in SCRIPTS:
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "fetch(",
        ):
            assert word not in asset(name), f"{name} has {word}"


def test_a_page_is_the_same_for_the_same_runs() -> None:
    assert many() == many()


def test_each_run_has_its_details_at_its_place() -> None:
    data = many()
    index = unpacked(data, "index")
    assert [run["name"] for run in index["runs"]] == [run.name for run in RUNS]
    assert unpacked(data, "run-2")["events"][0]["event"] == "started"
    assert index["lacks"] == []


def test_what_fails_comes_first() -> None:
    assert [run.word for run in in_order(RUNS)] == [
        "fail", "unknown", "pass", "pass", "not_applicable",
    ]  # fmt: skip


def test_what_has_no_room_is_named_without_its_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_page, "PAGE_MAX_BYTES", 10)
    data = many()
    assert b'id="run-' not in data
    assert len(unpacked(data, "index")["runs"]) == len(RUNS)


def test_a_thousand_turns_fit_into_two_megabytes() -> None:
    run = msgspec.structs.replace(RUNS[0], name="long")
    data = b"".join(page("long", [page_part(run, long_talk(1000))]))
    assert len(unpacked(data, "run-0")["events"]) > 5000
    assert len(data) < 2_000_000


def test_the_texts_of_a_large_run_are_cut_until_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    made = History()
    made.started(run="a", scenario="a")
    for n in range(40):
        made.note(user("".join(chr(33 + (n * k * k) % 90) for k in range(9000))))
    monkeypatch.setattr(html_page, "RUN_MAX_BYTES", 60_000)
    assert 0 < len(page_part(RUNS[0], made).details) <= 60_000


def test_half_of_a_surrogate_pair_is_written_out() -> None:
    made = history()
    made.note(user("half \ud83d"))
    data = b"".join(page("half \ud83d", [page_part(RUNS[0], made)]))
    assert unpacked(data, "run-0")["messages"][-1]["blocks"][0]["text"] == "half \\ud83d"


def test_a_secret_stays_out_of_the_page() -> None:
    secret = "sk-" + "ant-api03-" + "Ab3dEf6hIj9kLm2nOp5q" * 4
    made = History()
    made.started(run="a", scenario="a")
    made.note(user(f"my key is {secret}"))
    data = b"".join(page("a", [page_part(RUNS[0], made)]))
    assert secret not in str(unpacked(data, "run-0"))


def test_without_javascript_the_causes_are_a_table() -> None:
    data = many().decode()
    said = data.partition("<noscript>")[2]
    assert "no_progress_stop.repeats" in said
    assert "1 fail, " in said


def test_each_finding_has_its_step_reason_and_source() -> None:
    finding = Finding("no_progress_stop.same_failure", "m")
    foreign = Finding("guest.rule", "m")
    run = summary("a", Verdict("fail", findings=(finding, foreign)))
    advice = unpacked(b"".join(page("t", [page_part(run)])), "index")["advice"]
    assert set(advice) == {"no_progress_stop.same_failure", "guest.rule"}
    assert advice["guest.rule"] == {}
    rule = rule_of("no_progress_stop.same_failure")
    assert advice["no_progress_stop.same_failure"] == {
        "step": "stop after a few failures, and say so",
        "keys": ["checks.no_progress_stop.repeats"],
        "reason": rule.reason,
        "source": rule.source,
    }
