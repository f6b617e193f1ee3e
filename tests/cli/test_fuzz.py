"""`harness fuzz` as its user sees it: what is printed, files, exit statuses, kill and resume."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.cli.conftest import Harness, command, environment
from tests.cli.talks import REFERENCE

AGENT = '''\
"""The reference agent, and one that delivers each reply twice."""

from harness.agent import build
from harness.agent.gateway import Gateway


class TwoPaths(Gateway):
    def deliver(self, inbound, outcome):
        self.send(inbound, outcome)
        super().deliver(inbound, outcome)


def twice(brief):
    build(brief, gateway=TwoPaths).run()


def dying(brief):
    import ctypes

    ctypes.CDLL(None)._exit(7)
'''

PLAIN = "?client=plain"
FUZZ = ("fuzz", "--target", f"twice:twice{PLAIN}", "--seed", "5", "--workers", "1")


@pytest.fixture
def agent(folder: Path) -> Path:
    """The folder, with `twice.py` in it."""
    (folder / "twice.py").write_text(AGENT, "utf-8")
    return folder


def _files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (folder / "findings").iterdir()}


@pytest.mark.real
def test_findings_are_printed_written_and_repeated(agent: Path, harness: Harness) -> None:
    fuzzed = harness(*FUZZ, "--examples", "8", "--out", "night", "--json")
    assert fuzzed.returncode == 1, fuzzed.stderr
    *found, last = map(json.loads, fuzzed.stdout.splitlines())
    assert "seed 5" in fuzzed.stderr
    assert (last["seed"], last["verdict"], last["examples"]) == (5, "fail", 8)
    assert last["findings"] == len(found) >= 1
    row = next(r for r in found if r["code"] == "outbound_once.twice")
    assert row["repeat"] == f"harness run {row['file']} --target 'twice:twice{PLAIN}'"
    played = harness("run", row["file"], "--target", f"twice:twice{PLAIN}", "--json")
    assert played.returncode == 1
    assert "outbound_once.twice" in played.stdout
    assert harness("run", row["file"], "--target", REFERENCE).returncode == 0


@pytest.mark.real
def test_a_code_that_is_accepted_fails_nothing(agent: Path, harness: Harness) -> None:
    known = ("--examples", "8", "--baseline", "known.tsv")
    first = harness(*FUZZ, *known, "--update-baseline", "--out", "a", "--junit", "-")
    assert first.returncode == 0, first.stderr
    (suite,) = JUnitXml.fromstring(first.stdout.encode())
    name, *codes = [case.name for case in suite]
    assert (name, codes[0]) == ("campaign", "outbound_once.twice")
    assert f"baseline known.tsv: 0 accepted, {len(codes)} new, 0 gone; written" in first.stderr
    again = harness("fuzz", "--resume", "a", *known, "--json", "--markdown", "m.md")
    *_, campaign, last = map(json.loads, again.stdout.splitlines())
    assert (again.returncode, campaign["verdict"], campaign["findings"] > 0) == (0, "pass", True)
    assert last == {"version": 1, "accepted": len(codes), "new": [], "gone": []}
    text = (agent / "m.md").read_text("utf-8")
    results = 1 + len(codes)
    assert text.startswith(
        f"## ✓ harness: {results} results: {results} passed\n\nTarget `twice:twice?client=plain`"
    )


@pytest.mark.real
def test_a_profile_names_the_agent_and_the_summary_its_causes(
    agent: Path, harness: Harness
) -> None:
    (agent / "mine.toml").write_text(
        f'target = "twice:twice{PLAIN}"\nwires = ["openai-chat"]\n'
        "[capabilities]\nsession = false\nrestarts = false\n"
    )
    asked = ("fuzz", "--seed", "5", "--workers", "1", "--examples", "8", "--out", "night")
    fuzzed = harness(*asked, "--profile", "mine.toml")
    assert fuzzed.returncode == 1, fuzzed.stderr
    assert "--profile mine.toml" in fuzzed.stdout
    assert "examples  cause, and an example that shows it" in fuzzed.stdout
    assert "outbound_once.twice  (defect)" in fuzzed.stdout
    tests = [path.read_text() for path in (agent / "night" / "findings").glob("test_*.py")]
    assert all("profile='mine.toml')" in text for text in tests)
    assert harness("fuzz", "--resume", "night", "--profile", "mine.toml").returncode == 2


@pytest.mark.real
def test_a_campaign_is_gone_on_with_and_not_begun_twice(agent: Path, harness: Harness) -> None:
    first = harness(*FUZZ, "--examples", "8", "--out", "night")
    assert "found outbound_once.twice" in first.stdout
    assert "harness fuzz --resume night" in first.stdout
    again = harness(*FUZZ, "--out", "night")
    assert again.returncode == 2
    assert "--resume night" in again.stderr
    more = harness("fuzz", "--resume", "night", "--examples", "10", "--json")
    assert json.loads(more.stdout.splitlines()[-1])["examples"] == 10
    assert more.returncode == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "referense"), "no such target"),
        ((), "name the agent"),
        (("--target", REFERENCE, "--minutes", "1", "--examples", "3"), "either --examples"),
        (("--resume", "nowhere"), "no campaign here"),
        (("--resume", "nowhere", "--seed", "3"), "--seed: a resumed campaign keeps its own value"),
        (("--target", REFERENCE, "--engine", "cloud"), "cloud"),
        (("--target", REFERENCE, "--minutes", "0"), "--minutes"),
    ],
)
def test_wrong_words_are_an_error_and_begin_nothing(
    folder: Path, harness: Harness, words: tuple[str, ...], said: str
) -> None:
    asked = harness("fuzz", *words)
    assert asked.returncode == 2
    assert said in asked.stderr
    assert "Traceback" not in asked.stderr
    assert not (folder / ".harness").exists()


@pytest.mark.real
def test_an_agent_that_ends_its_process_is_named_and_never_passes(
    agent: Path, harness: Harness
) -> None:
    asked = harness("fuzz", "--target", "twice:dying", "--examples", "3", "--out", "night")
    assert asked.returncode == 1
    assert "target.crashed" in asked.stdout
    assert "ended in the middle of the run" in asked.stdout


@pytest.mark.real
@pytest.mark.parametrize(
    "how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.nightly)]
)
def test_what_is_killed_and_resumed_comes_to_the_same(
    agent: Path, harness: Harness, how: signal.Signals
) -> None:
    harness(*FUZZ, "--examples", "40", "--out", "whole")
    begun = subprocess.Popen(
        command(*FUZZ, "--examples", "40", "--out", "broken"),
        cwd=agent, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert begun.stdout is not None
    assert begun.stdout.readline().startswith("found "), "it is in the middle of its work"
    os.kill(begun.pid, how)
    _, said = begun.communicate(timeout=60)
    assert begun.returncode == (130 if how == signal.SIGINT else -9)
    assert how != signal.SIGINT or "harness fuzz --resume broken" in said
    harness("fuzz", "--resume", "broken", "--workers", "2", "--examples", "40")
    assert _files(agent / "broken") == _files(agent / "whole") != {}
    journals = [(agent / name / "campaign.jsonl").read_bytes() for name in ("broken", "whole")]
    assert sorted(journals[0].splitlines()) == sorted(journals[1].splitlines())


PROGRAM = """\
import json, os, pathlib, sys, urllib.request

BASE, FOLDER = os.environ["ANTHROPIC_BASE_URL"], pathlib.Path(os.environ["HARNESS_SESSION_DIR"])
rows = (FOLDER / "rows.jsonl").open("a")
while True:
    with urllib.request.urlopen(os.environ["HARNESS_INBOX_URL"]) as answer:
        if answer.status == 204:
            break
        text = json.loads(answer.read())["text"] if answer.status == 200 else ""
    if text:
        rows.write(json.dumps({"role": "user", "blocks": [{"type": "text", "text": text}]}) + "\\n")
        rows.flush()
        body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}
        head = {"x-api-key": "d", "anthropic-version": "2023-06-01"}
        asked = urllib.request.Request(BASE + "/v1/messages", json.dumps(body).encode(), head)
        urllib.request.urlopen(asked).close()
"""


@pytest.mark.real
def test_a_program_has_its_findings_on_disk_as_they_come(folder: Path, harness: Harness) -> None:
    (folder / "program.py").write_text(PROGRAM)
    absent = ["session", "cancel", "restarts", "store", "streaming", "outbox", "compaction"]
    rows = "".join(f"{name} = false\n" for name in absent)
    (folder / "mine.toml").write_text(f"[capabilities]\n{rows}")
    words = ("fuzz", "--target", "process:python3 program.py", "--seed", "1", "--out", "night",
             "--profile", "mine.toml", "--store", "jsonl:rows.jsonl", "--keep")  # fmt: skip
    begun = subprocess.Popen(command(*words), cwd=folder, env=environment(), text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    assert begun.stderr is not None
    seen = next(line for line in begun.stderr if line.startswith("seen "))
    there = folder / seen.split(": ")[1].strip()
    assert {p.name for p in there.iterdir()} == {
        f"{there.name}.yaml", "history.jsonl", "verdict.json", "session"
    }  # fmt: skip
    assert (there / "session" / "rows.jsonl").exists()
    begun.send_signal(signal.SIGINT)
    out, _ = begun.communicate(timeout=110)
    assert begun.returncode == 130
    assert re.search(r"[\d,]+ runs to shrink, [\d.]+ runs/s, ", out)
    repeated = [line for line in out.splitlines() if line.startswith("    harness run ")]
    assert repeated
    assert all("--profile mine.toml --store jsonl:rows.jsonl" in line for line in repeated)
    again = harness(*shlex.split(repeated[0])[1:])
    assert again.returncode == 1, again.stdout


@pytest.mark.real
def test_the_time_holds_for_a_program_that_hangs(folder: Path, harness: Harness) -> None:
    words = ("fuzz", "--target", "process:sleep 600", "--seed", "1", "--minutes", "0.05")
    done = harness(*words, "--out", "night")  # which the fixture would kill
    assert done.returncode == 3
    assert "no example ended" in done.stdout


@pytest.mark.real
def test_a_target_that_hangs_is_stopped_and_no_example_is_no_pass(
    folder: Path, harness: Harness
) -> None:
    words = ("fuzz", "--target", "agents:hanging", "--seed", "1", "--workers", "1")
    done = harness(*words, "--minutes", "0.01", "--out", "out")
    assert done.returncode == 3, done.stderr
    assert "target.computes" not in done.stdout, "its own limit comes 30 s later"
    assert "no example ended" in done.stdout


@pytest.mark.real
def test_failing_examples_of_ci_are_played_first_at_the_desk(agent: Path, harness: Harness) -> None:
    assert harness(*FUZZ, "--examples", "8", "--out", "ci").returncode == 1
    alone = ("--examples", "0", "--examples-from", "ci", "--json")
    played = harness(*FUZZ, *alone, "--out", "desk")
    *found, last = map(json.loads, played.stdout.splitlines())
    assert (played.returncode, last["examples"]) == (1, 0)
    assert last["taken_up"]["fails"] >= 1
    assert "outbound_once.twice" in {row["code"] for row in found}
    assert _files(agent / "ci").keys() >= {Path(row["file"]).name for row in found}
    fixed = harness("fuzz", "--target", REFERENCE, *alone, "--out", "right")
    assert fixed.returncode == 0, fixed.stderr
    assert json.loads(fixed.stdout)["taken_up"]["fails"] == 0
    assert "fixed" in fixed.stderr


def test_no_examples_need_a_place(agent: Path, harness: Harness) -> None:
    refused = harness(*FUZZ, "--examples", "0")
    assert refused.returncode == 2
    assert "--examples-from" in refused.stderr
    missing = harness(*FUZZ, "--examples-from", "none")
    assert missing.returncode == 2
    assert "none: cannot be read" in missing.stderr
