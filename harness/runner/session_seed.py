"""The stored session before the first message of the inbox.

Another agent's file gives only the messages that its next request would have, not compacted ones.
The session goes into the harness's store, and into `seed.jsonl` for agents with their own store.
There a fault at rest is in the seed: a row that is missing, doubled or invalid is so in any store.
What is wrong with the file, the disk or a write is of the harness's own store alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from harness import faults
from harness.core.history.past import Past
from harness.core.scenario.scenario import FaultSpec, Scenario, SeedMessage
from harness.core.scenario.script import block_from
from harness.core.transition.arming import seam_of
from harness.core.transition.ports import Moment
from harness.core.values.calls import Call, StoreRequest
from harness.core.values.draws import Draws
from harness.core.values.errors import InputError
from harness.core.values.messages import Block, Message, Text
from harness.core.values.plans import Plan, Send
from harness.files.regular_file import check_regular, whole
from harness.recordings.transcripts import Transcript
from harness.stores.opening import Reader, reader_named

SESSION_MAX_BYTES = 32 * 1024 * 1024
"""The most bytes of a session file that is read whole."""


def seed_messages(scenario: Scenario) -> list[Message]:
    """Return the messages that are stored before the first inbound one, as faults at rest leave
    those of an agent with its own store.

    Raises InputError for a session file that cannot be read.
    """
    return _with_rows(scenario, _said_before(scenario))


def _said_before(scenario: Scenario) -> list[Message]:
    session = scenario.session
    if session.file is None:
        return [_message(m) for m in session.messages]
    path = scenario_path(scenario, session.file)
    return _reader(session.format or "jsonl", scenario.name)(path)


def _reader(format: str, name: str) -> Callable[[Path], list[Message]]:
    if format in _CONTEXTS:
        return _CONTEXTS[format]
    return partial(_rows, reader_named(format, f"{name}: session.format"))


def _rows(reader: Reader, path: Path) -> list[Message]:
    check_regular(path)  # a store reader treats a missing file as an empty store
    try:
        return [message for _, message in reader(path).read()]
    except InputError as error:
        raise error.within(str(path)) from None
    except Exception as error:
        what = f"not a session of this format: {type(error).__name__}: {error}"
        raise InputError(what, str(path)) from None


_OF_ROWS = frozenset(
    f"persistence.{name}"
    for name in (
        "large_session", "rows_out_of_order", "row_duplicated", "row_missing", "assistant_first",
        "orphan_result", "unanswered_call", "duplicate_call_ids", "blank_message",
        "trailing_assistant", "half_stream",
    )
)  # fmt: skip


def laid(scenario: Scenario) -> tuple[FaultSpec, ...]:
    """The faults that the seed holds: () for an agent that may use the harness's store, or has no
    session, and where another fault of the store needs that one."""
    profile = scenario.profile
    if profile.declares("store") is not False or profile.declares("session") is False:
        return ()
    found = tuple(spec for spec in scenario.faults if _seam(spec) == "store")
    return found if all(spec.kind in _OF_ROWS and spec.when == 1 for spec in found) else ()


def _seam(spec: FaultSpec) -> str:
    return seam_of(spec.on or faults.by_kind(spec.kind).on)


def _with_rows(scenario: Scenario, messages: Sequence[Message]) -> list[Message]:
    """The messages of the seed, as the faults at rest leave them."""
    found = list(messages)
    for spec in laid(scenario):
        function = faults.arm(spec, scenario.name, wire=scenario.wire).function
        call = Call("main/store#1", "store", 1, "main", 0, 0, StoreRequest("open", access="open"))
        moment = Moment(call, Past(), Draws(scenario.seed), 1)
        plan: Plan = tuple(Send(_record(message)) for message in found)
        plan = function(moment, plan, **spec.settings)
        found = [_read(step.data) for step in plan if isinstance(step, Send)]
    return found


def _record(message: Message) -> bytes:
    return msgspec.json.encode({"fact": "row", "session": "main", "message": message}) + b"\n"


class _Row(msgspec.Struct):
    message: Message


def _read(record: bytes) -> Message:
    return msgspec.json.decode(record, type=_Row).message


def scenario_path(scenario: Scenario, name: str) -> Path:
    """Return the path of a file that a scenario names, from its folder or the working directory.

    Raises InputError if it is, links followed, below neither the scenario's folder nor one of
    `files_from`. A scenario made in Python has no folder and may name any file.
    """
    place = f"{scenario.name}: {name}"
    try:
        near = Path(scenario.folder, name)
        path = next((path for path in (near, Path(name)) if path.exists()), near)
        real = path.resolve()
    except (OSError, ValueError, RuntimeError):
        raise InputError("not a path of a file", place) from None
    allowed = (scenario.folder, *scenario.files_from)
    if scenario.folder and not any(real.is_relative_to(Path(f).resolve()) for f in allowed):
        raise InputError(_OUTSIDE, place)
    return path


_OUTSIDE = (
    "outside the scenario's folder; the key `files-from` of your configuration can allow its "
    "folder: docs/scenario.md#files"
)


def _message(message: SeedMessage) -> Message:
    if isinstance(message.content, str):
        blocks: tuple[Block, ...] = (Text(message.content),) if message.content else ()
        return Message(message.role, blocks)
    return Message(message.role, tuple(block_from(dict(b)) for b in message.content))


def write_seed(folder: Path, messages: Sequence[Message]) -> None:
    """Write the initial session as `seed.jsonl`, one message a line."""
    if messages:
        lines = b"".join(msgspec.json.encode(m) + b"\n" for m in messages)
        (folder / "seed.jsonl").write_bytes(lines)


def _messages(path: Path) -> list[Message]:
    lines = enumerate(whole(path, SESSION_MAX_BYTES).split(b"\n"), start=1)
    return [_line(line, f"{path}:{number}") for number, line in lines if line.strip()]


def _line(line: bytes, place: str) -> Message:
    try:
        return msgspec.json.decode(line, type=Message)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no message: {error}", place) from None


def _claude_code(path: Path) -> list[Message]:
    """Return the live messages of a log's first session, without those of sub-agents."""
    from harness.files.recording_file import read_recording

    return _context(path, read_recording(path, "claude_code").transcripts[:1])


def _hermes(path: Path) -> list[Message]:
    """Return the active messages of the newest session, because a compaction may begin one."""
    from harness.files.recording_file import read_any_recording

    return _context(path, read_any_recording(path, "hermes").transcripts[-1:])


def _context(path: Path, chosen: Sequence[Transcript]) -> list[Message]:
    if not chosen:
        raise InputError("holds no session", str(path))
    return list(chosen[0].context)


_CONTEXTS: dict[str, Callable[[Path], list[Message]]] = {
    "jsonl": _messages,
    "claude_code": _claude_code,
    "hermes": _hermes,
}
"""Readers of our own formats: `file -> messages`. Each raises InputError for an invalid session
and for an unreadable file. Any other format is a store reader's name."""
