"""`judge --follow`: judges sessions while their agents write them, and tells each finding once.

A session grows, so each of its files is judged again whenever it has changed, and most of what is
found was told before. What a file held before the command began is not told.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from harness.cli import terminal
from harness.cli.interrupts import deferred
from harness.cli.judge_journal import Stamp, stamp
from harness.clock import real_sleep
from harness.core.values.verdict import Cause, Finding
from harness.core.values.visible_text import abridged, visible_line
from harness.files.regular_file import FoundFile
from harness.redaction.encoder import json_line
from harness.report.media.json_lines import finding_fields
from harness.report.run_report import MARKS, cut, one_line
from harness.verdicts.command_events import FileRead
from harness.verdicts.result import Result, with_cause

_OF_AN_END = frozenset({"session_answers.error_at_end"})
"""Rules about how a session ends: one that goes on has not ended yet."""

LOOK_S = 1.0
"""How often the folders are looked at; a look at 10,000 files took 0.1 s."""

SESSION_MAX = 40
"""The most characters that name a session, so that a line has room for what was found."""

_Found = tuple[str, str, str, Cause]
"""A finding of a session: file, transcript, code and cause; its events change as it grows."""


class Follower:
    """The files of some folders, each judged when it has changed.

    `found` yields the files as they are now, `judged` the results of some of them. `accepted`
    returns a result without the findings that a baseline accepts.
    """

    def __init__(
        self,
        found: Callable[[], Iterator[FoundFile]],
        judged: Callable[[Iterable[FoundFile]], Iterator[FileRead]],
        accepted: Callable[[Result], Result],
        *,
        as_json: bool,
    ) -> None:
        self._found, self._judged, self._accepted = found, judged, accepted
        self._as_json = as_json
        self._stamps: dict[str, Stamp] = {}
        self._told: set[_Found] = set()
        self.has_failed = False

    def follow(self, minutes: float | None, *, tells_all: bool) -> None:
        """Follow until Ctrl-C, or for some minutes; `tells_all`: tell what is there before, too."""
        end_s = None if minutes is None else time.monotonic() + minutes * 60
        try:
            self._look(tells=tells_all)
            terminal.note(f"following {len(self._stamps)} files; Ctrl-C ends")
            while end_s is None or time.monotonic() < end_s:
                real_sleep(LOOK_S)
                self._look(tells=True)
        except KeyboardInterrupt:  # its usual end
            return

    def _look(self, *, tells: bool) -> None:
        for file in self._judged(each for each in self._found() if self._has_changed(each.path)):
            with deferred():
                for result in map(self._accepted, file.results):
                    self._take(file, result, tells=tells)

    def _has_changed(self, path: str) -> bool:
        if (now := stamp(path, path, "")) is None:  # it is gone again
            return False
        before, self._stamps[path] = self._stamps.get(path), now
        return before != now

    def _take(self, file: FileRead, result: Result, *, tells: bool) -> None:
        for finding in result.verdict.findings:
            found = (file.path, result.label, finding.code, with_cause(finding).cause)
            if found in self._told or finding.code in _OF_AN_END:
                continue
            self._told.add(found)
            if tells:
                fails = finding.fails(result.verdict.fail_on)
                self.has_failed |= fails
                terminal.out(self._line(file, result, finding, fails=fails))

    def _line(self, file: FileRead, result: Result, finding: Finding, *, fails: bool) -> str:
        at = datetime.now()
        if self._as_json:
            row = {
                "at": at.isoformat(timespec="seconds"), "file": file.path, "called": file.called,
                "transcript": result.label, "fails": fails, **finding_fields(finding),
            }  # fmt: skip
            return json_line(row)
        mark = terminal.paint()("fail" if fails else "faint", MARKS["fail" if fails else "pass"])
        session = abridged(visible_line(file.called or os.path.basename(file.path)), SESSION_MAX)
        said = f"{finding.code} in {session}: {one_line(finding)}"
        return cut(f"{at:%H:%M:%S} {mark} {said}", terminal.width())
