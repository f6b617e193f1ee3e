"""Runs as a log of Inspect AI: JSON, or the archive `.eval` with a member for each sample.

A session of a run is a sample with its last conversation: what the model was shown last, and its
answer. The verdict is its score. Ids and times follow from the runs, and the archive's members have
no date, so two exports are equal byte by byte.

Messages have one row for each result, and calls apart from the content. Inspect takes an object
alone for the arguments of a call. Arguments of another type stand in `parse_error`, where Inspect
keeps what its own models write wrongly. A part that it has no word for is kept as JSON text.
Source: inspect_ai.log, version 2 of the format; inspect_ai.model, `ChatMessage`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from harness.clock.virtual_clock import EPOCH_S
from harness.core.history.exchanges import Exchange
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    side,
)
from harness.core.values.plans import WINDOW_FULL
from harness.core.values.verdict import VerdictWord
from harness.redaction.encoder import json_bytes, json_document, json_line
from harness.report.exports.call_spans import provider
from harness.report.exports.exported_run import ExportedRun

_VERSION, _EPOCH, _SCORER = 2, 1, "harness"
_BEGUN = datetime.fromtimestamp(EPOCH_S, UTC).isoformat()

_STOPS = {
    "end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls",
    "max_tokens": "max_tokens", "refusal": "content_filter", WINDOW_FULL: "model_length",
}  # fmt: skip
"""The reasons for an end in Inspect's words, by those of the core."""

_VALUES: dict[VerdictWord, str] = {"pass": "C", "fail": "I"}
"""The values of a score: correct, incorrect; N, no answer, for the other verdicts."""


def inspect_log(runs: Sequence[ExportedRun]) -> bytes:
    """The log of runs as a JSON document."""
    samples = _samples(runs)
    return json_document({**_header(runs, samples), "samples": samples})


def inspect_archive(runs: Sequence[ExportedRun]) -> bytes:
    """The log of runs as an archive."""
    samples = _samples(runs)
    header, written = _header(runs, samples), BytesIO()
    start = {name: header[name] for name in ("version", "eval", "plan")}
    members: dict[str, Json] = {"_journal/start.json": start}
    for sample in samples:
        members[f"samples/{sample['id']}_epoch_{_EPOCH}.json"] = sample
    members["summaries.json"] = list(map(_summary, samples))
    members["header.json"] = header
    with ZipFile(written, "w", ZIP_DEFLATED) as archive:
        for name, value in members.items():
            entry = ZipInfo(name)
            entry.compress_type, entry.external_attr = ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, json_bytes(value))
    return written.getvalue()


def _samples(runs: Sequence[ExportedRun]) -> list[dict[str, Json]]:
    return [_sample(run, session) for run in runs for session in run.sessions]


def _header(runs: Sequence[ExportedRun], samples: list[dict[str, Json]]) -> dict[str, Json]:
    digest = blake2b(b"".join(run.digest for run in runs), digest_size=16)
    tasks = {run.head.scenario or run.name for run in runs}
    ids = [sample["id"] for sample in samples]
    dataset = {"name": "loop-harness", "samples": len(samples), "sample_ids": ids}
    return {
        "version": _VERSION,
        "status": "success",
        "eval": {
            "eval_id": digest.hexdigest(),
            "run_id": digest.hexdigest(),
            "created": _BEGUN,
            "task": tasks.pop() if len(tasks) == 1 else "loop-harness",
            "task_id": digest.hexdigest(),
            "dataset": dataset,
            "model": next(filter(None, (_model(run) for run in runs)), "none/none"),
            "config": {"epochs": _EPOCH},
            "packages": {"loop-harness": _packaged(runs)},
            "scorers": [{"name": _SCORER}],
        },
        "plan": {"name": "plan", "steps": []},
        "results": _results(samples),
        "stats": {"started_at": _BEGUN, "completed_at": _BEGUN, "model_usage": {}},
    }


def _packaged(runs: Sequence[ExportedRun]) -> str:
    return next((run.head.version for run in runs), "")


def _results(samples: list[dict[str, Json]]) -> dict[str, Json]:
    right = sum(sample["scores"][_SCORER]["value"] == "C" for sample in samples)
    share = right / len(samples) if samples else 0.0
    metric = {"name": "accuracy", "value": share}
    score = {"name": _SCORER, "scorer": _SCORER, "metrics": {"accuracy": metric}}
    return {
        "total_samples": len(samples),
        "completed_samples": len(samples),
        "scores": [score],
    }


def _sample(run: ExportedRun, session: str) -> dict[str, Json]:
    last = _last(run, session)
    said = _conversation(run, last)
    id_ = run.id("sample", session, size=8)
    name = run.name if len(run.sessions) == 1 else f"{run.name}/{session}"
    rows = list(messages_of(said, id_))
    asked = (d.inbound.text for d in run.history.trace.deliveries if d.inbound.session == session)
    return {
        "id": f"{name}-{id_}",
        "epoch": _EPOCH,
        "input": next(asked, ""),
        "target": "",
        "messages": rows,
        "output": _output(last, rows),
        "scores": {_SCORER: _score(run)},
        "metadata": {**_metadata(run), "session": session},
        "uuid": run.id("uuid", session, size=11),
        "started_at": _BEGUN,
        "events": [],
    }


def _last(run: ExportedRun, session: str) -> Exchange | None:
    """The last request of a session that can be read, and that asks for the turn's own answer."""
    own = (e for e in run.history.trace.exchanges if e.called.session == session)
    found = [e for e in own if e.purpose == "main" and not e.request.unread]
    return found[-1] if found else None


def _conversation(run: ExportedRun, last: Exchange | None) -> Iterator[Message]:
    if last is None:
        return
    system = run.history.values.get(last.request.system)
    if system:
        yield Message("system", (Text(system),))
    yield from last.node.messages
    if last.reply is not None:
        yield last.reply


def _output(last: Exchange | None, rows: list[dict[str, Json]]) -> dict[str, Json]:
    model = last.request.model if last else ""
    if last is None or last.reply is None:
        return {"model": model, "choices": []}
    choice = {"message": rows[-1], "stop_reason": _STOPS.get(last.stop or "", "unknown")}
    return {"model": model, "choices": [choice]}


def _score(run: ExportedRun) -> dict[str, Json]:
    verdict = run.verdict
    said = [*map(str, verdict.findings), *(f"doubt: {doubt}" for doubt in verdict.doubts)]
    codes = [finding.code for finding in verdict.findings]
    return {
        "value": _VALUES.get(verdict.verdict, "N"),
        "answer": verdict.outcome,
        "explanation": "\n".join(said) or verdict.verdict,
        "metadata": {"verdict": verdict.verdict, "findings": codes},
    }


def _metadata(run: ExportedRun) -> dict[str, Json]:
    head = run.head
    said = {"run": run.name, "scenario": head.scenario, "target": head.target}
    compactions = len(run.history.trace.compactions)
    return {**said, "world": head.world, "seed": head.seed, "compactions": compactions}


def _summary(sample: dict[str, Json]) -> dict[str, Json]:
    names = ("id", "epoch", "input", "target", "scores", "metadata", "uuid", "started_at")
    said = {name: sample[name] for name in names}
    return {**said, "completed": True, "message_count": len(sample["messages"])}


def _model(run: ExportedRun) -> str:
    """The first model that the agent asked, behind its provider as Inspect names it."""
    first = next(iter(run.history.trace.exchanges), None)
    if first is None:
        return ""
    return f"{provider(first.called.provider)}/{first.request.model}"


def messages_of(said: Iterable[Message], sample: str) -> Iterator[dict[str, Json]]:
    """The rows of messages; the ids follow from that of the sample."""
    names: dict[str, str] = {}
    number = 0
    for message in said:
        names.update({use.id: use.name for use in message.tool_uses})
        for row in _rows(message, names):
            number += 1
            yield {"id": f"{sample}-{number}", **row}


def _rows(message: Message, names: dict[str, str]) -> Iterator[dict[str, Json]]:
    yield from (_result(result, names) for result in message.tool_results)
    rest = [b for b in message.blocks if not isinstance(b, (ToolResult, ToolUse))]
    uses = message.tool_uses
    if not (rest or uses) and message.tool_results:
        return
    role = side(message)
    row: dict[str, Json] = {"role": "user" if role == "tool" else role, "content": _content(rest)}
    yield {**row, "tool_calls": list(map(_call, uses))} if uses else row


def _content(blocks: Sequence[Block]) -> Json:
    """A text alone, or a list of parts."""
    if all(isinstance(block, Text) for block in blocks) and len(blocks) < 2:
        return "".join(block.text for block in blocks if isinstance(block, Text))
    return list(map(_part, blocks))


def _part(block: Block) -> dict[str, Json]:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(text):
            hidden = bool(block.redacted)
            signed = block.redacted or block.signature or None
            return {"type": "reasoning", "reasoning": text, "signature": signed, "redacted": hidden}
        case Opaque():
            return {"type": "text", "text": str(json_line(block.value))}
    return {"type": "text", "text": str(json_line(block))}


def _call(use: ToolUse) -> dict[str, Json]:
    row: dict[str, Json] = {"id": use.id, "function": use.name, "type": "function"}
    if isinstance(use.input, dict):
        return {**row, "arguments": use.input}
    return {**row, "arguments": {}, "parse_error": f"not an object: {json_line(use.input)}"}


def _result(result: ToolResult, names: dict[str, str]) -> dict[str, Json]:
    content = result.content
    row: dict[str, Json] = {
        "role": "tool",
        "content": content if isinstance(content, str) else list(map(_part, content)),
        "tool_call_id": result.id,
        "function": names.get(result.id),
    }
    failed = {"type": "unknown", "message": result.text}
    return {**row, "error": failed} if result.is_error else row
