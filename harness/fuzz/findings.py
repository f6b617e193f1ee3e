"""The findings of a campaign: which raw ones are worth shrinking, and what is written of each.

Each finding is two files: a scenario that `harness run` fails on, and a test that plays it. Files
are put in place whole, so whoever looks on in the middle of the night reads no half of one.
"""

from __future__ import annotations

from pathlib import Path

from harness.files.regular_file import write_atomically
from harness.fuzz.examples import Found
from harness.fuzz.reduced import Reduced

FOLDER = "findings"

_MOST_ALIKE = 6
"""Raw findings of one code that are shrunk; what further ones come to is mostly one of these."""

_TEST = '''"""Found by fuzzing {target}: {code}."""


def test_{function}(play):
    """{message}"""
    play("{name}.yaml", {target!r})
'''


class Findings:
    """What has been found: raw ones that wait to be shrunk, and those that are made small."""

    def __init__(self) -> None:
        self._alike: set[str] = set()
        self._codes: dict[str, int] = {}
        self.waiting: list[Found] = []
        self.kept: dict[tuple[str, str], Reduced] = {}
        self.unrepeated: list[Reduced] = []

    def found(self, found: Found) -> bool:
        """Take a raw finding; whether it is to be shrunk."""
        chosen = found.alike not in self._alike and self._codes.get(found.code, 0) < _MOST_ALIKE
        if chosen:
            self._alike.add(found.alike)
            self._codes[found.code] = self._codes.get(found.code, 0) + 1
            self.waiting.append(found)
        return chosen

    def reduced(self, reduced: Reduced) -> bool:
        """Take a finding that was made small; whether none of its code has its shape yet."""
        made = (reduced.code, reduced.example)
        self.waiting = [f for f in self.waiting if (f.code, f.example) != made]
        if reduced.failure:
            self.unrepeated.append(reduced)
            return False
        return self.kept.setdefault((reduced.code, reduced.shape), reduced) is reduced


def write(folder: Path, reduced: Reduced, target: str) -> Path:
    """Write the two files of a finding, and return the path of the scenario file."""
    inside = folder / FOLDER
    scenario = inside / f"{reduced.name}.yaml"
    test = inside / f"test_{reduced.name.replace('-', '_')}.py"
    for path, text in ((scenario, reduced.text), (test, _test(reduced, target))):
        write_atomically(path, text.encode("utf-8", "backslashreplace"))
    return scenario


def _test(reduced: Reduced, target: str) -> str:
    return _TEST.format(
        target=target,
        code=reduced.code,
        function=reduced.name.replace("-", "_"),
        message=_plain(reduced.message),
        name=reduced.name,
    )


def _plain(text: str) -> str:
    """A line that can stand in a docstring, whatever an agent made of it."""
    shown = "".join(c if c.isprintable() and c not in '"\\' else " " for c in text)
    line = " ".join(shown.split())
    return line if len(line) <= 88 else f"{line[:87]}…"
