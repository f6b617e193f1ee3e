"""Plans the files that `harness init` writes into a project, from the probes to the texts."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.harness_source import harness_source
from harness.configuration import OWN_FILE, PYPROJECT, Configuration
from harness.core.values.errors import InputError
from harness.core.values.profile import Profile
from harness.doctor.profile_text import profile_text
from harness.files.bundle import bundled
from harness.files.regular_file import text_of, write_atomically
from harness.redaction.encoder import encoded
from harness.starter.candidate import Candidate
from harness.starter.starter_files import (
    EXAMPLE,
    PRE_COMMIT,
    SKILL,
    STARTERS,
    WORKFLOW,
    Piece,
    Setup,
    Starter,
    StarterFile,
    State,
    of_target,
    setup_of,
    starter_files,
    template,
    with_profile,
)

if TYPE_CHECKING:
    from harness.cli.init_report import InitReport
    from harness.cli.probe_world import Stage
    from harness.cli.target_probes import TargetProbes

NAME = "agent"
"""The name of the profile that is written."""

_OF_CODING_AGENTS = (".claude", ".agents", "CLAUDE.md", "AGENTS.md")


def check_writable(folder: Path) -> None:
    """Raise InputError for a folder in which no file can be made."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        what = f"no file can be written here: {error.strerror}; `--dry-run` shows the files"
        raise InputError(what, ".") from None


class ProjectPlan:
    """The plan of a project, made step by step: agent, probes, first scenario, files.

    With `force` a differing file is replaced; the configuration only gets new keys.
    """

    def __init__(
        self,
        folder: Path,
        files: Mapping[str, str],
        config: Configuration,
        flags: Sequence[str],
        *,
        force: bool = False,
        requirement: str = "",
        skills: str = "",
    ) -> None:
        self.folder, self.files, self._config, self._flags = folder, dict(files), config, flags
        self._force, self._skills = force, skills
        self._requirement = requirement or harness_source(folder, self.files)
        self.setup, self.starter = Setup(target=""), STARTERS[0]
        self.is_example = False
        self.probes: TargetProbes | None = None

    @property
    def _configured(self) -> Profile:
        name = self._config.profile or (NAME if NAME in self._config.profiles else "")
        return self._config.chosen_profile(name, self.folder)

    @property
    def configured_target(self) -> str:
        """Return the target in the configuration, or in its profile; "" without one."""
        return self._configured.target

    @property
    def has_profile(self) -> bool:
        """Whether the configuration names a profile, or has the one that `init` writes."""
        return bool(self._config.profile) or NAME in self._config.profiles

    @property
    def wants_skill(self) -> bool:
        """Whether a coding agent works in the folder, and has not the skill."""
        works = any((self.folder / name).exists() for name in _OF_CODING_AGENTS)
        places = [self.folder / name / "skills" / SKILL for name in _OF_CODING_AGENTS]
        return works and not self._skills and not any(place.exists() for place in places)

    def take_target(self, target: str) -> None:
        """Take a target that needs no adapter."""
        self.setup = of_target(target, self.files)

    def take_candidate(self, one: Candidate) -> None:
        """Take a candidate of the project, or the example."""
        self.is_example = one == EXAMPLE
        self.setup = setup_of(
            one, self.files, _python(self.folder), lambda path: (self.folder / path).exists()
        )

    def foresee(self) -> None:
        """Choose the first scenario without probes, by what the agent is."""
        tools = self.is_example or not self.setup.answers
        there = [one for one in STARTERS if (self.folder / one.path).exists()]
        fitting = [one for one in STARTERS if tools or not one.needs_tools]
        self.starter = [*there, *fitting][0]

    def prepare(self, report: InitReport, stage: Stage) -> bool:
        """Probe the agent and choose the first scenario; False for an agent that calls no model.

        Raises InputError for an agent that cannot be imported or started.
        """
        from harness.cli.target_probes import TargetProbes

        there = [one for one in STARTERS if (self.folder / one.path).exists()]
        if self.has_profile and there:
            self.starter = there[0]
            return True
        with TargetProbes(self.folder, stage, self._new_code(), self._flags) as probes:
            self.probes = probes
            if not self.is_example:
                probes.check(self.setup.target)
            if not self.has_profile and not probes.examine(self.setup, report):
                return False
            if there or not self.is_example:
                self.starter = there[0] if there else self._first_failing(probes)
        return True

    def _new_code(self) -> list[StarterFile]:
        """Return the missing files of code that the agent needs."""
        made = [self.setup.adapter] if self.setup.adapter else []
        if self.is_example:
            made.append(StarterFile(EXAMPLE.path, template("agent.py.txt"), "a small agent"))
        return [one for one in made if not (self.folder / one.path).exists()]

    def _first_failing(self, probes: TargetProbes) -> Starter:
        """Return the first scenario that the agent fails, else the first one that it can play."""
        fitting = [one for one in STARTERS if probes.takes_tools or not one.needs_tools]
        return next((one for one in fitting if probes.fails(one, self.setup)), fitting[0])

    @property
    def wire(self) -> str:
        """Return the wire that the agent uses, from the probes or else from its profile."""
        if self.probes:
            return self.probes.wire
        return next(iter(self._configured.wires), self.setup.wire)

    def pieces(self) -> list[Piece]:
        """Return the files of the project, each with what is done to it."""
        from harness.schema import schema_of

        schema = json.dumps(schema_of("scenario"), indent=2) + "\n"
        facts = {"schema": schema, "requirement": self._requirement, "wire": self.wire}
        files = [
            *([StarterFile(EXAMPLE.path, template("agent.py.txt"), "a small agent with a defect")]
              if self.is_example else []),
            *starter_files(self.setup, self.starter, self.files, facts),
            StarterFile(".harness/.gitignore", "*\n", "keeps the histories of runs out of git"),
            *([_skill(self.folder, self._skills)] if self._skills else []),
        ]  # fmt: skip
        made = [self._piece(one) for one in files]
        return [*made[:1], self._profile(), *made[1:]]

    def _piece(self, one: StarterFile) -> Piece:
        path = self.folder / one.path
        state: State = "written"
        if path.exists() or path.is_symlink():
            is_ours = self._force and path.is_file() and not path.is_symlink()
            other: State = "replaced" if is_ours else "kept"
            state = "unchanged" if _text(path) == one.text else other
        elif one.path == WORKFLOW and not self._requirement:
            state = "no source"
        elif one.path in (WORKFLOW, PRE_COMMIT) and _is_below_repository(self.folder):
            state = "elsewhere"
        return Piece(path=one.path, text=one.text, what=one.what, state=state)

    def _profile(self) -> Piece:
        """Return the configuration with the profile of the agent."""
        is_project = (self.folder / PYPROJECT).exists() and not (self.folder / OWN_FILE).exists()
        name, table = (PYPROJECT, ("tool", "harness")) if is_project else (OWN_FILE, ())
        before = text_of(self.folder / name) if (self.folder / name).exists() else ""
        what = "the agent's profile, from the probes"
        if self.has_profile:
            return Piece(path=name, text=before, what=what, state="unchanged")
        path = (*table, "profiles", NAME)
        added = (
            self.probes.profile_text(self.setup.target, path)
            if self.probes
            else profile_text(Profile(), (), self.setup.target, path)
        )
        text = f"{with_profile(before, table, NAME)}\n{added}"
        _check_extended(before, text, table, name)
        return Piece(path=name, text=text, what=what, added=added if before else "",
                     state="extended" if before else "written")  # fmt: skip

    def write(self, pieces: Sequence[Piece]) -> None:
        """Write the new and changed files; a file that appeared in the meantime stays."""
        for piece in pieces:
            path = self.folder / piece.path
            if piece.state in ("extended", "replaced") or (
                piece.state == "written" and not path.exists()
            ):
                write_atomically(path, encoded(piece.text))


def _skill(folder: Path, skills: str) -> StarterFile:
    """Return the skill for coding agents; raises InputError where a file is in its way."""
    path = Path(skills) / SKILL
    for one in path.parents:
        if (folder / one).exists() and not (folder / one).is_dir():
            raise InputError("is a file; --skill takes a folder", str(one))
    (source,) = bundled(f"@examples/skills/{SKILL}")
    return StarterFile(path.as_posix(), text_of(source), "how a coding agent uses the harness")


def _check_extended(before: str, text: str, table: Sequence[str], name: str) -> None:
    """Raise InputError unless the text holds the old values and the new keys, and nothing else."""
    try:
        now, was = tomllib.loads(text), tomllib.loads(before)
    except tomllib.TOMLDecodeError:
        now, was = {}, {"": None}
    for key in table:
        now, was = now.get(key, {}), _without(now, was, key)
    if now.get("profile") != NAME or any(now.get(key) != value for key, value in was.items()):
        what = (
            f'the table cannot be added here: write [{".".join(table)}] profile = "{NAME}" by hand'
        )
        raise InputError(what, name)


def _without(now: Any, was: Any, key: str) -> dict[str, Any]:
    """Return the old table `key`; `{"": None}`, which matches nothing, if another table changed."""
    same = all(now.get(name) == value for name, value in was.items() if name != key)
    return was.get(key, {}) if same else {"": None}


def _text(path: Path) -> str:
    try:
        return text_of(path)
    except InputError:
        return ""


def _python(folder: Path) -> str:
    """Return this Python for a command line: a name on the PATH, or a path below the folder."""
    on_path = shutil.which("python")
    is_ours = on_path is not None and os.path.dirname(on_path) == os.path.dirname(sys.executable)
    is_inside = Path(sys.executable).is_relative_to(folder)
    return os.path.relpath(sys.executable, folder) if is_inside and not is_ours else "python"


def _is_below_repository(folder: Path) -> bool:
    """Whether a folder above, and not this one, holds a git repository."""
    return not (folder / ".git").exists() and any((p / ".git").exists() for p in folder.parents)
