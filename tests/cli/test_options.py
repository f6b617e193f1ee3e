"""Which engine `-j` and `--engine` choose, the same for every verb."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.cli.options import engine_named
from harness.engines import Serial
from harness.engines.local import Local


@pytest.mark.parametrize("workers", [None, 1])
def test_one_worker_is_this_process(workers: int | None) -> None:
    assert isinstance(engine_named("local", workers), Serial)


def test_several_workers_are_processes() -> None:
    engine = engine_named("local", 3)
    assert isinstance(engine, Local)
    assert engine.workers == 3


@pytest.mark.parametrize(
    "words",
    [
        ("judge", "agents.py"),
        ("run", "--target", "reference"),
        ("fuzz", "--target", "reference"),
    ],
    ids=lambda words: words[0],
)
def test_without_ray_every_verb_says_which_extra_to_install(
    folder: Path,
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SystemExit) as ended:
        main([*words, "--engine", "ray"])
    assert ended.value.code == 2
    assert "--engine ray: Ray is not installed: pip install" in capsys.readouterr().err
    assert not (folder / ".harness").exists()
