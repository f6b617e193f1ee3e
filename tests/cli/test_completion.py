"""Completion in the shell, by the code that the shells' scripts call, and in a real bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from harness import providers
from harness.cli import COMPLETE
from harness.cli.verbs import VERBS, harness
from harness.faults import faults
from harness.schema import FILES


def completed(*words: str) -> set[str]:
    """What completes the last word."""
    shell = BashComplete(harness, {}, "harness", COMPLETE)
    return {item.value for item in shell.get_completions([*words[:-1]], words[-1])}


def test_verbs_and_options() -> None:
    assert completed("") == set(VERBS)
    assert completed("ex") == {"explain", "export"}
    assert {"--wire", "--world"} <= completed("run", "--w")
    assert completed("run", "--fail-on", "") == {"defect", "weakness", "advice"}


def test_wires_checks_lists_and_schemas() -> None:
    assert completed("run", "--wire", "") == {*providers.names(), "all"}
    assert "no_progress_stop" in completed("judge", "--check", "no_")
    assert completed("list", "fa") == {"faults"}
    assert completed("schema", "") == set(FILES)


def test_names_after_the_mark() -> None:
    assert "@loops" in completed("run", "@lo")
    assert "@loops/circles" in completed("run", "@loops/ci")
    assert "@loops/circles" in completed("copy", "@loops/ci")


def test_codes_faults_rules_settings_and_keys() -> None:
    kinds = {kind for kind in faults() if kind.startswith("transport.re")}
    assert kinds <= completed("explain", "transport.re")
    assert "V11" in completed("explain", "V1")
    assert "valid_request.G3" in completed("explain", "valid_request.G")
    assert "http.status.retry_after" in completed("explain", "http.status.r")
    assert "backoff.cap_s" in completed("explain", "backoff.")
    assert "limits.model_calls" in completed("explain", "limits.m")
    assert "no_progress_stop.cycle" in completed("shrink", "x.yaml", "--keep", "no_progress_stop.c")


def test_profiles_and_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "harness.toml").write_text("[profiles.mine]\nkeep = true\n")
    (tmp_path / "my_agent.py").write_text("")
    assert {"mine", "harness.toml"} <= completed("run", "--profile", "")
    assert completed("run", "--target", "my") == {"my_agent:"}
    assert completed("run", "--target", "re") == {"reference"}
    assert {"naive", "codex", "http://"} <= completed("run", "--target", "")
    (tmp_path / "harness.toml").write_text("[profiles")
    assert completed("run", "--profile", "mi") == set(), "a broken file is not a traceback"


@pytest.mark.real
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    done = _harness(f"{shell}_source")
    assert done.returncode == 0, done.stderr
    assert "COMP_WORDS" in done.stdout
    if program := shutil.which(shell):
        assert subprocess.run([program, "-n"], input=done.stdout, text=True).returncode == 0


@pytest.mark.real
def test_a_real_bash_completes(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    (tmp_path / "harness").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harness "$@"\n')
    (tmp_path / "harness").chmod(0o755)
    script = (
        'eval "$(_HARNESS_COMPLETE=bash_source harness)"\n'
        "COMP_WORDS=(harness run --wire ge); COMP_CWORD=3; _harness_completion harness\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    paths = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run([bash, "--norc", "-c", script], capture_output=True, text=True,
                          env={**os.environ, "PATH": paths}, timeout=60)  # fmt: skip
    assert done.stdout.split() == ["gemini"], done.stderr


def _harness(instruction: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "harness"], capture_output=True, text=True,
                          env={**os.environ, COMPLETE: instruction}, timeout=60)  # fmt: skip
