"""A scenario file to begin with, and a folder to write it in."""

from __future__ import annotations

from pathlib import Path

MINIMAL = "name: s\ninbox: hello\nscript:\n  - {say: hi}\n"


def write(folder: Path, text: str | bytes, name: str = "s.yaml") -> Path:
    """The path of a new file with this text."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
