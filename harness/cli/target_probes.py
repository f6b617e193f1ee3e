"""The probes of `harness init`: other harness commands, in child processes, on a target.

They play in a copy of the project, or in the project itself where the user says so. A new file of
code is written there before the probes, because the target is imported from the current folder, and
removed after them. So a project is set up whole or stays as it was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from harness.cli.child_command import ChildEnd, child_command
from harness.core.values.errors import InputError
from harness.core.values.profile import Profile, profile_of
from harness.doctor.probe import Observation
from harness.doctor.profile_text import profile_text
from harness.files.owner import scratch_folder
from harness.files.regular_file import write_atomically
from harness.redaction.encoder import encoded
from harness.starter.starter_files import Setup, Starter, StarterFile

if TYPE_CHECKING:
    from harness.cli.init_report import InitReport
    from harness.cli.probe_world import Stage
    from harness.scratch import ScratchWorld

LIMIT_S = 300.0
"""The time limit of all probes of an agent together."""

_ADVICE = {
    "ModuleNotFoundError": "install what it needs beside loop-harness, or name another --target",
}


class TargetProbes:
    """Runs `doctor` and `run` on a target, and keeps their results."""

    def __init__(
        self, folder: Path, stage: Stage, code: Sequence[StarterFile], flags: Sequence[str]
    ) -> None:
        self._folder, self._stage, self._code, self._flags = folder, stage, code, flags
        self._held = ExitStack()
        self._world: ScratchWorld | None = None
        self.profile, self.wire = Profile(), ""
        self.observations: tuple[Observation, ...] = ()
        self.outside: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        self._scratch = self._held.enter_context(scratch_folder())
        self._world = self._stage.world()
        self._write_code()
        return self

    def _write_code(self) -> None:
        for file in self._code:
            path = (self._world.folder if self._world else self._folder) / file.path
            self._held.callback(path.unlink, missing_ok=True)
            write_atomically(path, encoded(file.text), durable=False)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._held.close()

    def check(self, target: str) -> None:
        """Raise InputError for a target that cannot be imported or started."""
        from harness.cli.import_trial import import_trial
        from harness.targets.spec import is_program, is_server, resolve

        if is_program(target) or is_server(target) or ":" not in target:
            resolve(target)
            return
        found = import_trial(target, self._world)
        if found.error:
            at = f" at {found.place}" if found.place else ""
            kind = next((advice for name, advice in _ADVICE.items() if name in found.error), "")
            more = f"; {kind}" if kind else ""
            raise InputError(f"{found.error}{at}{more}", f"target {target!r}")

    def examine(self, setup: Setup, report: InitReport) -> bool:
        """Probe the agent with `harness doctor`; False if it calls the model on no wire."""
        report.probing(setup.target)
        tries = ((setup.wire,), ()) if setup.wire else ((),)
        for wires in tries:
            self._doctor(setup, wires)
            if self.wire:
                report.probed(self.wire, self.observations)
                return True
        report.silent(setup, self.observations)
        return False

    def _doctor(self, setup: Setup, wires: Sequence[str]) -> None:
        from harness.targets.spec import is_program

        known = self._scratch / "known.toml"
        known.write_bytes(encoded(f"wires = {json.dumps(list(wires))}\n"))
        jobs = str(min(4, os.cpu_count() or 1)) if is_program(setup.target) else "1"
        ended = self._harness(
            "doctor", "--target", setup.target, "--profile", str(known), "--json", "-j", jobs,
            "--in-place",
        )  # fmt: skip
        lines = list(_objects(ended.out))
        rows = [line for line in lines if "item" in line]
        whole: Mapping[str, Any] | None = next(
            (line for line in reversed(lines) if "wire" in line), None
        )
        if whole is None:
            raise InputError(_reason(ended), f"target {setup.target!r}")
        self.observations = tuple(msgspec.convert(row, Observation) for row in rows)
        self.wire = whole["wire"]
        self.outside = (*self.outside, *whole["outside"])
        if self.wire:
            self.profile = profile_of(whole["profile"])

    @property
    def takes_tools(self) -> bool:
        """Whether the agent offers the tools of a scenario to the model."""
        return any(one.item == "tools" and one.state == "seen" for one in self.observations)

    def fails(self, starter: Starter, setup: Setup) -> bool:
        """Whether the agent fails a first scenario."""
        if self._stage.renewed():
            self._write_code()
        file = self._scratch / f"{starter.name}.yaml"
        file.write_bytes(encoded(starter.text(self.wire)))
        kept = self._scratch / "profile.toml"
        kept.write_bytes(encoded(self.profile_text(setup.target, ())))
        ended = self._harness(
            "run", str(file), "--profile", str(kept), "--out", str(self._scratch / "runs"), "--json"
        )
        return any(line.get("verdict") == "fail" for line in _objects(ended.out))

    def profile_text(self, target: str, table: tuple[str, ...]) -> str:
        """The profile as TOML, with a comment for each connection that was not seen."""
        return profile_text(self.profile, self.observations, target, table)

    def _harness(self, verb: str, *words: str) -> ChildEnd:
        # Without this, each child adds its probes to the summary of the step on GitHub.
        command = ["-m", "harness", verb, *words, "--no-github", *self._flags]
        return child_command(command, LIMIT_S, world=self._world)


def _reason(ended: ChildEnd) -> str:
    if ended.status is None:
        return f"its probes take more than {LIMIT_S:g} s"
    said = [line for line in ended.err.splitlines() if line.strip()]
    return said[-1].removeprefix("error: ") if said else f"the probes ended with {ended.status}"


def _objects(text: str) -> list[dict[str, Any]]:
    """Yield the JSON objects of an output; lines that the user's code prints are skipped."""
    found = []
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found
