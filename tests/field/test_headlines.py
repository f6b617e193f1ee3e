"""The table of the headlines: what a cell says, and that only the rows that are played change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.checks.judge import CHECKS
from harness.files.scenario_file import load_scenarios
from tests.field import headlines
from tests.field.environments import ROOT, targets
from tests.field.headlines import HEADLINES, OURS, Headline, cell, headlined

ASKED = Headline("a.yaml", "talk", "approval")


def _run(name: str, verdict: str, *codes: str, **reasons: str) -> dict[str, Any]:
    findings = [{"code": code, "class": "weakness", "follows": ""} for code in codes]
    lacks = [{"check": check, "reason": reason} for check, reason in reasons.items()]
    return {"name": name, "verdict": verdict, "findings": findings, "not_applicable": lacks}


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([_run("talk", "pass"), _run("talk@gemini+stream", "pass")], "pass"),
        ([_run("talk", "pass"), _run("talk+stream", "fail", "a.b")], "`a.b`"),
        ([_run("talk", "fail", "a.b"), _run("talk+stream", "fail", "a.b", "c.d")], "`a.b`, `c.d`"),
        ([_run("talk", "not_applicable", run="needs session, which the profile declares absent")],
         "n/a: session"),
        ([_run("talk", "pass", approval="not asked: no call that needs one")],
         "n/a: no call that needs one"),
        ([_run("talk", "pass", retry_budget="not asked: no failed request")], "pass"),
        ([_run("talk/other", "fail", "a.b"), _run("talker", "fail", "a.b")], "not played"),
        ([_run("talk", "unknown")], "unknown"),
    ],
)  # fmt: skip
def test_a_cell_is_the_verdict_or_the_reason(runs: list[dict[str, Any]], said: str) -> None:
    assert cell(ASKED, runs) == said


@pytest.mark.parametrize("head", HEADLINES)
def test_a_headline_is_a_run_of_the_catalogue_on_each_wire_and_a_check(head: str) -> None:
    file, run, check = HEADLINES[head]
    runs = [each for each in load_scenarios(ROOT / file) if headlines._is_of(each.run_name, run)]
    assert {each.wire for each in runs} >= {"anthropic", "openai-chat", "openai-responses"}
    assert check in CHECKS.all()


def test_every_connected_framework_and_every_program_has_a_row() -> None:
    wanted = {n for n, target in targets().items() if target.connected or target.program}
    assert {OURS, *wanted} <= {*headlined()}


def test_only_the_rows_of_what_is_played_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        f"Before.\n{headlines.BEGIN}|target|\n|---|\n|strands|kept|\n|codex|old|\n"
        f"{headlines.END}After.\n"
    )
    monkeypatch.setattr(headlines, "PAGE", page)

    def play(name: str) -> list[Any]:
        if name == "hermes":
            raise OSError("not installed")
        return [_run("allowed-payment@openai-responses", "pass")]

    monkeypatch.setattr(headlines, "_play", play)
    assert not headlines.main(["codex", "hermes"])
    made = page.read_text()
    assert made.startswith("Before.\n")
    assert made.endswith("After.\n")
    rows = [line.split("|")[1] for line in made.splitlines() if line.startswith("|")]
    assert rows == ["target", "---", "strands", "codex"]
    assert "|strands|kept|" in made
    assert "|codex|@openai/codex" in made
    assert "|pass|" in made
    assert "hermes: not played: not installed" in capsys.readouterr().err
