"""The laws of a recording format.

Formats read torn, interleaved and foreign files, so they may raise only `InputError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.laws import drawing, law, part_named
from harness.core.history.history import encode
from harness.core.values.errors import InputError
from harness.recordings import Format, Recording, counts, to_history
from harness.recordings.recognition import FORMATS
from harness.stores.plain_tables import tables_in

STRANGERS = (b"", b"\n", b"{}", b"[]", b"null", b"hello\n", b"a: 1\n", b"\xff\xfe\x00", b'"text"\n')
"""Documents that are not recordings."""


def check_format(
    format: Format | Callable[..., Recording | None],
    *documents: bytes,
    examples: int | None = None,
) -> None:
    """Raise AssertionError, with a plain sentence, for a law that a format breaks.

    `format` is the function, or a format of `harness.recordings.formats()`; `documents` are
    complete files that it reads, at least one. Those of a format with `tables` are databases.
    """
    known = format if isinstance(format, Format) else part_named(format, FORMATS)
    law(bool(documents), f"{known.name}: give a document that it reads")
    for document in documents:
        _check_document(known, document)
    for stranger in STRANGERS:
        if stranger not in documents:
            is_stranger = _attempted(known, stranger) in (None, "refused")
            law(is_stranger, f"{known.name} reads {stranger!r}, which is not a recording")

    @drawing(examples)
    @given(damaged(documents))
    def holds(document: bytes) -> None:
        _attempted(known, document)
        _read(known, document)

    holds()


def damaged(documents: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    """Documents that are cut, joined, or changed in some of their bytes."""
    whole, part = st.sampled_from(documents), st.floats(0, 1, allow_nan=False)
    return st.one_of(
        st.builds(_first_lines, whole, st.integers(0, 5), st.booleans()),
        st.builds(_cut, whole, part),
        st.builds(
            lambda one, a, two, b: _cut(one, a) + two[len(_cut(two, b)) :], whole, part, whole, part
        ),
        st.builds(_spliced, whole, part, st.binary(max_size=6), st.integers(0, 40)),
    )


def _first_lines(document: bytes, most: int, ends: bool) -> bytes:
    """The first lines of a document; the last of them may lack its line feed."""
    lines = b"".join(_lines(document)[:most])
    return lines if ends else lines.removesuffix(b"\n")


def _cut(document: bytes, part: float) -> bytes:
    return document[: round(part * len(document))]


def _spliced(document: bytes, part: float, put: bytes, taken: int) -> bytes:
    """A document with some of its bytes replaced."""
    at = round(part * len(document))
    return document[:at] + put + document[at + taken :]


def _check_document(known: Format, document: bytes) -> None:
    recording = _attempted(known, document)
    law(isinstance(recording, Recording), f"{known.name} does not read a document that it gets")
    assert isinstance(recording, Recording)
    has_some = recording.history is not None or any(t.messages for t in recording.transcripts)
    law(has_some, f"{known.name} reads a document, and there is no message in it")
    said = _contents(recording)
    again = _contents(_attempted(known, document))
    law(again == said, f"{known.name} reads the same document differently each time")
    named = _contents(_read(known, document))
    law(named == said, f"{known.name} reads the document differently if it is named")
    if known.by_lines:
        lines = _lines(document)
        same = _contents(known.read_lines(iter(lines))) == said
        law(same, f"{known.name} reads the document differently line by line")


def _contents(found: Recording | str | None) -> object:
    """The content of a recording, as a comparable value."""
    if not isinstance(found, Recording) or found.history is None:
        return found
    return msgspec.structs.replace(found, history=None), encode(found.history.events)


def _lines(document: bytes) -> list[bytes]:
    """The lines of a document, each with its line feed; the last one may lack it."""
    return [line for line in re.split(rb"(?<=\n)", document) if line]


def _attempted(known: Format, document: bytes) -> Recording | str | None:
    return _guarded(known, partial(_tables, known) if known.by_tables else known.attempt, document)


def _tables(known: Format, document: bytes) -> Recording | None:
    with tables_in(document) as tables:
        return known.read_tables(tables)


def _read(known: Format, document: bytes) -> Recording | str | None:
    found = (
        _attempted(known, document) if known.by_tables else _guarded(known, known.read, document)
    )
    what = f"{known.name} is named for a file that it cannot read, and gives no reason"
    law(known.by_tables or found is not None, what)
    return found


def _guarded(
    known: Format, work: Callable[[bytes], Recording | None], document: bytes
) -> Recording | str | None:
    """A recording, None, or "refused"; any other outcome breaks a law."""
    try:
        found = work(document)
    except InputError as error:
        failed = error.what.startswith(f"the format {known.name} failed")
        law(not failed, error.what)
        law(bool(error.what.strip()), f"{known.name} refuses a document without a reason")
        law("\n" not in str(error), f"{known.name} refuses with more than a line: {str(error)!r}")
        return "refused"
    except Exception as error:
        law(False, f"{known.name} raises {type(error).__name__}: {error}")
    if isinstance(found, Recording):
        _check_judged(known, found)
    return found


def _check_judged(known: Format, recording: Recording) -> None:
    names = [transcript.name for transcript in recording.transcripts]
    law(len(names) == len(set(names)), f"{known.name}: two transcripts have one name")
    for transcript in recording.transcripts:
        try:
            to_history(transcript)
            counts(transcript)
        except Exception as error:
            what = f"{known.name}: the transcript {transcript.name} cannot be judged"
            law(False, f"{what}: {type(error).__name__}: {error}")
