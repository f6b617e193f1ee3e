"""Logs of inspect_ai: one JSON object, or an archive (`.eval`) with a member for each sample.

A transcript is the final list of messages of a sample and epoch. Images stand once in
`attachments`, and messages refer to them. A log that was written without samples has none to read.
Source: inspect_ai.log, versions 2 and 3 of the format.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.errors import InputError, PackageMissing
from harness.core.values.messages import Json, ToolSpec
from harness.providers.openai_chat.framework_messages import recorded_messages
from harness.providers.openai_chat.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording, Refusal, Transcript, recording_of
from harness.recordings.zip_archive import MAGIC, ZipArchive

_ATTACHMENT = "attachment://"
_SAMPLES, _JOURNAL = "samples/", "_journal/"
_HEADERS = ("header.json", "_journal/start.json")
_NO_SAMPLES = "the log holds no samples: it was written without them, or none was finished"

_Found = Transcript | Refusal


def _is_inspect(data: bytes) -> bool:
    if data.startswith(MAGIC):
        return _JOURNAL.encode() in data or _SAMPLES.encode() in data
    value = f.mapping(json_documents.peek(data, b'"eval"', b'"status"'))
    return isinstance(value.get("eval"), dict) and ("samples" in value or "plan" in value)


@recognised_by(_is_inspect)
def inspect_ai(document: bytes) -> Recording:
    """inspect_ai log (.eval or JSON).

    A sample that cannot be read is a refusal. Raises InputError for a log without samples.
    """
    is_archive = document.startswith(MAGIC)
    found = list(_unpacked(ZipArchive(document)) if is_archive else _listed(document))
    if not found:
        raise InputError(_NO_SAMPLES, "line 1")
    return recording_of(found)


def _listed(document: bytes) -> Iterator[_Found]:
    log = f.mapping(json_documents.load(document))
    for number, sample in enumerate(f.listed(log.get("samples")), start=1):
        yield _sample(f.mapping(sample), f"sample {number}", _model(log))


def _unpacked(archive: ZipArchive) -> Iterator[_Found]:
    names = archive.names()
    header = next((name for name in _HEADERS if name in names), "")
    try:
        model = _model(f.mapping(f.parse(archive.read(header)))) if header else ""
    except PackageMissing:
        raise
    except InputError as error:
        raise InputError(f"its header is {error.what}", header) from None
    for name in names:
        if name.startswith(_SAMPLES) and name.endswith(".json"):
            yield _member(archive, name, model)


def _member(archive: ZipArchive, name: str, model: str) -> _Found:
    try:
        value = f.parse(archive.read(name))
    except PackageMissing:
        raise
    except InputError as error:
        return Refusal(name, f"a sample that is {error.what}")
    return _sample(value, name, model) if isinstance(value, dict) else Refusal(name, "not JSON")


def _model(log: dict[str, Json]) -> str:
    return f.text(f.mapping(log.get("eval")).get("model"))


def _sample(sample: dict[str, Json], place: str, model: str) -> _Found:
    attachments = f.mapping(sample.get("attachments"))
    rows = f.objects(_resolved(sample.get("messages"), attachments))
    if not rows:
        return Refusal(place, "a sample without messages")
    messages = tuple(recorded_messages(rows))
    choice = next(iter(f.objects(f.mapping(sample.get("output")).get("choices"))), {})
    stop, last = f.text(choice.get("stop_reason")), len(messages) - 1
    is_answer = messages[last].role == "assistant"
    return Transcript(
        name=f"sample {sample.get('id')}, epoch {sample.get('epoch')}",
        messages=messages,
        wire=RECORD.name,
        model=model,
        tools=_tools(sample),
        stops={last: stop} if stop and is_answer else {},
    )


def _resolved(value: Json, attachments: dict[str, Json]) -> Json:
    """A value with its attachments in their places."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [_resolved(part, attachments) for part in value]
    if isinstance(value, dict):
        return {name: _resolved(part, attachments) for name, part in value.items()}
    return value


def _tools(sample: dict[str, Json]) -> tuple[ToolSpec, ...]:
    """The tools that the first call of a model declares."""
    events = f.objects(sample.get("events"))
    declared = (f.objects(e.get("tools")) for e in events if e.get("event") == "model")
    return tuple(f.tool(tool) for tool in next(filter(None, declared), []))
