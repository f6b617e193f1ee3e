"""Bytes of any known format in, a recording out.

Content alone decides the format. Formats of plug-ins come first, in load order. The beginning of a
line log is enough, so the whole need not be in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from harness.core.values.errors import InputError
from harness.parts.loading import Plugin, loaded, unknown_name
from harness.recordings import json_documents, zip_archive
from harness.recordings.readers.atif import atif
from harness.recordings.readers.autogpt import autogpt
from harness.recordings.readers.chat import chat_json, chat_lines
from harness.recordings.readers.claude_code import claude_code
from harness.recordings.readers.claude_stream import claude_stream
from harness.recordings.readers.codex import codex
from harness.recordings.readers.har import har
from harness.recordings.readers.hermes import hermes
from harness.recordings.readers.history import history
from harness.recordings.readers.inspect_ai import inspect_ai
from harness.recordings.readers.intercode import intercode
from harness.recordings.readers.langfuse import langfuse, langfuse_lines
from harness.recordings.readers.moatless import moatless
from harness.recordings.readers.otel import otel
from harness.recordings.readers.pi import pi
from harness.recordings.readers.swe_agent import mini_swe_agent, swe_agent
from harness.recordings.readers.vcr import vcr
from harness.recordings.recording_format import Format, Reader, format_from, parts_of
from harness.recordings.transcripts import Recording

AUTO = "auto"
"""What stands in place of a format's name where the content is to say it."""

_OWN: tuple[Reader, ...] = (
    history, claude_stream, claude_code, codex, hermes, pi, langfuse, langfuse_lines, otel,
    vcr, har, atif, inspect_ai, swe_agent, mini_swe_agent, moatless, intercode, autogpt,
    chat_lines, chat_json,
)  # fmt: skip
"""Our formats in the order in which they are tried: chats, which fit most, come last."""

_HEAD_BYTES = 8192


def formats() -> Mapping[str, Format]:
    """The formats by their full names, in the order in which they are tried."""
    return _formats(loaded())


@cache
def _formats(plugins: tuple[Plugin, ...]) -> Mapping[str, Format]:
    guests = [kind for plugin in plugins for kind in parts_of(plugin).values()]
    return MappingProxyType({kind.name: kind for kind in (*guests, *map(format_from, _OWN))})


def format_named(name: str, place: str = "--format") -> Format:
    """The format of that name; InputError, with the nearest names, when there is none."""
    known = formats()
    if name not in known:
        raise InputError(f"no format is named {name!r}; {unknown_name(name, known)}", place)
    return known[name]


def format_of(document: bytes) -> str:
    """The name of the format of bytes; raises InputError when none recognises them."""
    found = next((kind for kind in formats().values() if kind.recognises(document)), None)
    if found is None:
        raise _unrecognised(document)
    return found.name


def _unrecognised(document: bytes) -> InputError:
    if json_documents.is_json(document) and not json_documents.is_lines(document):
        try:
            json_documents.load(document)
        except InputError as error:
            return error
    tried = ", ".join(f"{name} ({kind.title})" for name, kind in formats().items())
    return InputError("format not recognised", "line 1", more=f"tried {tried}")


def line_format(head: bytes, format: str = AUTO) -> str:
    """The name of the format of a file that is read line by line; "" for any other file.

    `head` holds the first line at least. Raises InputError for an unknown name, and for a head
    that is empty or binary.
    """
    asked = None if format == AUTO else format_named(format)
    if head.startswith((*json_documents.UTF16, zip_archive.MAGIC)):
        return ""
    _check_text(head)
    kind = asked or next((k for k in formats().values() if k.recognises(head)), None)
    return kind.name if kind is not None and kind.by_lines else ""


def read_lines(lines: Iterable[bytes], name: str, format: str) -> Recording:
    """A recording from its lines; raises InputError that names `name` and the line."""
    try:
        return format_named(format).read_lines(lines)
    except InputError as error:
        raise error.within(name) from None


def read(document: bytes, name: str = "", format: str = AUTO) -> Recording:
    """The recording that bytes hold; `format` is the name of a format, or `auto`.

    Raises InputError that names `name` and the place in it.
    """
    asked = None if format == AUTO else format_named(format)
    try:
        document = json_documents.as_utf8(document)
        if not document.startswith(zip_archive.MAGIC):
            _check_text(document)
        return asked.read(document) if asked else _recognised(document)
    except InputError as error:
        raise error.within(name) from None
    except RecursionError:
        raise InputError("nested too deeply", name) from None


def _recognised(document: bytes) -> Recording:
    for kind in formats().values():
        found = kind.attempt(document)
        if found is not None:
            return found
    raise _unrecognised(document)


def _check_text(data: bytes) -> None:
    if not data.strip():
        raise InputError("the file is empty", "line 1")
    at = data.find(b"\0", 0, _HEAD_BYTES)
    if at >= 0:
        line = data.count(b"\n", 0, at) + 1
        raise InputError("binary data", f"line {line}", more=f"byte {at} is zero")
