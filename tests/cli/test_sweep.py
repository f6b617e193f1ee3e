"""`harness sweep` as its user sees it: the certificate, exit statuses, findings, resume, verify."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.talks import Command
from tests.sweep.agents import CAREFUL, ONE_QUESTION, SORRY_TWICE

FAULTS = ("--faults", "http.server_error", "--faults", "http.credit_too_low")


@pytest.fixture
def question(folder: Path) -> Path:
    """The folder of the command, with the scenario in it."""
    (folder / "one.yaml").write_text(ONE_QUESTION, "utf-8")
    return folder


def sweep_words(target: str, *words: str, out: str = "swept") -> tuple[str, ...]:
    """The words that sweep the question."""
    return ("sweep", "one.yaml", "--target", target, "--out", out, *FAULTS, "-j", "1", *words)


@pytest.mark.real
def test_a_careful_agent_gets_a_complete_certificate(in_process: Command, question: Path) -> None:
    done = in_process(*sweep_words(CAREFUL))
    assert done.status == 0, done.err
    assert "complete: 0 findings" in done.out
    assert "4 cases: 4 held" in done.out
    text = (question / "swept/certificate.txt").read_text("utf-8")
    assert done.out.startswith(f"{text}reached: ")
    assert len(done.out.removeprefix(text).splitlines()) <= 6
    again = in_process(*sweep_words(CAREFUL, out="again"))
    assert again.status == 0
    for name in ("cases.jsonl", "certificate.json", "certificate.txt", "results.jsonl"):
        assert (question / "again" / name).read_bytes() == (question / "swept" / name).read_bytes()
    assert in_process("sweep", "--verify", "swept").status == 0


@pytest.mark.real
def test_a_sweep_without_a_layer_of_faults_fails_by_its_reach(
    in_process: Command, question: Path
) -> None:
    required = ("--require-reached", "http.*", "--require-reached", "sse.*")
    done = in_process(*sweep_words(CAREFUL, *required))
    assert done.status == 1
    assert "complete: 0 findings" in done.out
    assert done.err.count("never reached, and required: sse.*") == 1
    assert "required: http.*" not in done.err


def test_a_sweep_refuses_a_required_name_that_nothing_has(
    in_process: Command, question: Path
) -> None:
    done = in_process(*sweep_words(CAREFUL, "--require-reached", "htp.*"))
    assert done.status == 2
    assert not (question / "swept").exists()


@pytest.mark.real
def test_a_finding_has_a_scenario_that_fails(in_process: Command, question: Path) -> None:
    done = in_process(*sweep_words(SORRY_TWICE, "--json"))
    assert done.status == 1, done.err
    (row,) = map(json.loads, done.out.splitlines())
    (found,) = [one for one in row["found"] if one["finding"]["code"] == "outbound_once.twice"]
    assert (row["complete"], found["cases"], found["faults"]) == (True, 2, 1)
    assert found["fault"] == "http.credit_too_low at main/model#1"
    file = f"swept/{found['file']}"
    assert (question / file).read_text("utf-8").count("http.credit_too_low") == 1
    again = in_process("run", file, "--target", SORRY_TWICE)
    assert again.status == 1
    assert "outbound_once.twice" in again.out
    assert in_process("run", file, "--target", CAREFUL).status == 0


@pytest.mark.real
def test_what_was_not_played_goes_on(in_process: Command, question: Path) -> None:
    assert in_process(*sweep_words(CAREFUL)).status == 0
    folder = question / "swept"
    whole, told = (
        (folder / "results.jsonl").read_bytes(),
        (folder / "certificate.json").read_bytes(),
    )
    (folder / "results.jsonl").write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    done = in_process("sweep", "--resume", "swept", "-j", "1")
    assert done.status == 0, done.err
    assert (folder / "results.jsonl").read_bytes() == whole
    assert (folder / "certificate.json").read_bytes() == told


@pytest.mark.real
def test_a_history_that_was_changed_is_told(in_process: Command, question: Path) -> None:
    assert in_process(*sweep_words(CAREFUL)).status == 0
    (question / "swept/histories/000/000002.jsonl.gz").unlink()
    done = in_process("sweep", "--verify", "swept")
    assert done.status == 1
    assert done.out.splitlines()[-1].startswith("differs in complete, ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--resume", "swept", "--target", CAREFUL), "keeps its own value"),
        (("--resume", "swept", "--only", "*"), "--only: a sweep that exists keeps its own value"),
        (("--resume", "swept", "--k", "2"), "--k: a sweep that exists keeps its own value"),
        (("--verify", "swept", "--junit", "x.xml"), "--junit: --verify plays nothing"),
        (("--resume", "nowhere"), "no sweep here"),
        (("--verify", "nowhere"), "no sweep here"),
        (("one.yaml", "--target", CAREFUL, "--faults", "htp.*"), "no fault has such a name"),
        (("one.yaml", "--target", CAREFUL, "--faults", "tools.endless"), "only a scenario can"),
        (("one.yaml", "--target", CAREFUL, "--all-pairs"), "--all-pairs: pairs come with --k 2"),
        (("one.yaml", "--target", CAREFUL, "--orders", "--faults", "http.*"), "plays no faults"),
        (("one.yaml",), "name the agent"),
    ],
)
def test_a_wrong_word_is_named(
    in_process: Command, question: Path, words: tuple[str, ...], said: str
) -> None:
    done = in_process("sweep", *words)
    assert done.status == 2
    assert said in done.err


def test_a_folder_with_a_sweep_is_kept(in_process: Command, question: Path) -> None:
    (question / "swept").mkdir()
    (question / "swept/cases.jsonl").write_text("{}\n", "utf-8")
    done = in_process(*sweep_words(CAREFUL))
    assert done.status == 2
    assert "continue it with --resume swept" in done.err
