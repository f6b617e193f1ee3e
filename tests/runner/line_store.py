"""An agent whose session is lines of a file, and what it does where a line cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import Brief

AGAIN = "(You may have this already.) "


class Lines:
    """The rows and the marks of a session, a line each."""

    def __init__(self, path: Path, on_bad: str) -> None:
        self.path = path
        data = path.read_bytes() if path.exists() else b""
        self.rows = list(self._read(data, on_bad))
        if data and not data.endswith(b"\n"):
            path.write_bytes(data + b"\n")  # the next line is not joined to half a line

    def _read(self, data: bytes, on_bad: str) -> Iterator[dict[str, Any]]:
        rows = []
        for line in filter(None, data.split(b"\n")):
            try:
                rows.append(json.loads(line))
            except ValueError:
                if on_bad == "crash":
                    raise
                if on_bad == "stop":
                    break
                if on_bad == "forget":
                    self.path.unlink()
                    return
        yield from rows

    def add(self, **row: Any) -> None:
        """Append a line before anything relies on it."""
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self.rows.append(row)

    def done(self) -> set[str]:
        """The messages whose reply was delivered."""
        return {row["done"] for row in self.rows if "done" in row}


def skips(brief: Brief) -> None:
    """Leave out a line that cannot be read."""
    _play(brief, "skip")


def crashes(brief: Brief) -> None:
    """Read every line as it stands."""
    _play(brief, "crash")


def forgets(brief: Brief) -> None:
    """Begin again where a line cannot be read."""
    _play(brief, "forget")


def stops(brief: Brief) -> None:
    """Read as far as a line that cannot be read, and append behind it."""
    _play(brief, "stop")


class Renamed(Lines):
    """The same lines, in a file that is written beside and renamed into place at each change."""

    def add(self, **row: Any) -> None:
        self.rows.append(row)
        beside = self.path.with_suffix(".tmp")
        beside.write_text("".join(json.dumps(row) + "\n" for row in self.rows))
        beside.replace(self.path)


def renames(brief: Brief) -> None:
    """Read every line as it stands, of a file that no kill leaves half written."""
    _play(brief, "crash", Renamed)


def _play(brief: Brief, on_bad: str, form: type[Lines] = Lines) -> None:
    lines = form(Path(brief.session_dir) / "talk.jsonl", on_bad)
    taken = {row["id"] for row in lines.rows if row.get("role") == "user"}
    for name in sorted(taken - lines.done()):
        _answer(brief, lines, name, AGAIN)
    for inbound in brief.inbox():
        if inbound.id not in lines.done():
            lines.add(role="user", blocks=[_text(inbound.text)], id=inbound.id)
            _answer(brief, lines, inbound.id)


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _answer(brief: Brief, lines: Lines, name: str, again: str = "") -> None:
    rows = [row for row in lines.rows if "role" in row]
    if rows[-1]["role"] == "user":
        said = [{"role": row["role"], "content": row["blocks"]} for row in rows]
        reply = brief.anthropic().messages.create(model="m", max_tokens=99, messages=said)
        lines.add(role="assistant", blocks=[_text(reply.content[0].text)])
    text = lines.rows[-1]["blocks"][0]["text"]
    brief.send(again + text, in_reply_to=name)
    lines.add(done=name)
