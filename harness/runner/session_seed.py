"""The stored session before the first message of the inbox.

From another agent's file, only what its model would be shown next is taken; compacted messages are
not. The session goes into the harness's store, and into `seed.jsonl` for agents with their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from harness.core.scenario.scenario import Scenario, SeedMessage
from harness.core.scenario.script import block_from
from harness.core.values.errors import InputError
from harness.core.values.messages import Block, Message, Text
from harness.stores.store_readers import Reader, reader_named


def seed_messages(scenario: Scenario) -> list[Message]:
    """The messages that are stored before the first inbound one.

    Raises InputError for a session file that cannot be read.
    """
    session = scenario.session
    if session.file is None:
        return [_message(m) for m in session.messages]
    path = scenario_path(scenario, session.file)
    place = f"{scenario.name}: session {path}"
    try:
        return _reader(session.format or "jsonl", scenario.name)(path, place)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place) from None


def _reader(format: str, name: str) -> Callable[[Path, str], list[Message]]:
    if format in _CONTEXTS:
        return _CONTEXTS[format]
    return partial(_rows, reader_named(format, f"{name}: session.format"))


def _rows(reader: Reader, path: Path, place: str) -> list[Message]:
    path.stat()  # a store reader takes a file that is not there for an empty store
    return [message for _, message in reader(path).read()]


def scenario_path(scenario: Scenario, name: str) -> Path:
    """A file that a scenario names: from its own folder, or from where the command runs."""
    near = Path(scenario.folder) / name
    return near if near.exists() else Path(name)


def _message(message: SeedMessage) -> Message:
    if isinstance(message.content, str):
        blocks: tuple[Block, ...] = (Text(message.content),) if message.content else ()
        return Message(message.role, blocks)
    return Message(message.role, tuple(block_from(dict(b)) for b in message.content))


def write_seed(folder: Path, messages: Sequence[Message]) -> None:
    """Lay a session to begin with as `seed.jsonl`, one message a line."""
    if messages:
        lines = b"".join(msgspec.json.encode(m) + b"\n" for m in messages)
        (folder / "seed.jsonl").write_bytes(lines)


def _messages(path: Path, place: str) -> list[Message]:
    lines = enumerate(path.read_bytes().split(b"\n"), start=1)
    return [_line(line, f"{place}:{number}") for number, line in lines if line.strip()]


def _line(line: bytes, place: str) -> Message:
    try:
        return msgspec.json.decode(line, type=Message)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InputError(f"no message: {error}", place) from None


def _claude_code(path: Path, place: str) -> list[Message]:
    """Return the live messages of a log's first session, never a sub-agent's."""
    from harness.files.recording_file import read_recording

    return list(read_recording(path, "claude_code").transcripts[0].context)


def _hermes(path: Path, place: str) -> list[Message]:
    """Return the active messages of the newest session: a compaction may begin one."""
    from harness.stores.hermes_store import read_database

    return list(read_database(path).transcripts[-1].context)


_CONTEXTS: dict[str, Callable[[Path, str], list[Message]]] = {
    "jsonl": _messages,
    "claude_code": _claude_code,
    "hermes": _hermes,
}
"""How our own formats are read: `(file, place) -> messages`. Each raises InputError for what is no
session, and OSError for a file that cannot be opened. Any other format is a store reader's name."""
