"""One seed is one history, byte for byte, across processes, hash seeds and workers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scenarios.all_runs import ROOT


def _histories(
    folder: str, out: Path, hash_seed: str, workers: int
) -> tuple[dict[str, bytes], str]:
    command = [sys.executable, "-m", "harness", "run", folder, "--target", "reference", "--json"]
    command += ["--wire", "anthropic", "-j", str(workers)]
    done = subprocess.run(
        [*command, "--out", str(out)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    files = sorted(out.rglob("history.jsonl"))
    return {str(f.relative_to(out)): f.read_bytes() for f in files}, done.stdout


SLOW = [pytest.param("poisoned", marks=pytest.mark.nightly), "store"]


@pytest.mark.real
@pytest.mark.parametrize("folder", ["gateway", *SLOW])
def test_histories_are_byte_identical(folder: str, tmp_path: Path) -> None:
    first, said = _histories(f"scenarios/{folder}", tmp_path / "a", "0", 1)
    second, said_again = _histories(f"scenarios/{folder}", tmp_path / "b", "4242", 2)
    assert len(first) > 20
    assert first == second
    assert said.replace(str(tmp_path / "a"), "") == said_again.replace(str(tmp_path / "b"), "")
