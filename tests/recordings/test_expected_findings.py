"""Every recording of the corpus is judged: these have findings, and every other one has none.

`expected_findings.tsv` names each file that has some, with its codes and how often each stands
there. A line more is a new false alarm or a defect that was missed; `python -m
tests.recordings.test_expected_findings` writes the file again; read it before you commit it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cli.judge_task import JudgeTask, judge_file

LIST = Path(__file__).with_name("expected_findings.tsv")
FILES = 2138
_BESIDE = Path(__file__).parents[3] / "shared" / "corpus"
_NO_RECORDING = frozenset({"README.md", "MANIFEST.tsv"})


def _corpus() -> Path:
    return Path(os.environ.get("LOOP_HARNESS_CORPUS") or _BESIDE)


def _recordings(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and (path.parent != folder or path.name not in _NO_RECORDING)
    )


def _expected() -> dict[str, Counter[str]]:
    """The findings of each file that has some, by its path in the corpus."""
    listed: dict[str, Counter[str]] = {}
    for line in LIST.read_text("utf-8").splitlines():
        name, code, count = line.split("\t")
        listed.setdefault(name, Counter())[code] = int(count)
    return listed


def _found(folder: Path) -> Iterator[tuple[str, Counter[str]]]:
    """The findings of every file."""
    for path in _recordings(folder):
        judged = judge_file(JudgeTask(path=str(path)))
        codes = (f.code for t in judged.results for f in t.verdict.findings)
        assert not any(why.reason == "the reader failed" for why in judged.refusals), path
        yield path.relative_to(folder).as_posix(), Counter(codes)


def test_the_list_is_in_order_and_names_a_file_and_code_once() -> None:
    rows = [line.split("\t")[:2] for line in LIST.read_text("utf-8").splitlines()]
    assert rows == sorted(rows)
    assert len({tuple(row) for row in rows}) == len(rows) > 50
    assert all(sum(codes.values()) > 0 for codes in _expected().values())


@pytest.mark.real
def test_the_findings_of_the_corpus_are_those_of_the_list() -> None:
    folder = _corpus()
    if not folder.is_dir():
        pytest.skip("no corpus of recordings: set LOOP_HARNESS_CORPUS to its folder")
    found = dict(_found(folder))
    assert len(found) == FILES
    assert {name: codes for name, codes in found.items() if codes} == _expected()


def main() -> None:
    """Write the list again."""
    rows = [(name, code, n) for name, codes in _found(_corpus()) for code, n in codes.items()]
    LIST.write_text("".join(f"{name}\t{code}\t{n}\n" for name, code, n in sorted(rows)), "utf-8")


if __name__ == "__main__":
    main()
