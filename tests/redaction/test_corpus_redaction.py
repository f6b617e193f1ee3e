"""Real recordings, where they are available: redaction changes no body that holds no secret.

What the corpus does hold, by the text before it: signatures of Azure's URLs, cookies of a content
network, and the password of a puzzle. See `test_corpus` for where the corpus is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cassettes.cassette_file import parse_cassette
from harness.core.values.errors import InputError
from harness.redaction.masking import MASK, mask_body
from harness.redaction.secret_scan import suspects
from tests.cassettes.test_corpus import _BESIDE

SECRETS = {
    "signature": "&sig=",
    "cookie": '"set-cookie","value":"',
    "password": "password = '",
}
_STEP = 29
_FALSE_SHARE = 1 / 10_000


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """All recordings of the corpus, of every format."""
    if not _BESIDE.is_dir():
        pytest.skip("no corpus of recordings beside the project")
    found = sorted(path for path in _BESIDE.rglob("*") if path.is_file())
    return [path for path in found if path.parent != _BESIDE]


def _bodies(path: Path) -> Iterator[bytes]:
    """The bodies of a cassette, the lines of a log, or a whole file."""
    data = path.read_bytes()
    if path.suffix == ".jsonl":
        yield from data.splitlines()
        return
    try:
        if "vcr_yaml" not in path.parts:
            raise InputError("no cassette")
        for item in parse_cassette(data).interactions:
            yield from filter(None, (item.request_body, item.response_body))
    except InputError:
        yield data


def _counted(files: list[Path]) -> Counter[str]:
    """How many bodies there are, and how many lose a secret of each kind, or something else."""
    counts: Counter[str] = Counter()
    for body in (body for path in files for body in _bodies(path)):
        masked = mask_body(body)
        counts["bodies"] += 1
        counts["stopped"] += bool(list(suspects([(1, "body", masked.decode("utf-8", "replace"))])))
        if masked != body:
            before = masked.decode("utf-8", "replace").split(MASK)[:-1]
            kinds = {next((k for k, s in SECRETS.items() if s in b[-60:]), "else") for b in before}
            counts.update(kinds)
    return counts


def _check(counts: Counter[str]) -> None:
    assert counts["else"] <= counts["bodies"] * _FALSE_SHARE, counts
    assert counts["stopped"] <= 1, counts


def test_some_bodies_stay_as_they_are(files: list[Path]) -> None:
    _check(_counted(files[::_STEP]))


@pytest.mark.real
@pytest.mark.nightly
def test_all_bodies_without_secrets_stay_as_they_are(files: list[Path]) -> None:
    counts = _counted(files)
    assert counts["bodies"] > 13_000
    assert (counts["signature"], counts["cookie"], counts["password"]) == (10, 37, 1)
    _check(counts)
