"""The compact form as a recording: it is judged as the cassette is that it was made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cassettes.cassette_file import parse_cassette
from harness.core.values.errors import InputError
from harness.files.recording_file import read_any_recording
from harness.recordings.readers import compact
from harness.recordings.recognition import format_named, format_of, read
from tests.recordings.cassettes import DIALECTS

WHOLE = [name for name, data in DIALECTS.items() if b"version" in data or b"recorded_with" in data]
"""Those that end as their writer ends them, so that they can be converted."""


def compacted(data: bytes) -> bytes:
    """A cassette in the compact form."""
    return b"".join(compact.encode_cassette(parse_cassette(data)))


@pytest.mark.parametrize("name", WHOLE)
def test_it_says_what_the_cassette_says(name: str, tmp_path: Path) -> None:
    data = compacted(DIALECTS[name])
    assert format_of(data) == "compact"
    found, told = read(data), format_named("vcr").read(DIALECTS[name])
    assert found.format == "compact"
    assert (found.transcripts, found.refusals) == (told.transcripts, told.refusals)
    path = tmp_path / "named.anyhow"
    path.write_bytes(data)
    assert read_any_recording(path) == found


def test_a_torn_file_is_refused_with_its_line() -> None:
    data = compacted(DIALECTS[WHOLE[0]])
    torn = data[: data.rindex(b'{"kind":"end"')]
    with pytest.raises(InputError, match="torn: the last line does not end the cassette"):
        format_named("compact").read(torn)
    half = data[: len(data) // 2]
    with pytest.raises(InputError, match="line "):
        format_named("compact").read(half)
